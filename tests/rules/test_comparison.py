"""Two designs side by side: the vector of figures is marked, answers and reasons that changed are named."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import AnswerError, Answers
from rules.comparison.compare import compare_designs
from rules.comparison.figures import FigurePair, Verdict, pairs_of
from rules.comparison.rows import Change, changes_in
from rules.comparison.text import comparison_lines, figure_lines, only_numbers
from rules.sizing.fabric.cabling import Tally
from rules.sizing.fabric.media import Medium
from rules.whatif import what_if, with_changes

FIXED = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"], "facility.pue": 1.2}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def document(**summary: object) -> dict:
    return {"design": {"summary": summary}, "answers": {}}


class TestRows:
    """Tables inside sections are told in words: by the name of the row and the key that changed."""

    def told(self, table: str, before: object, after: object) -> list[str]:
        return [each.line() for each in changes_in((table,), {table: before}, {table: after})]

    def test_a_row_of_a_section_is_told_by_its_name_and_key(self):
        before = {"rack": [{"name": "compute", "nodes": 4}, {"name": "storage", "nodes": 0}]}
        after = {"rack": [{"name": "compute", "nodes": 2}, {"name": "network", "nodes": 0, "full": False, "holds": ["a", "b"], "note": ""}]}
        assert self.told("design", before, after) == [
            "~ design.rack.compute.nodes: 4 → 2",
            "- design.rack.storage: name storage, nodes 0",
            "+ design.rack.network: name network, nodes 0, full no, holds (a, b), note nothing",
        ]

    def test_rows_inside_a_row_are_told_too(self):
        before = [{"rule": "vram.fits", "fix": [{"key": "scale.nodes", "value": "2"}]}]
        after = [{"rule": "vram.fits", "fix": [{"key": "scale.nodes", "value": "3"}]}]
        assert self.told("warning", before, after) == ["~ warning.vram.fits.fix.scale.nodes.value: 2 → 3"]

    def test_rows_without_a_common_key_are_told_by_their_place(self):
        assert self.told("design", {"a": [{"x": 1}, {"y": 2}]}, {"a": [{"x": 1}, {"y": 3}]}) == ["~ design.a.row#2.y: 2 → 3"]

    def test_lists_are_words(self):
        assert self.told("answers", {"nodes": ["a", "b"], "own": True}, {"nodes": [], "own": False}) == [
            "~ answers.nodes: a, b → none",
            "~ answers.own: yes → no",
        ]


class TestFigures:
    def test_less_is_better_but_of_the_share_of_the_peak(self):
        rows = {each.id: each for each in pairs_of(document(gpus=16, days=10.0, mfu=0.4), document(gpus=32, days=5.0, mfu=0.3))}
        assert (rows["gpus"].verdict, rows["days"].verdict, rows["mfu"].verdict) == (Verdict.WORSE, Verdict.BETTER, Verdict.WORSE)
        assert rows["gpus"].change == "+100.0 %"

    def test_counts_are_exact_and_measures_have_four_digits(self):
        rows = {each.id: each for each in pairs_of(document(gpus=16384, step_s=1.00001), document(gpus=16380, step_s=1.0))}
        assert rows["gpus"].verdict is Verdict.BETTER
        assert rows["gpus"].texts() == ("16,384", "16,380")
        assert rows["step"].verdict is Verdict.SAME

    def test_what_one_of_them_does_not_know_is_unknown_and_never_better(self):
        (row,) = [each for each in pairs_of(document(), document(purchase_usd=1e6)) if each.id == "purchase"]
        assert (row.verdict, row.texts()) == (Verdict.OPEN, ("unknown", "1,000,000 USD"))

    def test_a_total_that_leaves_parts_out_is_a_lower_bound(self):
        pairs = pairs_of(document(purchase_usd=2e6, purchase_open=True), document(purchase_usd=1e6))
        (row,) = [each for each in pairs if each.id == "purchase"]
        assert row.texts() == ("≥ 2,000,000 USD", "1,000,000 USD")

    def test_switches_are_those_of_all_networks(self):
        compute, storage = {"switches": {"leaf": 4, "spine": 2}}, {"switches": {"leaf": 2}}
        fabric = {"compute": compute, "storage": storage, "management": {"technology": "1 GbE"}}
        (row,) = [each for each in pairs_of({"design": {"fabric": fabric}}, {"design": {"fabric": {}}}) if each.id == "switches"]
        assert (row.before, row.after) == (8.0, 0.0)

    def test_cables_are_as_long_as_their_runs(self):
        """Eight assemblies of 3 m, and sixteen links of 20 m two of which share a fibre: 24 m and 160 m."""
        tally = Tally()
        tally.add(Medium("dac", "copper", per_link=True), 8, 8, 8, ("node", "leaf_node"), 3.0)
        tally.add(Medium("dr", lower="a", upper="b", fibre="c", split=2), 16, 16, 8, ("leaf_spine", "spine_leaf"), 20.0)
        assert tally.result.metres == 24.0 + 160.0

    def test_conflicts_and_warnings_are_counted(self):
        pairs = {each.id: each for each in pairs_of({"conflict": [{}, {}]}, {"warning": [{}]})}
        assert (pairs["conflicts"].before, pairs["conflicts"].after, pairs["conflicts"].change) == (2.0, 0.0, "−2")
        assert pairs["warnings"].verdict is Verdict.WORSE


class TestReasons:
    def test_one_row_per_finding_with_what_it_said(self):
        before = {"conflict": [{"rule": "power.total_exceeded", "because": "too much"}], "answers": {"scale": {"nodes": 2}}}
        after = {"warning": [{"rule": "fabric.slow", "because": "slow"}], "answers": {"scale": {"nodes": 1}}}
        compared = compare_designs(before, after)
        assert compared.answers == (Change("scale.nodes", "2", "1"),)
        assert compared.reasons == (
            Change("conflict power.total_exceeded", "too much", ""),
            Change("warning fabric.slow", "", "slow"),
        )

    def test_two_findings_of_one_rule_are_told_apart(self):
        rows = [{"rule": "a.b", "to": "x", "ask": "one"}, {"rule": "a.b", "to": "x", "ask": "two"}]
        compared = compare_designs({"question": rows}, {"question": rows[:1]})
        assert compared.reasons == (Change("question a.b/x#2", "two", ""),)

    def test_sentences_that_differ_in_numbers_alone(self):
        assert only_numbers(Change("x", "needs 1,024 GPUs", "needs 8 GPUs"))
        assert not only_numbers(Change("x", "needs 8 GPUs", "needs 8 CPUs"))


class TestWhatIf:
    def test_twice_the_nodes(self, catalog):
        found = what_if(Answers.of(FIXED), catalog, {"scale.nodes": 4})
        figures = {each.id: each for each in found.comparison.figures}
        assert (figures["gpus"].before, figures["gpus"].after) == (16.0, 32.0)
        assert figures["days"].verdict is Verdict.BETTER
        assert found.comparison.answers == (Change("scale.nodes", "2", "4"),)
        assert found.variant.answers.count("scale.nodes") == 4

    def test_nothing_changed_is_no_difference(self, catalog):
        found = what_if(Answers.of(FIXED), catalog, {"scale.nodes": 2})
        assert not found.comparison.differs
        assert comparison_lines(found.comparison) == ["no difference"]

    def test_the_given_base_is_taken(self, catalog):
        base = advise(Answers.of(FIXED), catalog)
        assert what_if(base.answers, catalog, {"facility.pue": 1.3}, base=base).base is base

    def test_one_size_takes_the_place_of_the_other(self):
        changed = with_changes(Answers.of(FIXED), {"scale.gpus": 64})
        assert (changed.given("scale.nodes"), changed.count("scale.gpus")) == (False, 64)

    def test_an_answer_can_be_taken_away_or_unknown(self):
        changed = with_changes(Answers.of(FIXED), {"scale.nodes": None, "facility.pue": "unknown"})
        assert "scale.nodes" not in changed.values
        assert not changed.given("facility.pue")

    def test_no_valid_answer(self):
        with pytest.raises(AnswerError, match=r"scale\.nodes"):
            with_changes(Answers(), {"scale.nodes": "many"})

    def test_amounts_are_short_where_the_columns_would_be_too_wide(self):
        pairs = [
            FigurePair("purchase", "purchase", "USD", 92_390_000.0, 119_000_000.0, Verdict.WORSE, (True, True)),
            FigurePair("nodes", "nodes", "", 160.0, 208.0, Verdict.WORSE),
        ]
        wide, narrow = figure_lines(pairs, width=100), figure_lines(pairs, width=66)
        assert wide[1] == "purchase            ≥ 92,390,000 USD  ≥ 119,000,000 USD  +28.8 %  worse"
        assert narrow[1] == "purchase            ≥ 92.39M USD  ≥ 119M USD  +28.8 %  worse"
        assert narrow[2].split() == ["nodes", "160", "208", "+30.0", "%", "worse"]

    def test_long_names_are_cut_where_the_columns_would_be_too_wide(self):
        pairs = [FigurePair("power", "power of the site", "kW", 0.24, 61.17, Verdict.WORSE)]
        name, last = "a-long-name-of-a-room-for-training", "this"
        assert name in figure_lines(pairs, (name, last), width=100)[0]
        narrow = figure_lines(pairs, (name, last), width=66)
        assert max(map(len, narrow)) <= 66
        assert narrow[0].split()[0].startswith("a-lo")
        assert narrow[0].split()[0].endswith("ning")
        assert narrow[1].endswith("worse")

    def test_lines_are_as_wide_as_they_may_be(self, catalog):
        lines = comparison_lines(what_if(Answers.of(FIXED), catalog, {"scale.nodes": 4}).comparison, width=80)
        assert max(map(len, lines)) <= 80
        assert any(line.startswith("GPUs ") and line.endswith("worse") for line in lines)
