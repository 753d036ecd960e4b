"""Remedies are applied, the design is made again, and nothing as bad is taken in exchange unasked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalogs import load_catalog
from rules import remedies
from rules.advisor import advise
from rules.answers import Answers
from rules.findings import Finding, Kind, Remedy, Stage, Strength
from rules.remedies import NoSuchFindingError, mend, mendable

TWO = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"], "training.tokens": "20B"}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def answers(**changes: object) -> Answers:
    return Answers.of(TWO | {key.replace("__", "."): value for key, value in changes.items()})


class TestOne:
    def test_a_rack_gets_what_one_server_draws(self, catalog):
        """NVIDIA's datasheet: a DGX H100 draws up to 10.2 kW."""
        given = answers(facility__rack_power="8 kW")
        mended = mend(given, catalog, "power.rack_power_exceeded")
        assert [(each.key, each.before, each.after) for each in mended.applied] == [("facility.rack_power", "8 kW", "10.2 kW")]
        assert "power.rack_power_exceeded" in mended.applied[0].gone
        assert (mended.before.fits, mended.after.fits, mended.left) == (False, True, ())
        assert mended.after.answers.provenance["facility.rack_power"] == "fix"

    def test_it_can_be_undone(self, catalog):
        given = answers(facility__rack_power="8 kW")
        mended = mend(given, catalog)
        assert mended.before.answers == given
        assert advise(mended.before.answers, catalog).document() == mended.before.document()

    def test_the_others_are_left_alone(self, catalog):
        mended = mend(answers(facility__rack_power="8 kW", facility__total_power="10 kW"), catalog, "power.rack_power_exceeded")
        assert mended.after.answers.text("facility.total_power") == "10 kW"
        assert [each.finding for each in mended.left] == ["power.total_exceeded"]

    def test_a_finding_that_is_not_there(self, catalog):
        with pytest.raises(NoSuchFindingError, match=r"power\.rack_power_exceeded"):
            mend(answers(facility__rack_power="8 kW"), catalog, "power.no_such")

    def test_only_remedies_of_the_named_answer(self, catalog):
        mended = mend(answers(budget__purchase="100k USD"), catalog, "money.budget_exceeded", key="scale.nodes")
        assert (mended.applied, mended.after) == ((), mended.before)


class TestAll:
    def test_every_conflict(self, catalog):
        mended = mend(answers(facility__rack_power="8 kW", facility__total_power="10 kW", budget__purchase="100k USD"), catalog)
        assert {each.key for each in mended.applied} == {"facility.rack_power", "facility.total_power", "budget.purchase"}
        assert mended.after.fits
        conflicts = next(each for each in mended.comparison.figures if each.id == "conflicts")
        assert (conflicts.before, conflicts.after) == (3.0, 0.0)

    def test_what_is_trained_is_changed_only_when_the_finding_is_named(self, catalog):
        given = answers(model__preset="llama-3.1-405b", workload__kind="fine_tuning_full")
        alone = mend(given, catalog)
        assert alone.after.answers.text("workload.kind") == "fine_tuning_full"
        named = mend(given, catalog, "vram.state_does_not_fit", key="workload.kind")
        assert named.after.answers.text("workload.kind") == "fine_tuning_lora"

    def test_a_bounded_number_of_designs_is_made(self, catalog, monkeypatch):
        """What is not tried for want of designs is left, and says so; what was kept until then stands."""
        monkeypatch.setattr(remedies, "MOST_DESIGNS", 10)
        made = []
        monkeypatch.setattr(remedies, "advise", lambda *given: made.append(given) or advise(*given))
        mended = mend(answers(facility__rack_power="8 kW", facility__total_power="10 kW", budget__purchase="100k USD"), catalog)
        assert len(made) <= 10
        assert mended.applied
        assert all(not each.why for each in mended.left)

    def test_nothing_to_do(self, catalog):
        mended = mend(answers(), catalog)
        assert (mended.applied, mended.left, mended.comparison.differs) == ((), (), False)

    def test_a_warning_only_when_asked(self, catalog):
        """ASHRAE recommends up to 27 °C."""
        given = answers(facility__inlet_temperature="30 °C")
        assert "power.inlet_above_recommended" in {each.rule for each in mendable(advise(given, catalog))}
        assert mend(given, catalog).applied == ()
        mended = mend(given, catalog, warnings=True)
        assert ("facility.inlet_temperature", "27 °C") in [(each.key, each.after) for each in mended.applied]
        assert not mended.after.conflicts


class TestNoTrade:
    """A made-up advisor: the remedy of one conflict brings another."""

    @pytest.fixture
    def trading(self, catalog, monkeypatch):
        base = advise(answers(), catalog)

        def finding(rule: str, strength: Strength, value: str) -> Finding:
            remedy = Remedy("facility.racks", value, "more racks")
            return Finding(rule, Stage.POWER, Kind.REJECT, strength, f"{rule} stands", (), remedies=(remedy,))

        def install(first: Strength, second: Strength) -> None:
            def advised(given: Answers, _: object) -> object:
                found = finding("a.second", second, "") if given.given("facility.racks") else finding("a.first", first, "9")
                return replace(base, answers=given, fits=False, findings=(found,))

            monkeypatch.setattr(remedies, "advise", advised)

        return install

    @pytest.mark.parametrize(
        ("first", "second", "kept"),
        [
            (Strength.HARD, Strength.HARD, False),
            (Strength.STRONG, Strength.HARD, False),
            (Strength.STRONG, Strength.STRONG, False),
            (Strength.HARD, Strength.STRONG, True),
        ],
    )
    def test_only_for_a_weaker_one(self, trading, catalog, first, second, kept):
        trading(first, second)
        mended = mend(answers(), catalog)
        assert bool(mended.applied) is kept
        if not kept:
            assert "a.second" in mended.left[0].why

    def test_unless_it_is_asked_for(self, trading, catalog):
        trading(Strength.STRONG, Strength.HARD)
        mended = mend(answers(), catalog, "a.first", trade=True)
        assert (mended.applied[0].gone, mended.applied[0].new) == (("a.first",), ("a.second",))
