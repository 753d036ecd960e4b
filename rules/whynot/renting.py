"""Why not rent: what the rules say of clouds beside owning, by how much, and the use of the cluster at which it turns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rules.findings import Stage
from rules.smallest import OTHER_COST, SmallestChange
from rules.whynot.margins import margins_of
from rules.whynot.obstacles import Obstacle, rules_of
from rules.whynot.whynot import WhyNot

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.candidate import Candidate

FOR_RENTING = ("money.rent_instead", "money.crossing_never", "money.utilisation_low")
"""Rules that speak for renting."""
ON_RENTING = (*FOR_RENTING, "money.buying_decided", "money.crossing", "money.utilisation_high", "money.rented_magnitude")
"""Rules that hold renting against owning."""
USE = "budget.utilisation"
TENTHS = 10.0
WHOLE = 100.0


def not_rented(considered: Considered) -> WhyNot:
    """Return what stood against renting; no answer asks for it, so the change that is named turns what the rules say."""
    chosen = considered.ranking.chosen
    if chosen is None:
        return WhyNot("renting", "renting", False, "", (), (), notes=("there is no candidate to rent instead of",))
    candidate = chosen.candidate
    rules = rules_of(considered.context.answers)
    said = [each.finding for each in candidate.said if each.rule.id in ON_RENTING]
    rows = tuple(Obstacle("rule", each.rule, each.because, margins_of(rules[each.rule], candidate.facts[each.stage])) for each in said)
    for_it = [each.rule for each in said if each.rule in FOR_RENTING]
    notes = [f"the rules themselves say that renting may be cheaper: {', '.join(for_it)}"] if for_it else []
    if not said:
        notes.append(f"no price of a cloud for {candidate.gpu.name} stands beside that of an owned GPU-hour; budget.own_prices takes one")
    notes.append("a design is one of a cluster that is bought; what its run would cost in a cloud stands in it under cost")
    before = considered.context.answers.text(USE)
    return WhyNot("renting", "renting", False, candidate.id, rows, _used_less(candidate, before), notes=tuple(notes))


def _used_less(candidate: Candidate, before: str) -> tuple[SmallestChange, ...]:
    """Return the share of the hours just below which renting is cheaper, where the cluster is not said to be used less already."""
    fact = candidate.facts.get(Stage.MONEY, {})
    crossing, used = float(fact.get("crossing_percent", 0.0)), float(fact.get("utilisation_percent", 0.0))
    below = (math.ceil(min(crossing, WHOLE) * TENTHS) - 1) / TENTHS
    if not fact.get("crossing_known") or below <= 0.0 or (before and used < crossing):
        return ()
    text = f"below {below:g} % of its hours in use renting is cheaper than owning"
    return (SmallestChange(USE, before, f"{below:g} %", OTHER_COST, text),)
