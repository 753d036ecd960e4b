"""Every candidate by what it costs and how long it takes: the chosen one, those that would do, those that will not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wizard.comparing import BY_ID, ranked_entries
from wizard.pictures import chart
from wizard.scatter import scatter

if TYPE_CHECKING:
    from rules.advisor import Considered
    from wizard.pictures.chart import Chart

TITLE = "Candidates: {up} against {across}"


def text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
    """Return the candidates as lines of at most `width` columns."""
    return chart.text(_chart(considered, ascii_only=ascii), width)


def svg(considered: Considered) -> str:
    """Return the candidates as an SVG document."""
    return chart.svg(_chart(considered))


def _chart(considered: Considered, *, ascii_only: bool = False) -> Chart:
    """Return purchase against time; power where no price is known, and the time of a step where no amount of work was said."""
    rows = ranked_entries(considered)
    across = BY_ID["days"] if any(each.figures.days for each in rows) else BY_ID["step"]
    priced = any(each.figures.purchase_usd for each in rows)
    up = BY_ID["price"] if priced else BY_ID["power"]
    drawn = scatter(rows, across, up, title=TITLE.format(up=up.title, across=across.title), ascii_only=ascii_only)
    is_open = priced and any(each.figures.purchase_open for each in rows)
    return replace(drawn, notes=(*drawn.notes, "Some purchases leave out unknown prices")) if is_open else drawn
