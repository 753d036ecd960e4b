"""Where the money goes: the purchase by kind of part, and the cost of ownership over the years."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.counting import counted
from rules.sizing.ownership import parts_of
from wizard.pictures.bars import Bars, both_ways, shown
from wizard.preferences import currency, from_dollars

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.results import CostEstimate

TITLE = "Where the money goes"
MILLION = 1e6
NAMES = {
    "compute": "servers",
    "server": "servers",
    "switch": "switches",
    "transceiver": "optics",
    "cable": "cables",
    "spares": "spare servers",
    "spares_network": "spares on the shelf",
}


def _bars(considered: Considered) -> Bars:
    chosen = considered.ranking.chosen
    cost = chosen.candidate.cost if chosen is not None else None
    if cost is None or cost.purchase is None:
        words = (
            "no design" if chosen is None else f"no price of one {chosen.candidate.node.name} is known: a quote of yours makes the picture"
        )
        return Bars(TITLE, f"million {currency()}", (), notes=(words,))
    parts = {NAMES.get(name, name): from_dollars(amount) / MILLION for name, amount in parts_of(cost).items()}
    once = {name: amount for name, amount in parts.items() if name not in cost.yearly}
    budget = considered.context.answers.number("budget.purchase")
    return Bars(
        TITLE,
        f"million {currency()}",
        (("purchase", once), (f"{cost.years:g} years", parts)),
        limit=None if budget is None else from_dollars(budget) / MILLION,
        limit_name="" if budget is None else "budget",
        notes=_notes(cost),
    )


def _notes(cost: CostEstimate) -> tuple[str, ...]:
    """Return what the bars leave out, and what of it comes back."""
    notes = []
    if cost.missing:
        notes.append(f"{counted(len(cost.missing), 'kind of part has', 'kinds of parts have')} no known price, so not all is drawn")
    if cost.charges is not None:
        notes.append(f"left out: {', '.join(cost.charges.left_out)}")
    if cost.residual is not None:
        worth = from_dollars(magnitude(cost.residual.expected, "USD")) / MILLION
        notes.append(f"the servers may fetch {shown(worth)} million {currency()} at the end, which is not taken off")
    return tuple(notes)


text, svg = both_ways(_bars)
"""What is bought, then all years of ownership on the same scale."""
