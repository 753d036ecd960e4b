"""Every candidate by what it costs and how long it takes: the chosen one, those that would do, those that will not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wizard.pictures.chart import Axis, Chart, Series, both_ways

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.advisor import Considered
    from rules.choice import Ranked

TITLE = "Candidates: {measure} against time"


def _chart(considered: Considered) -> Chart:
    ranking = considered.ranking
    chosen, everyone = ranking.chosen, (*ranking.good, *ranking.unproven, *ranking.bad)
    days = any(each.figures.days for each in everyone)
    priced = any(each.figures.purchase_usd for each in everyone)
    groups = (
        ("will not do", "x", [each for each in ranking.bad if each is not chosen]),
        ("would do", "o", [each for each in (*ranking.good, *ranking.unproven) if each is not chosen]),
        ("chosen", "@", [] if chosen is None else [chosen]),
    )
    series = tuple(Series(name, mark, _points(ranked, days=days, priced=priced)) for name, mark, ranked in groups)
    drawn = sum(len(each.points) for each in series)
    notes = []
    if drawn < len(everyone):
        lacking = "no known price, or no plan that runs" if priced else "no plan that runs"
        notes.append(f"{len(everyone) - drawn} of {len(everyone)} not drawn: {lacking}")
    if priced and any(each.figures.purchase_open for each in everyone):
        notes.append("Some purchases leave out unknown prices")
    time = Axis("days to train", "", logarithmic=True) if days else Axis("time of a step", "s", logarithmic=True)
    measure = Axis("purchase", "million USD", logarithmic=True) if priced else Axis("total power", "kW", logarithmic=True)
    return Chart(TITLE.format(measure=measure.name), time, measure, series, tuple(notes))


def _points(ranked: Sequence[Ranked], *, days: bool, priced: bool) -> tuple[tuple[float, float], ...]:
    """Return (time, purchase or power) of each candidate that has both."""
    points = []
    for each in ranked:
        time = each.figures.days if days else each.figures.step_s
        amount = (each.figures.purchase_usd or 0.0) / 1e6 if priced else each.figures.total_power_kw
        if time and amount:
            points.append((time, amount))
    return tuple(points)


text, svg = both_ways(_chart)
"""In text `@` is the choice, `o` would do, `x` will not."""
