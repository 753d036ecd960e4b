"""Which uncertain prices and rates could change the choice: prices and step times at the ends of their ranges, and how often GPUs fail.

By prices and step times a candidate is ranked as what it is ranked by would grow or shrink with them; failures change sizes as well, and
are tried for real.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import grouped, magnitude
from rules.advisor import consider
from rules.doubts import WEIGHTS, Doubt, Trial, sentence_of, trial_of, weight_of
from rules.rates import failure_trials
from rules.sizing.reliability import failure_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.advisor import Considered
    from rules.candidate import Candidate
    from rules.choice import Ranked

MOST_GPUS = 2
"""So many other GPUs are named whose step time might turn the choice; the model's error spans many."""
MOST_NAMED = 3
"""So many servers of unknown price are named; the rest is counted."""
FAILURES_MATTER = 0.01
"""Below this spread of the share of time that makes progress, failures turn no choice, and no design is made for them."""


def price_doubts(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield what prices could change: a budget that the choice exceeds at the high end, and candidates that could come first."""
    if not considered.ranking.good:
        return
    yield from _over_budget(considered, chosen)
    if "cost" in chosen.measure:
        yield from _cheaper(considered, chosen)


def _over_budget(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield that the choice fits the budget, but not at the high end of its prices, and what does even then."""
    budget, high = considered.context.answers.number("budget.purchase"), chosen.figures.purchase_high_usd
    if budget is None or high is None or high <= budget:
        return
    safe = next((each for each in considered.ranking.good if (each.figures.purchase_high_usd or high) <= budget), None)
    name = _name(safe.candidate) if safe is not None else "nothing surely"
    text = f"{_name(chosen.candidate)} may cost {grouped(high, 3)} USD, more than the budget of {grouped(budget, 3)} USD"
    told = (
        f"at the high end of all prices {name} fits" if safe is not None else "at the high end of all prices nothing fits that was weighed"
    )
    trial = Trial(f"{grouped(high, 3)} USD", name, safe is not None, ("fits",))
    assumed = f"{grouped(chosen.figures.purchase_usd or high, 3)} USD"
    yield Doubt(chosen.candidate.node.id, "price", assumed, (trial,), WEIGHTS["fits"], f"{text}; {told}: a quote would settle it")


def _cheaper(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield the candidates that could come first within the ranges of prices, and those of unknown price; the first of each GPU."""
    high = chosen.figures.purchase_high_usd
    seen = {(chosen.candidate.gpu.id, False)}
    unpriced: list[Ranked] = []
    for other in considered.ranking.good:
        low = other.figures.purchase_low_usd
        kind = (other.candidate.gpu.id, low is None)
        if kind in seen:
            continue
        seen.add(kind)
        name = _name(other.candidate)
        if low is None:
            unpriced.append(other)
        elif high is not None and _worth_at(other, low) < _worth_at(chosen, high):
            prices = f"{name} could cost {grouped(low, 3)} USD and the choice {grouped(high, 3)} USD"
            text = f"{prices}, then it comes first by {chosen.measure}: quotes of both would settle it"
            trial = Trial(f"{grouped(low, 3)} USD", name, True, ("server",))
            yield Doubt(other.candidate.node.id, "price", f"{grouped(other.figures.purchase_usd or low, 3)} USD", (trial,), 3, text)
    if unpriced and chosen.figures.purchase_usd is not None:
        named = [_name(each.candidate) for each in unpriced[:MOST_NAMED]]
        more = f" and {len(unpriced) - MOST_NAMED} more" if len(unpriced) > MOST_NAMED else ""
        below = f"below {grouped(chosen.figures.purchase_usd, 3)} USD in all one of them could come first"
        text = f"nobody has named a price of {', '.join(named)}{more}: {below}"
        yield Doubt(unpriced[0].candidate.node.id, "price", "unknown", (), 1, text)


def _worth_at(each: Ranked, purchase_usd: float) -> float:
    """Return what a candidate is ranked by, were its purchase `purchase_usd`: owning it and the work cost so much more or less."""
    expected, ownership = each.figures.purchase_usd, each.figures.ownership_usd
    return each.worth * (ownership + purchase_usd - expected) / ownership if expected and ownership else each.worth


def rate_doubts(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield what rates could change: step times within the model's error, and how often the GPUs of the choice fail."""
    if not considered.ranking.good or chosen.candidate.choice is None:
        return
    yield from _faster(considered, chosen)
    yield from _failing(considered, chosen)


def _faster(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield the candidates that could come first within the ranges of step times, the first of each GPU.

    Whatever candidates are ranked by grows as a step takes longer: the time, what the work costs and what it draws; where the size follows
    from a deadline, the size and so the price.
    """
    at_slowest = chosen.worth * _ends(chosen.candidate)[2]
    seen = {chosen.candidate.gpu.id}
    for other in considered.ranking.good:
        if len(seen) > MOST_GPUS:
            return
        comparable = other.candidate.choice is not None and other.measure == chosen.measure and not other.apart
        if other.candidate.gpu.id in seen or not comparable:
            continue
        seen.add(other.candidate.gpu.id)
        if other.worth * _ends(other.candidate)[0] < at_slowest:
            name, fastest = _name(other.candidate), _seconds(other.candidate, 0)
            steps = f"a step of {name} could take {fastest} s and one of the choice {_seconds(chosen.candidate, 2)} s"
            text = f"{steps}, then it comes first by {chosen.measure}: a test run would settle it"
            trial = Trial(f"{fastest} s", name, True, ("GPU",))
            yield Doubt(other.candidate.node.id, "rate", f"{_seconds(other.candidate, 1)} s", (trial,), 2, text)


def _ends(candidate: Candidate) -> tuple[float, float, float]:
    """Return the low, expected and high step time as shares of the expected one."""
    assert candidate.choice is not None
    step = candidate.choice.step
    expected = magnitude(step.expected, "s")
    return magnitude(step.low, "s") / expected, 1.0, magnitude(step.high, "s") / expected


def _seconds(candidate: Candidate, end: int) -> str:
    assert candidate.choice is not None
    return grouped(magnitude(candidate.choice.step.expected, "s") * _ends(candidate)[end], 3)


def _failing(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield that the choice hangs on how often its GPUs fail, where it does: tried for real at both ends of what was published."""
    candidate, catalog = chosen.candidate, considered.context.catalog
    reliability = candidate.reliability
    if reliability is None or reliability.goodput_high - reliability.goodput_low < FAILURES_MATTER:
        return
    trials = []
    for each in failure_trials(candidate, catalog):
        trial = trial_of(each.words, considered, consider(considered.context.answers, each.catalog))
        trials += [trial] if trial is not None else []
    if trials:
        basis = failure_rate(candidate.gpu, candidate.gpus, catalog).basis
        text = f"how often {candidate.gpu.name} fails is uncertain (from {basis}): {sentence_of(trials)}"
        yield Doubt("failure_rate", "rate", basis, tuple(trials), weight_of(trials), text)


def _name(candidate: Candidate) -> str:
    return f"{candidate.units:,} × {candidate.node.name}"
