"""A design in a few lines of text: for the terminal after `design`, the live strip and the report's head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import grouped
from rules.sizing.standing import places_words
from wizard.preferences import currency, from_dollars, written

if TYPE_CHECKING:
    from rules.design import Design, Figures

SECONDS_PER_DAY = 86_400.0
LONGEST_IN_SECONDS = 600.0
"""Times up to so many seconds are shown in seconds: the steps of a run are compared in them."""
AT_LEAST = "≥"
"""What stands before a total that leaves out parts without a known price."""


def headline(design: Design) -> list[str]:
    """Return the design in two or three lines."""
    if not design.chosen or design.figures is None:
        return ["no design: nothing that the answers allow can be sized"]
    head = ("" if design.fits else "nearest, with conflicts: ") + design.name
    return [head, f"  {design.plan}", "  " + " · ".join(figure_texts(design.figures))]


def figure_texts(figures: Figures) -> list[str]:
    """Return the known key figures as short texts; an unknown price is said, and one that leaves parts out is a lower bound."""
    rows = []
    if figures.memory_gib and figures.memory_capacity_gib:
        rows.append(written(f"{figures.memory_gib:.1f} of {figures.memory_capacity_gib:.1f} GiB"))
    if figures.step_s is not None:
        rows.append(f"step {short_time(figures.step_s)}")
    if figures.mfu:
        rows.append(f"MFU {figures.mfu:.0%}")
    if figures.days is not None:
        rows.append(short_days(figures.days))
    if figures.total_power_kw is not None:
        rows.append(short_power(figures.total_power_kw))
    if figures.racks:
        rows.append(places_text(figures))
    rows.append(purchase_text(figures))
    return rows


def places_text(figures: Figures) -> str:
    """Return what stands in the hall: "5 racks", "3 tanks and 2 racks"."""
    tanks = figures.tanks or 0
    return places_words((figures.racks or 0) - tanks, tanks)


def purchase_text(figures: Figures, *, at_least: str = AT_LEAST) -> str:
    """Return the purchase: "412M USD"; with `at_least` before it where parts without a price are left out of it."""
    if figures.purchase_usd is None:
        return "price unknown"
    return bounded(short_money(figures.purchase_usd), is_open=figures.purchase_open, at_least=at_least)


def bounded(shown: str, *, is_open: bool, at_least: str = AT_LEAST) -> str:
    """Return an amount as it is shown, marked where it is only a lower bound."""
    return f"{at_least} {shown}" if is_open else shown


def short_time(seconds: float) -> str:
    """Return a time with a fitting unit: "420 ms", "4.7 s", "3.2 hours"."""
    if seconds < 1:
        return written(f"{grouped(seconds * 1000, 3)} ms")
    if seconds < LONGEST_IN_SECONDS:
        return written(f"{grouped(seconds, 3)} s")
    return short_days(seconds / SECONDS_PER_DAY)


def short_days(days: float) -> str:
    """Return a span of days with a fitting unit: "54.2 days", "1 hour", "40 minutes", "0.43 s"."""
    for size, name in ((1.0, "day"), (1 / 24, "hour"), (1 / 1440, "minute")):
        if days >= size:
            number = grouped(days / size, 3)
            return written(f"{number} {name}" if number == "1" else f"{number} {name}s")
    return written(f"{grouped(days * SECONDS_PER_DAY, 3)} s")


def short_power(kilowatts: float) -> str:
    """Return a power with a fitting unit: "40.8 kW", "21.9 MW", "8.29 GW"."""
    for size, unit in ((1e6, "GW"), (1e3, "MW"), (1.0, "kW")):
        if kilowatts >= size:
            return written(f"{grouped(kilowatts / size, 3)} {unit}")
    return written(f"{grouped(kilowatts * 1000, 3)} W")


def short_money(dollars: float) -> str:
    """Return dollars as an amount of the preferred currency with a fitting unit: "412M USD", "61k EUR"; under one it keeps two digits."""
    amount, code = from_dollars(dollars), currency()
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if amount >= size:
            return written(f"{grouped(amount / size, 3)}{letter} {code}")
    return written(f"{amount:.0f} {code}" if amount >= 1 or amount <= 0 else f"{grouped(amount, 2)} {code}")


def addressee(to: str) -> str:
    """Return whom to ask, with the article where there is none: "the network vendor", "your software team"."""
    return to if to.startswith(("your ", "the ")) else f"the {to}"
