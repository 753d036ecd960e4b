"""What owning costs beside the bill: taxes, installation, support, staff, colocation; what it is worth at the end, and depreciation.

What nobody said and no source names is left out and named, never counted as zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind
from catalogs.sums import plain_sum
from rules.sizing.lookup import fact_value
from rules.sizing.prices import in_dollars
from rules.sizing.results import Range

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.answers import Answers
    from rules.sizing.results import BomLine, CostEstimate, FacilityDesign

PERCENT = 100.0
MONTHS_PER_YEAR = 12.0
LICENCES, FINANCING = "software licences", "financing"
COLOCATION, COLOCATION_UNIT = "colocation", "USD per kW and month"
RESIDUAL, DEPRECIATION = "residual-gpu-server", "depreciation-gpu-server"
LAST_YEAR = 5
"""Last year for which a resale value is published."""
ALWAYS_LEFT_OUT = ("spare parts beyond the shelf",)
"""What no total includes."""


@dataclass(frozen=True)
class Charges:
    """What comes on top of the bill. `once` are shares of the purchase price, `yearly` amounts a year; both by name.

    `basis` says of each name where it is from; `left_out` names what is unknown.
    """

    once: dict[str, float]
    yearly: dict[str, Range]
    basis: dict[str, str]
    left_out: tuple[str, ...]

    @property
    def factor(self) -> float:
        """Return what is paid at the start over the price of the bill."""
        return 1.0 + plain_sum(self.once.values())


def once_factor(answers: Answers) -> float:
    """Return what is paid at the start over the price of the bill: taxes and installation, as far as they were said."""
    return 1.0 + plain_sum((answers.number(key) or 0.0) / PERCENT for key in ("budget.tax", "budget.installation"))


def charges(
    answers: Answers, catalog: Catalog, purchase: Range | None, facility: FacilityDesign | None, *, gpus: int = 0, years: float = 0.0
) -> Charges:
    """Return what comes on top for a cluster of `gpus` GPUs whose bill comes to `purchase` and that is used for `years`.

    Taxes and installation once; support, staff, colocation, licences and interest a year.
    """
    once: dict[str, float] = {}
    yearly: dict[str, Range] = {}
    basis: dict[str, str] = {}
    left_out: list[str] = []
    for key, name in (("budget.tax", "taxes and duties"), ("budget.installation", "installation")):
        if answers.given(key):
            once[name] = (answers.number(key) or 0.0) / PERCENT
            basis[name] = f"{answers.number(key):g} % of the purchase, your own figure"
        else:
            left_out.append(name)
    if answers.given("budget.support") and purchase is not None:
        share = (answers.number("budget.support") or 0.0) / PERCENT
        yearly["support"] = scaled(purchase, share)
        basis["support"] = f"{share:.3g} of the purchase price a year, your own figure"
    else:
        left_out.append("support")
    if answers.given("budget.staff"):
        yearly["staff"] = flat(answers.number("budget.staff") or 0.0)
        basis["staff"] = "your own figure"
    else:
        left_out.append("staff")
    _add_hosting(answers, catalog, facility, yearly, basis, left_out)
    if answers.given("budget.licences"):
        each = answers.number("budget.licences") or 0.0
        yearly[LICENCES], basis[LICENCES] = flat(each * gpus), f"{each:g} USD a year for each GPU, your own figure"
    else:
        left_out.append(LICENCES)
    if answers.given("budget.interest") and purchase is not None:
        rate = (answers.number("budget.interest") or 0.0) / PERCENT
        yearly[FINANCING] = scaled(scaled(purchase, 1.0 + plain_sum(once.values())), interest_share(rate, years))
        basis[FINANCING] = f"{rate * PERCENT:g} % a year of what is paid at the start, repaid in equal parts over {years:g} years"
    else:
        left_out.append(FINANCING)
    return Charges(once, yearly, basis, (*left_out, *ALWAYS_LEFT_OUT))


def interest_share(rate: float, years: float) -> float:
    """Return the interest of a loan in an average year, as a share of it: repaid in equal yearly parts over `years` at `rate` a year.

    The annuity is i / (1 - (1 + i)^-n) of the loan, of which 1/n is repayment.
    """
    if rate <= 0.0 or years <= 0.0:
        return 0.0
    repaid = -math.expm1(-years * math.log1p(rate))
    return max(0.0, rate / repaid - 1.0 / years) if repaid > 0.0 else 0.0


def _add_hosting(
    answers: Answers,
    catalog: Catalog,
    facility: FacilityDesign | None,
    yearly: dict[str, Range],
    basis: dict[str, str],
    left_out: list[str],
) -> None:
    """Add colocation by the contracted kilowatt, or name the hall as left out."""
    given = answers.given("budget.colocation")
    if answers.text("facility.hosting") == "own_hall" or not (given or answers.text("facility.hosting") == "colocation"):
        left_out.append("the hall" if answers.text("facility.hosting") == "own_hall" else "colocation or building")
        return
    if facility is None:
        left_out.append("colocation, whose power is not known")
        return
    low, expected, high, words = colocation_price(answers, catalog)
    per_year = magnitude(facility.it_power_maximum, "kW") * MONTHS_PER_YEAR
    yearly[COLOCATION] = usd(low * per_year, expected * per_year, high * per_year, Kind.YOU if given else Kind.ESTIMATED)
    basis[COLOCATION] = words


def colocation_price(answers: Answers, catalog: Catalog) -> tuple[float, float, float, str]:
    """Return the price of colocation, low, expected and high in USD per kW of IT and month, and what it rests on."""
    if answers.given("budget.colocation"):
        said = answers.number("budget.colocation") or 0.0
        return said, said, said, f"{said:g} USD per kW and month, your own figure"
    priced = (in_dollars(row) for row in catalog.prices if row.item == COLOCATION and row.low is not None)
    rows = [row for row in priced if row.unit == COLOCATION_UNIT]
    newest = max(rows, key=lambda row: row.date)
    low, high = newest.low or 0.0, newest.high or 0.0
    words = f"{high:g} USD per kW and month, {newest.what} ({newest.source}, {newest.date})"
    return low, (low + high) / 2.0, high, words


def residual_value(answers: Answers, catalog: Catalog, servers: Range | None, years: float) -> Range | None:
    """Return what the servers are worth after `years`: the person's share of their price, else that of GPU servers sold second hand.

    Only servers are counted, for nobody publishes what used networks fetch. Between the years of the source it is interpolated, after
    the last one the low end is nothing.
    """
    if servers is None:
        return None
    if answers.given("budget.residual"):
        share = (answers.number("budget.residual") or 0.0) / PERCENT
        return replace(scaled(servers, share), kind=Kind.YOU)
    low, expected, high = residual_shares(catalog, years)
    worth = [magnitude(end, "USD") for end in (servers.low, servers.expected, servers.high)]
    return usd(low * worth[0], expected * worth[1], high * worth[2])


def residual_shares(catalog: Catalog, years: float) -> tuple[float, float, float]:
    """Return the share of their price that GPU servers fetch after `years`: low, expected, high."""
    points = [(1.0, 1.0, 1.0), *(fact_value(catalog.facts, RESIDUAL, f"year_{year}").ends("") for year in range(1, LAST_YEAR + 1))]
    if years >= LAST_YEAR:
        _, expected, high = points[-1]
        return 0.0 if years > LAST_YEAR else points[-1][0], expected if years == LAST_YEAR else expected / 2.0, high
    whole = int(years)
    part = years - whole
    before, after = points[whole], points[whole + 1]
    return tuple(b + (a - b) * part for b, a in zip(before, after, strict=True))  # type: ignore[return-value]


def depreciation_years(catalog: Catalog) -> tuple[float, float, float]:
    """Return over how many years operators write GPU servers off: shortest, usual, longest."""
    return fact_value(catalog.facts, DEPRECIATION, "life").ends("year")


def sum_of(lines: tuple[BomLine, ...], item: str) -> Range | None:
    """Return what the lines of one item cost together; None where a line has no price."""
    theirs = [line for line in lines if line.item == item]
    if not theirs or any(line.unit_low is None for line in theirs):
        return None
    low = plain_sum(line.quantity * (line.unit_low or 0.0) for line in theirs)
    high = plain_sum(line.quantity * (line.unit_high if line.unit_high is not None else line.unit_low or 0.0) for line in theirs)
    return usd(low, (low + high) / 2.0, high)


def usd(low: float, expected: float, high: float, kind: Kind = Kind.ESTIMATED) -> Range:
    """Return a range of amounts in USD."""
    return Range(quantity(low, "USD"), quantity(expected, "USD"), quantity(high, "USD"), kind)


def parts_of(cost: CostEstimate) -> dict[str, float]:
    """Return what the cost of ownership is made of over all years, in USD by name: the bill by category, charges, yearly costs."""
    parts: dict[str, float] = {}
    for line in cost.bom:
        if line.unit_low is not None:
            high = line.unit_high if line.unit_high is not None else line.unit_low
            parts[line.category] = parts.get(line.category, 0.0) + line.quantity * (line.unit_low + high) / 2.0
    purchase = plain_sum(parts.values())
    if cost.charges is not None and cost.purchase is not None:
        parts |= {name: purchase * share for name, share in cost.charges.once.items()}
    return parts | {name: magnitude(amount.expected, "USD") * cost.years for name, amount in cost.yearly.items()}


def scaled(amount: Range, factor: float) -> Range:
    """Return an amount times a factor."""
    low, expected, high = (magnitude(end, "USD") * factor for end in (amount.low, amount.expected, amount.high))
    return usd(low, expected, high, amount.kind)


def flat(amount: float) -> Range:
    """Return an amount that the person named: without a spread."""
    return usd(amount, amount, amount, Kind.YOU)


def added(amounts: list[Range]) -> Range:
    """Return the sum of several amounts, ends with ends."""
    ends = zip(*((each.low, each.expected, each.high) for each in amounts), strict=True)
    low, expected, high = (plain_sum(magnitude(each, "USD") for each in of_all) for of_all in ends)
    return usd(low, expected, high)
