"""The reference page of the rules is the one that is committed, and names every rule with its sources and who disagrees."""

from __future__ import annotations

from catalogs import load_catalog
from rules.cases import all_rules
from tests.wizard.calls import ROOT, call
from wizard.rules_page import rules_page


def test_the_committed_page_is_what_the_rules_say():
    committed = (ROOT / "docs" / "rules.md").read_text("utf-8")
    assert committed == rules_page(all_rules().values(), load_catalog()), "run 'make rules-page'"


def test_every_rule_and_every_threshold_is_on_it():
    page = rules_page(all_rules().values(), load_catalog())
    for rule in all_rules().values():
        assert f"### `{rule.id}`" in page
        assert all(f"- threshold {id_}: " in page for id_ in rule.thresholds)


def test_dissent_is_named():
    """The rule of 18 bytes per parameter and that of 16 disagree; both are in the catalog."""
    part = rules_page(all_rules().values(), load_catalog()).partition("### `vram.fits`")[2].partition("\n### ")[0]
    assert "- threshold vram-bytes-adam-18: " in part
    assert "  - dissent, vram-bytes-adam-16: " in part


def test_one_stage_alone():
    called = call("rules", "list", "--markdown", "--stage", "power")
    assert called.code == 0
    assert "### `power.total_exceeded`" in called.out
    assert "`total_power_kw` > `total_power_limit_kw`" in called.out
    assert "### `vram.fits`" not in called.out
