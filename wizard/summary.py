"""A design in a few lines of text: for the terminal after `design`, the live strip and the report's head."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.design import Design, Figures

AT_LEAST = "≥"
"""What stands before a total that leaves out parts without a known price."""


def headline(design: Design) -> list[str]:
    """Return the design in two or three lines."""
    if not design.chosen or design.figures is None:
        return ["no design: nothing that the answers allow can be sized"]
    head = ("" if design.fits else "nearest, with conflicts: ") + design.name
    return [head, f"  {design.plan}", "  " + " · ".join(figure_texts(design.figures, is_open=purchase_is_open(design)))]


def figure_texts(figures: Figures, *, is_open: bool = False) -> list[str]:
    """Return the known key figures as short texts; an unknown price is said, and one that leaves parts out is a lower bound."""
    rows = []
    if figures.memory_gib and figures.memory_capacity_gib:
        rows.append(f"{figures.memory_gib:.1f} of {figures.memory_capacity_gib:.1f} GiB")
    if figures.step_s is not None:
        rows.append(f"step {short_time(figures.step_s)}")
    if figures.mfu:
        rows.append(f"MFU {figures.mfu:.0%}")
    if figures.days is not None:
        rows.append(f"{figures.days:.3g} days")
    if figures.total_power_kw is not None:
        rows.append(short_power(figures.total_power_kw))
    if figures.racks:
        rows.append(f"{figures.racks:,} rack" + ("s" if figures.racks > 1 else ""))
    rows.append(purchase_text(figures, is_open=is_open))
    return rows


def purchase_is_open(design: Design) -> bool:
    """Return whether the purchase leaves out parts whose price nobody has named, so that it is a lower bound."""
    return bool((design.figures is not None and design.figures.purchase_open) or design.sections.get("cost", {}).get("missing"))


def purchase_text(figures: Figures, *, is_open: bool = False, at_least: str = AT_LEAST) -> str:
    """Return the purchase: "412M USD"; with `at_least` before it where parts without a price are left out of it."""
    if figures.purchase_usd is None:
        return "price unknown"
    return bounded(short_money(figures.purchase_usd), is_open=is_open or figures.purchase_open, at_least=at_least)


def bounded(shown: str, *, is_open: bool, at_least: str = AT_LEAST) -> str:
    """Return an amount as it is shown, marked where it is only a lower bound."""
    return f"{at_least} {shown}" if is_open else shown


def short_time(seconds: float) -> str:
    """Return a time with a fitting unit: "420 ms", "4.7 s"."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def short_power(kilowatts: float) -> str:
    """Return a power with a fitting unit: "40.8 kW", "21.9 MW"."""
    return f"{kilowatts / 1000:.3g} MW" if kilowatts >= 1000 else f"{kilowatts:.3g} kW"


def short_money(dollars: float) -> str:
    """Return an amount with a fitting unit: "412M USD", "61k USD"."""
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if dollars >= size:
            return f"{dollars / size:.3g}{letter} USD"
    return f"{dollars:.0f} USD"
