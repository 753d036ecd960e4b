"""Renting or buying: what both cost over the years of ownership, against the share of hours in which the GPUs are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.counting import counted
from rules.sizing.cost import left_out_of, run_gpu_hours
from rules.sizing.power import HOURS_PER_YEAR
from rules.sizing.renting import RentOrBuy, costs_at, rent_or_buy
from wizard.pictures.bars import shown
from wizard.pictures.chart import Axis, Chart, Series, both_ways
from wizard.preferences import currency, from_dollars

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.candidate import Candidate

TITLE = "Rent or buy: cost against utilisation"
MILLION, PERCENT = 1e6, 100.0
STEPS = tuple(range(5, 105, 5))
"""Utilisations that are drawn, in percent."""
LEAST_SHARE = 0.001
"""A smaller share of the hours is not written in digits: it would read as nothing."""


def _chart(considered: Considered) -> Chart:
    x, y = Axis("utilisation", "% of the hours"), Axis("cost over all years", f"million {currency()}")
    chosen = considered.ranking.chosen
    if chosen is None or chosen.candidate.cost is None:
        return Chart(TITLE, x, y, (), ("no design",))
    candidate, context = chosen.candidate, considered.context
    cost = chosen.candidate.cost
    owned_hours = cost.years * HOURS_PER_YEAR * candidate.gpus
    found = rent_or_buy(cost, candidate.gpu.id, owned_hours, run_gpu_hours(candidate, context), context.catalog, context.answers)
    if cost.ownership is None or found.rent is None:
        lacking = f"a price of one {candidate.node.name}" if cost.ownership is None else f"a cloud price of {candidate.gpu.name}"
        return Chart(TITLE, x, y, (), (f"{lacking} is not known: yours makes the picture",))
    return Chart(TITLE, x, y, _series(magnitude(cost.ownership.expected, "USD"), found), _notes(candidate, found))


def _series(owned: float, found: RentOrBuy) -> tuple[Series, ...]:
    assert found.rent is not None
    low, high = found.rent
    rows = [
        Series("own", "=", tuple((float(step), from_dollars(owned) / MILLION) for step in STEPS), joined=True),
        Series(_rent(low), ".", _rented(owned, found.owned_hours, low), joined=True),
    ]
    if high > low:
        rows.append(Series(_rent(high), ":", _rented(owned, found.owned_hours, high), joined=True))
    crossings = [(owned / (found.owned_hours * price) * PERCENT, from_dollars(owned) / MILLION) for price in found.rent]
    inside = tuple(dict.fromkeys(point for point in crossings if point[0] <= STEPS[-1]))
    labels = tuple(f"{point[0]:.0f} %" for point in inside)
    return (*rows, Series("cross", "X", inside, labels=labels)) if inside else tuple(rows)


def _rent(price: float) -> str:
    return f"rent at {shown(from_dollars(price))} {currency()}/h"


def _rented(owned: float, owned_hours: float, price: float) -> tuple[tuple[float, float], ...]:
    return tuple((float(step), costs_at(step / PERCENT, owned, owned_hours, price)[1] * from_dollars(1.0) / MILLION) for step in STEPS)


def _notes(candidate: Candidate, found: RentOrBuy) -> tuple[str, ...]:
    notes = []
    if found.crossing is not None:
        low, middle, high = (share * PERCENT for share in found.crossing)
        told = f"both cost the same at {middle:.0f} % of the hours ({low:.0f} to {high:.0f} %, by the prices)"
        notes.append(told if middle <= PERCENT else f"{told}: renting is cheaper around the clock")
    if found.run_hours > 0 and found.owned_hours > 0:
        share = found.run_hours / found.owned_hours
        told = f"{share:.1%}" if share >= LEAST_SHARE else f"less than {LEAST_SHARE:.1%}"
        notes.append(f"the run itself uses {told} of the hours of {counted(candidate.gpus, 'GPU')}")
    cost = candidate.cost
    if cost is not None and (missing := left_out_of(cost.missing, None)):
        notes.append(f"owning leaves out {', '.join(missing)}")
    dates = sorted({offer.date for offer in found.offers if offer.date and not offer.spot})
    if dates:
        notes.append(f"cloud prices on demand of {dates[0]} to {dates[-1]}; commitments are negotiated")
    return tuple(notes)


text, svg = both_ways(_chart)
"""In text `=` is owning, `.` and `:` renting at the lowest and the highest price, `X` where they cross."""
