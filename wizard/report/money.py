"""What a design costs and when it can be there, as a report tells it: totals, what they are made of and leave out, renting, delivery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalogs.quantities import QuantityError, grouped, split
from wizard.preferences import currency, from_dollars, in_words, written
from wizard.report.blocks import Block, Heading, Items, Paragraph, Table
from wizard.summary import short_money

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rules.design import Design

COSTS_TITLE = "What it costs"
UNKNOWN = "unknown"
TOTALS = (
    ("purchase", "the purchase, net"),
    ("outlay", "the purchase with taxes and installation, as far as they were said"),
    ("energy_per_year", "energy in a year"),
    ("ownership", "owning it for {years:g} years"),
    ("per_gpu_hour", "a GPU-hour, used or not"),
    ("per_million_units", "a million tokens (or samples)"),
    ("per_run", "the run"),
)
AT_THE_END = (
    ("depreciation_per_year", "written off in a year"),
    ("book_value", "book value at the end"),
    ("resale_of_servers", "what the servers may fetch then, in no total"),
    ("ownership_less_resale", "owning it less what they may fetch"),
)
ENDS = ("low", "expected", "high")
WHOLE_FROM = 100.0
"""Dollars from which an amount is told in thousands and millions; below, with three digits."""


def costs(design: Design) -> Iterable[Block]:
    """Yield what the design costs; nothing where no cost was worked out."""
    cost: Mapping[str, Any] | None = design.sections.get("cost")
    if not cost:
        return
    yield Heading(2, COSTS_TITLE)
    yield Table(("cost", *ENDS), tuple(_totals(cost)), right=(1, 2, 3))
    yield Items(tuple(f"{note[0].upper()}{note[1:]}." for note in cost.get("notes", ())))
    parts = tuple((name.replace("_", " "), amount(value)) for name, value in design.sections.get("cost.part", {}).items())
    if parts:
        yield Heading(3, "What owning is made of")
        yield Table(("part of owning", "cost of all years"), parts, right=(1,))
    moves = tuple(_moved(row) for row in cost.get("sensitivity", ()))
    if moves:
        yield Heading(3, "What moves the cost of owning most")
        head = ("input of the cost", "from", "to", "owning then, from", "owning then, to", "cost moved by")
        yield Table(head, moves, right=(3, 4, 5))
    yield from _rent(design.sections.get("cost.rent", {}))
    yield from _end(design.sections.get("cost.at_the_end", {}))
    yield from _phases(cost.get("phase", ()))


def _moved(row: Mapping[str, Any]) -> tuple[str, ...]:
    owning = (amount(row[key]) for key in ("ownership_from", "ownership_to", "moves_it_by"))
    return (str(row["input"]), str(row["from"]), str(row["to"]), *owning)


def _totals(cost: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    for key, name in TOTALS:
        if key in cost:
            yield (name.format(years=float(cost.get("years", 0))), *_ends(cost[key]))


def _ends(found: object) -> tuple[str, str, str]:
    if isinstance(found, dict):
        low, expected, high = (amount(found.get(end, UNKNOWN)) for end in ENDS)
        return low, expected, high
    return "", amount(found), ""


_ORIGIN = ("date", "source", "confidence")


def _rent(rent: Mapping[str, Any]) -> Iterable[Block]:
    if not rent:
        return
    yield Heading(3, "Renting instead")
    rows = [
        (each["what"], _span(each["low"], each["high"]), each["date"], each["source"], each["confidence"]) for each in rent.get("offer", ())
    ]
    if rows:
        yield Table(("offer", "price of a GPU-hour", "date of the price", "source of the price", "confidence"), tuple(rows), right=(1,))
    crossing = rent.get("crossing_utilisation")
    told = [f"Owning and renting cost the same where the GPUs are busy {_shares(crossing)}."] if crossing else []
    if rent.get("run"):
        told.append(f"The run alone costs {_span(*rent['run'])} rented.")
    yield Items((*told, *(f"{note[0].upper()}{note[1:]}." for note in rent.get("notes", ()))))


def _shares(crossing: Mapping[str, float]) -> str:
    low, expected, high = (written(f"{100 * crossing[end]:.0f}") for end in ENDS)
    return f"{expected} % of the hours ({low} to {high} %, by the prices)"


def _end(end: Mapping[str, Any]) -> Iterable[Block]:
    rows = tuple((name, *_ends(end[key])) for key, name in AT_THE_END if key in end)
    if rows:
        yield Heading(3, "At the end")
        yield Table(("cost at the end", *ENDS), rows, right=(1, 2, 3))


def _phases(phases: Sequence[Mapping[str, Any]]) -> Iterable[Block]:
    if len(phases) < 2:
        return
    yield Heading(3, "Purchase in phases")
    rows = tuple(_phase(each) for each in phases)
    head = ("phase", "after", "servers more", "GPUs then", "racks then", "IT power then", "buys", "price of all")
    yield Table(head, rows, right=(0, 2, 3, 4, 5, 7))


def _phase(each: Mapping[str, Any]) -> tuple[str, ...]:
    then = (str(each.get(key, UNKNOWN)) for key in ("units", "gpus_then", "racks_then", "it_power_then", "buys"))
    return (str(each["phase"]), in_words(str(each["after"])), *then, _span(each["low"], each["high"]))


def delivery(design: Design) -> Iterable[Block]:
    """Yield when the parts are there and training can start; a time that nobody publishes is unknown, and what follows it a lower bound."""
    found: Mapping[str, Any] = design.sections.get("delivery", {})
    tasks = found.get("task", ())
    if not tasks:
        return
    yield Heading(2, "When it is there")
    rows, late = [], set[str]()
    for each in tasks:
        at_least = "at least " if late & set(each["after"]) else ""
        if each["weeks"] == UNKNOWN or at_least:
            late.add(each["task"])
        ends = UNKNOWN if each["weeks"] == UNKNOWN else at_least + _weeks(each["ends"])
        start = at_least + _weeks(each["starts"])
        rows.append((each["task"], start, _weeks(each["weeks"]), ends, "yes" if each["critical"] else "", each["basis"]))
    yield Table(("task", "starts after, weeks", "takes, weeks", "ends after, weeks", "critical", "as known"), tuple(rows))
    unknown = [each["task"] for each in tasks if each["weeks"] == UNKNOWN]
    if unknown:
        yield Paragraph(
            f"No time is known for {', '.join(unknown)}: the ends are lower bounds, and any of them may decide instead.", strong=True
        )


def _weeks(found: object) -> str:
    if not isinstance(found, (list, tuple)):
        return str(found)
    low, high = (written(f"{week:.3g}") for week in found)
    return low if low == high else f"{low} to {high}"


def amount(value: object) -> str:
    """Return an amount of a section, such as "4839257 USD" or "3.637 USD/hour", in the preferred currency and few digits."""
    try:
        number, _ = split(str(value))
    except QuantityError:
        return str(value)
    dollars = number
    return short_money(dollars) if abs(dollars) >= WHOLE_FROM else written(f"{grouped(from_dollars(dollars), 3)} {currency()}")


def _span(low: object, high: object) -> str:
    first, last = amount(low), amount(high)
    return first if first == last else f"{first} to {last}"
