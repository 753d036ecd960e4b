"""All parallel plans of the design's GPUs by step time and memory: the front that none beats in both, and the chosen plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wizard.pictures.bars import shown
from wizard.pictures.chart import Axis, Chart, Series, both_ways
from wizard.plan_list import report_of

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.plan_report import PlanReport

GIB = 2.0**30
TITLE = "Plans: peak memory against step time"
SLOWEST, LARGEST = 8.0, 4.0
"""Plans that take more than so many times the fastest, or need so many times the memory there is, are left out: they would squeeze all
others to one side."""


def _chart(considered: Considered) -> Chart:
    axes = Axis("step", "s", logarithmic=True), Axis("peak memory of a GPU", "GiB", logarithmic=True)
    report = report_of(considered)
    if isinstance(report, str):
        return Chart(TITLE, *axes, (), (f"No picture: {report}",))
    own = report.own
    fastest = min(each.seconds for each in (own, *report.search.pareto))
    limit = report.capacity
    points = [each for each in report.search.points if each.seconds <= SLOWEST * fastest and each.peak <= LARGEST * limit]
    times = [each.seconds for each in points] or [own.seconds]
    series = (
        Series("memory there is", "-", ((min(times), limit / GIB), (max(times), limit / GIB)), joined=True),
        Series("may not fit", "x", tuple((each.seconds, each.peak / GIB) for each in points if not each.fits)),
        Series("fits", "o", tuple((each.seconds, each.peak / GIB) for each in points if each.fits)),
        Series("front", "*", tuple((each.seconds, each.memory[2] / GIB) for each in report.search.pareto if _near(each.seconds, fastest))),
        Series("chosen", "@", ((own.seconds, own.memory[2] / GIB),)),
    )
    return Chart(TITLE, *axes, series, _notes(report))


def _near(seconds: float, fastest: float) -> bool:
    return seconds <= SLOWEST * fastest


def _notes(report: PlanReport) -> tuple[str, ...]:
    search = report.search
    place = f"number {report.rank:,} of {search.ranked:,}" if report.rank else "not ranked: it may run out of memory"
    return (
        "x and o: the fastest plan of each way to divide the GPUs",
        f"{search.enumerated:,} plans = {search.ranked:,} ranked + {sum(search.rejected.values()):,} ruled out",
        f"chosen: {report.own.plan.label}, {place}, {shown(report.own.seconds)} s",
        *(f"what limits the best, {each.plan.label}, {shown(each.seconds)} s:" for each in search.found[:1]),
        *report.limits,
    )


text, svg = both_ways(_chart)
"""In text `*` is the front, `@` the choice, `o` and `x` what fits and what may not."""
