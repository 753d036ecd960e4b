"""A replay names the catalog value, the rule or the formula that a changed conclusion follows from; an update keeps the old reasons."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import tomli_w

from catalogs import load_catalog
from catalogs.loading import OWN_FOLDER
from rules.design import SCHEMA_VERSION
from rules.findings import Kind
from tests.wizard.calls import call
from wizard import basis, schemas
from wizard.basis import flat, unpacked
from wizard.causes import Cause, causes_of
from wizard.changes import causes_text, reasons
from wizard.files import load
from wizard.replay import replay

EARLIER = sorted((Path(__file__).parent / "earlier").glob("*.toml"))


@pytest.fixture
def other_catalog(tmp_path):
    """A folder in which the DGX H100 draws 12 kW instead of 10.2 kW."""
    text = (OWN_FOLDER / "nodes" / "nvidia-dgx-h100.toml").read_text("utf-8")
    assert text.count('"10.2 kW"') == 1
    folder = tmp_path / "catalog" / "nodes"
    folder.mkdir(parents=True)
    (folder / "nvidia-dgx-h100.toml").write_text(text.replace('"10.2 kW"', '"12 kW"'), "utf-8")
    return folder.parent


@pytest.fixture
def copy(small_design, tmp_path):
    path = tmp_path / "design.toml"
    path.write_bytes(small_design.read_bytes())
    return path


@pytest.fixture
def edited(copy):
    """Change the copy and return its path."""

    def change(action):
        document = tomllib.loads(copy.read_text("utf-8"))
        action(document)
        copy.write_text(tomli_w.dumps(document), "utf-8")
        return copy

    return change


def because(result, where: str) -> str:
    return next("; ".join(why) for change, why in zip(result.changes, result.because, strict=True) if change.where.startswith(where))


class TestTheCatalog:
    def test_the_value_is_named_with_what_it_was_and_is(self, copy, other_catalog):
        result = replay(copy, load_catalog([other_catalog]))
        assert result.causes == ("the catalog's nodes/nvidia-dgx-h100 power.maximum changed from 10.2 kW to 12 kW",)
        assert "power.maximum" in because(result, "design.power.node_maximum")

    def test_what_does_not_rest_on_it_is_not_blamed_on_it(self, copy, other_catalog):
        result = replay(copy, load_catalog([other_catalog]))
        assert not any(change.where.startswith("design.memory") for change in result.changes)

    def test_a_step_rests_on_what_the_memory_of_the_gpu_reads(self, copy, tmp_path):
        """Norms and the optimizer run at the memory's speed: with half of an H100's 3,350 GB/s (datasheet) a step takes longer."""
        text = (OWN_FOLDER / "gpus" / "nvidia-h100-sxm-80gb.toml").read_text("utf-8")
        assert text.count('"3350 GB/s"') == 1
        (tmp_path / "catalog" / "gpus").mkdir(parents=True)
        (tmp_path / "catalog" / "gpus" / "nvidia-h100-sxm-80gb.toml").write_text(text.replace('"3350 GB/s"', '"1675 GB/s"'), "utf-8")
        result = replay(copy, load_catalog([tmp_path / "catalog"]))
        assert "memory.bandwidth changed from 3350 GB/s to 1675 GB/s" in because(result, "design.performance.step")

    def test_a_change_outside_of_the_design_is_told_apart(self, copy, tmp_path):
        text = (OWN_FOLDER / "gpus" / "nvidia-a100-sxm-80gb.toml").read_text("utf-8")
        folder = tmp_path / "more" / "gpus"
        folder.mkdir(parents=True)
        (folder / "nvidia-a100-sxm-80gb.toml").write_text(text + "\n# nothing\n", "utf-8")
        assert replay(copy, load_catalog([folder.parent])).changes == ()

    def test_a_record_that_is_gone(self, copy):
        document = tomllib.loads(copy.read_text("utf-8"))
        document["basis"]["catalog"] = {"gpus/no-such-gpu": {"memory.capacity": "1 GB"}}
        assert causes_of(document, document, load_catalog()) == (Cause("catalog", "gpus/no-such-gpu memory.capacity", "1 GB", ""),)

    def test_a_threshold_is_one_value_and_named_as_it_is(self, copy):
        document = tomllib.loads(copy.read_text("utf-8"))
        document["basis"]["catalog"] = {"thresholds/pow-circuit-80": {"": "70"}}
        causes = causes_of(document, document, load_catalog())
        assert str(causes[0]) == "the catalog's thresholds/pow-circuit-80 changed from 70 to 80.0"

    def test_values_are_flat_text_without_what_is_about_them(self):
        values = flat(load_catalog().gpus["nvidia-h100-sxm-80gb"])
        assert values["memory.printed"] == "80 GB"
        assert not any("source" in key or "note" in key or "alias" in key for key in values)


class TestRulesAndFormulas:
    def test_a_rule_that_changed_is_named_beside_its_finding(self, edited):
        def action(document):
            rules = document["basis"]["rules"]
            fingerprint = unpacked(rules)["vram.fits"]
            rules["vram"] = rules["vram"].replace(f"fits:{fingerprint}", "fits:00000000")
            next(row for row in document["justification"] if row["rule"] == "vram.fits")["because"] = "it did fit"

        result = replay(edited(action), load_catalog())
        assert len(result.causes) == 1
        assert result.causes[0].startswith("rule vram.fits changed (00000000 → ")
        assert because(result, "justification.vram.fits").startswith("rule vram.fits changed")

    def test_a_rule_that_is_new_and_one_that_is_gone(self, edited):
        def action(document):
            rules = document["basis"]["rules"]
            fingerprint = unpacked(rules)["vram.fits"]
            rules["vram"] = rules["vram"].replace(f"fits:{fingerprint}", "fitted:12345678")
            document["justification"] = [row for row in document["justification"] if row["rule"] != "vram.fits"]

        result = replay(edited(action), load_catalog())
        assert set(result.causes) == {"rule vram.fitted was removed", "rule vram.fits was added"}
        assert because(result, "justification.vram.fits") == "rule vram.fits was added"

    def test_a_formula_is_named_beside_what_it_computes(self, edited):
        def action(document):
            formulas = document["basis"]["formulas"]
            name = "rules.sizing.memory"
            formulas["rules.sizing"] = formulas["rules.sizing"].replace(f"memory:{unpacked(formulas)[name]}", "memory:00000000")
            document["design"]["memory"]["expected"] = "1 GiB"
            document["design"]["power"]["node_maximum"] = "1 kW"

        result = replay(edited(action), load_catalog())
        assert because(result, "design.memory.expected").startswith("formula rules.sizing.memory changed (00000000 → ")
        assert because(result, "design.power.node_maximum") == ""

    def test_what_only_tells_of_designs_is_no_cause(self, edited):
        def action(document):
            formulas = document["basis"]["formulas"]
            now = unpacked(formulas)
            for name in ("rules.whynot.margins", "rules.sizing.memory"):
                package, _, module = name.rpartition(".")
                formulas[package] = formulas[package].replace(f"{module}:{now[name]}", f"{module}:00000000")
            document["design"]["memory"]["expected"] = "1 GiB"

        causes = replay(edited(action), load_catalog()).causes
        assert [each.split(" changed")[0] for each in causes] == ["formula rules.sizing.memory"]

    def test_fingerprints_follow_what_rules_say(self):
        names = unpacked(basis.rule_fingerprints())
        assert names["vram.fits"] != names["vram.at_risk"]
        assert unpacked({"vram": "a:1 b", "x": 3}) == {"vram.a": "1"}

    def test_a_design_without_a_basis_has_its_hashes(self, edited):
        def action(document):
            del document["basis"]
            document["meta"]["catalog_hash"] = "0" * 16
            document["design"]["summary"]["nodes"] = 17

        (cause,) = replay(edited(action), load_catalog()).causes
        assert cause.startswith("the catalog changed (0000000000000000 → ")


class TestUpdate:
    def test_the_old_reasons_stay_as_history(self, copy, other_catalog):
        before = tomllib.loads(copy.read_text("utf-8"))
        assert call("replay", copy, "--update", "--catalog", other_catalog).code == 1
        after = tomllib.loads(copy.read_text("utf-8"))
        (entry,) = after["history"]
        assert entry["catalog_hash"] == before["meta"]["catalog_hash"] != after["meta"]["catalog_hash"]
        assert any("10.2 kW to 12 kW" in cause for cause in entry["causes"])
        assert any("10.2 kW" in reason["before"] for reason in entry["reason"])
        assert call("replay", copy, "--catalog", other_catalog).code == 0
        assert tomllib.loads(copy.read_text("utf-8"))["history"] == [entry]

    def test_and_the_next_one_is_added(self, copy, other_catalog):
        call("replay", copy, "--update", "--catalog", other_catalog)
        assert call("replay", copy, "--update").code == 1
        assert len(tomllib.loads(copy.read_text("utf-8"))["history"]) == 2

    def test_as_json(self, copy, other_catalog):
        called = call("replay", copy, "--json", "--catalog", other_catalog)
        schemas.validator("replay").validate(called.json)


class TestEarlierFiles:
    """A design of every schema version that there was, as it was written then: one without [basis] in the first."""

    def test_there_is_one_of_every_version(self):
        assert {path.stem for path in EARLIER} == {f"schema-{version}" for version in range(1, SCHEMA_VERSION + 1)}

    @pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
    def test_it_loads_and_is_derived_again(self, path, tmp_path):
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        assert load(copy).is_design
        called = call("replay", copy, "--update", "--json")
        assert called.code == 1
        assert any(cause.startswith("the catalog changed") for cause in called.json[0]["causes"])
        assert call("replay", copy).code == 0


class TestMany:
    def test_processes_share_the_work_and_the_order_stays(self, copy, other_catalog, tmp_path):
        paths = []
        for number in range(9):
            path = tmp_path / f"{number}.toml"
            path.write_bytes(copy.read_bytes())
            paths.append(path)
        alone, shared = (call("replay", *paths, "--jobs", jobs, "--json", "--catalog", other_catalog) for jobs in (1, 2))
        assert (shared.code, shared.json) == (alone.code, alone.json)
        assert [each["file"] for each in shared.json] == [str(path) for path in paths]

    def test_a_broken_file_is_named(self, copy, tmp_path):
        (tmp_path / "broken.toml").write_text("[", "utf-8")
        called = call("replay", *[copy] * 8, tmp_path / "broken.toml", "--jobs", 2)
        assert called.code == 2
        assert "broken.toml: is not valid TOML" in called.err
        call("replay", copy, "--jobs", 0).assert_one_message()


def test_a_notice_names_the_first_causes_without_their_hashes_and_counts_the_rest():
    causes = [f"rule vram.{letter} changed (0123 → 4567)" for letter in "abcd"]
    assert causes_text(causes) == "rule vram.a changed; rule vram.b changed; and 2 more"
    assert causes_text(causes[:1]) == "rule vram.a changed"


def test_a_new_warning_is_no_reason_for_what_changed():
    def made(answers, *found):
        listed = [SimpleNamespace(rule=kind.value, kind=kind, decision="", value="v", because=because) for kind, because in found]
        return SimpleNamespace(answers=answers, findings=listed, of_kind=lambda kind: [each for each in listed if each.kind is kind])

    before = made("before")
    assert reasons(before, made("after", (Kind.WARNING, "Racks are hot."))) == [("new warning:", "Racks are hot.")]
    assert reasons(before, made("after", (Kind.DECISION, "Links are short."), (Kind.REJECT, "Too dear."))) == [
        ("because", "Too dear."),
        ("because", "Links are short."),
    ]
    assert reasons(before, made("before", (Kind.WARNING, "Racks are hot."))) == []
