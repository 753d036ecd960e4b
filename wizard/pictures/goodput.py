"""Goodput against the interval between checkpoints: few, expected and many failures, and the interval that the design takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.checkpoint import daly_goodput, daly_interval, in_words
from wizard.pictures.chart import Axis, Chart, Series, both_ways

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.reliability import Goodput

TITLE = "Goodput against the interval between checkpoints"
MINUTE, PERCENT = 60.0, 100.0
SPAN, POINTS = 32.0, 41
"""The interval is drawn from this part of the chosen one to so many times it, in so many points."""


def _chart(considered: Considered) -> Chart:
    x, y = Axis("interval", "minutes", logarithmic=True), Axis("goodput", "% of the time")
    chosen = considered.ranking.chosen
    found = chosen.candidate.reliability.goodput_of_job if chosen is not None and chosen.candidate.reliability is not None else None
    if chosen is None or found is None:
        return Chart(TITLE, x, y, (), ("no design",))
    curves = (("few failures", ".", found.mtbf_high), ("expected", "-", found.mtbf), ("many failures", ":", found.mtbf_low))
    series = tuple(Series(name, mark, _curve(found, mtbf), joined=True) for name, mark, mtbf in curves)
    taken = (found.checkpoints.interval / MINUTE, PERCENT * _goodput(found, found.checkpoints.interval, found.mtbf))
    return Chart(TITLE, x, y, (*series, Series("taken", "@", (taken,))), _notes(found))


def _goodput(found: Goodput, interval: float, mtbf: float) -> float:
    """Return the share of time that makes progress at another interval, with the checkpoints of the design (Daly 2006, eq. 20)."""
    plan = found.checkpoints
    background = plan.lost - plan.interval / 2.0
    return daly_goodput(interval, plan.pause, found.restart + background, mtbf)


def _curve(found: Goodput, mtbf: float) -> tuple[tuple[float, float], ...]:
    middle = found.checkpoints.interval
    intervals = [middle / SPAN * (SPAN * SPAN) ** (number / (POINTS - 1)) for number in range(POINTS)]
    return tuple((interval / MINUTE, PERCENT * _goodput(found, interval, mtbf)) for interval in intervals)


def _notes(found: Goodput) -> tuple[str, ...]:
    plan = found.checkpoints
    best = daly_interval(plan.pause, found.mtbf) if plan.pause > 0 else 0.0
    notes = [
        f"taken: every {in_words(plan.interval)}, {plan.mode}, stopping {in_words(plan.pause)}; restart {in_words(found.restart)}",
        f"lowest loss by Daly's formula: every {in_words(best)}" if best > 0 else "a checkpoint stops nothing",
    ]
    few, middle, many = (in_words(each) for each in (found.mtbf_high, found.mtbf, found.mtbf_low))
    notes.append(f"an interruption every {few} (few), {middle} (expected), {many} (many)")
    if plan.mode == "asynchronous":
        notes.append(f"writing in the background takes {in_words(plan.write)}, below which no interval is possible")
    return tuple(notes)


text, svg = both_ways(_chart)
"""In text `@` is the interval that the design takes."""
