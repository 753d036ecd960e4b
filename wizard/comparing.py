"""Candidates side by side: as rows that can be sorted and filtered by any figure, and what choosing another one costs. No screen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import QuantityError, magnitude, split
from wizard.summary import AT_LEAST, bounded, short_days, short_money, short_power, short_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rules.advisor import Considered
    from rules.choice import Ranked
    from rules.design import Design, Figures

CHOSEN, FITS, UNPRICED, REJECTED = "chosen", "fits", "price unknown", "rejected"
SAME = 0.005
"""Differences of less than half a per cent are called the same."""
_TERM = re.compile(r"\s*([a-z]+)\s*(<=|>=|<|>|=)\s*(.+)")


@dataclass(frozen=True)
class Column:
    """A figure that rows are shown, sorted and filtered by. `unit` is that of a typed limit without one."""

    id: str
    title: str
    figure: str
    unit: str
    text: Callable[[float], str]
    more: str
    less: str
    best_is_low: bool = True


def _plain(value: float) -> str:
    return f"{value:,.0f}"


COLUMNS: tuple[Column, ...] = (
    Column("gpus", "GPUs", "gpus", "", _plain, "GPU more", "GPU fewer"),
    Column("days", "time", "days", "day", short_days, "slower", "faster"),
    Column("price", "purchase", "purchase_usd", "USD", short_money, "more to buy", "less to buy"),
    Column("cost", "owning", "ownership_usd", "USD", short_money, "more to own", "less to own"),
    Column("power", "power", "total_power_kw", "kW", short_power, "more power", "less power"),
    Column("racks", "racks", "racks", "", _plain, "rack more", "rack fewer"),
    Column("step", "step", "step_s", "s", short_time, "longer steps", "shorter steps"),
    Column("mfu", "MFU", "mfu", "", lambda value: f"{value:.0%}", "higher utilisation", "lower utilisation", best_is_low=False),
    Column("memory", "memory", "memory_gib", "GiB", lambda value: f"{value:.1f} GiB", "more memory per GPU", "less memory per GPU"),
    Column("nodes", "nodes", "nodes", "", _plain, "node more", "node fewer"),
    Column("work", "per million", "usd_per_million_units", "USD", short_money, "more per million", "less per million"),
)
"""The figures, in the order in which a table shows them."""
BY_ID = {column.id: column for column in COLUMNS}


@dataclass(frozen=True)
class Entry:
    """A candidate of the comparison. `state` is CHOSEN, FITS, UNPRICED or REJECTED; `node` is what pinning it asks for, "" for unknown."""

    id: str
    name: str
    plan: str
    figures: Figures
    state: str
    because: str = ""
    node: str = ""
    dominated_by: str = ""

    def value(self, column: Column) -> float | None:
        """Return a figure as a number, None where it is unknown."""
        found = getattr(self.figures, column.figure)
        return None if found is None else float(found)

    def text(self, column: Column, at_least: str = AT_LEAST) -> str:
        """Return a figure as it is shown: "?" where it is unknown, `at_least` before money that leaves out parts without a price."""
        value = self.value(column)
        if value is None:
            return "?"
        return bounded(column.text(value), is_open=column.unit == "USD" and self.figures.purchase_open, at_least=at_least)


class FilterError(ValueError):
    """A filter that cannot be read; the message says what was expected."""


def entries_of(design: Design, considered: Considered | None = None) -> list[Entry]:
    """Return the candidates in rank order, the chosen one first; with `considered` the rejected ones too, with their figures."""
    if considered is not None and considered.ranking.chosen is not None:
        return ranked_entries(considered)
    rows = _listed(design)
    return [_marked(row, rows) for row in rows]


def ranked_entries(considered: Considered) -> list[Entry]:
    """Return what was weighed for a design in rank order, the rejected last; each says which other beats it in all."""
    rows = _ranked(considered)
    return [_marked(row, rows) for row in rows]


def _ranked(considered: Considered) -> list[Entry]:
    ranking = considered.ranking
    chosen = ranking.chosen
    rows = [_entry(each, CHOSEN if each is chosen else FITS) for each in ranking.good]
    rows += [_entry(each, CHOSEN if each is chosen else UNPRICED) for each in ranking.unproven]
    return rows + [_entry(each, CHOSEN if each is chosen else REJECTED) for each in ranking.bad]


def _entry(each: Ranked, state: str) -> Entry:
    candidate = each.candidate
    against = candidate.rejections
    state = UNPRICED if each.apart and state == FITS else state
    because = against[0].because if against else ""
    plan = candidate.choice.plan.label if candidate.choice else "no plan fits"
    return Entry(candidate.id, f"{candidate.units:,} × {candidate.node.name}", plan, each.figures, state, because, candidate.node.id)


def _listed(design: Design) -> list[Entry]:
    rows = [Entry(design.chosen, design.name, design.plan, design.figures, CHOSEN)] if design.figures is not None else []
    return rows + [
        Entry(each.candidate, each.name, each.plan, each.figures, UNPRICED if each.apart else FITS, each.because)
        for each in design.alternatives
    ]


def _marked(row: Entry, rows: Sequence[Entry]) -> Entry:
    """Return the row with the one that is at least as good in cost, time and power and better in one of them; rejected ones say less."""
    if row.state not in (FITS, CHOSEN):
        return row
    over = next((other for other in rows if other.state in (FITS, CHOSEN) and _dominates(other.figures, row.figures)), None)
    return row if over is None else Entry(**{**vars(row), "dominated_by": over.name})


def _dominates(one: Figures, other: Figures) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("ownership_usd", "days", "total_power_kw")]
    if any(mine is None or theirs is None for mine, theirs in pairs):
        return False
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs * (1 - SAME) for mine, theirs in pairs)


def in_order(rows: Sequence[Entry], by: str = "", *, falling: bool = False) -> list[Entry]:
    """Return the rows by a column ("" keeps the rank order); those of unknown value stand last in both directions."""
    if not by:
        return list(reversed(rows)) if falling else list(rows)
    column = BY_ID[by]
    known = [row for row in rows if row.value(column) is not None]
    known.sort(key=lambda row: row.value(column) or 0.0, reverse=falling)
    return known + [row for row in rows if row.value(column) is None]


def matching(rows: Sequence[Entry], text: str) -> list[Entry]:
    """Return the rows that a filter keeps; raises FilterError.

    A filter is words and limits parted by blanks or commas: "b200 days<60 price<=8M USD". Words are looked for in name, plan and
    state; a row whose figure is unknown passes no limit.
    """
    tests = [_test(part) for part in _parts(text)]
    return [row for row in rows if all(test(row) for test in tests)]


def _parts(text: str) -> list[str]:
    """Split a filter before each word that begins a limit, and at blanks and commas outside of limits."""
    text = re.sub(r"\s*(<=|>=|<|>|=)\s*", r"\1", text.strip().lower())
    parts: list[str] = []
    for piece in re.split(r"[,\s]+", text):
        if parts and re.search(r"[<>=][\d.]+[kmbtgp]?$", parts[-1]) and piece in _SPELLED:
            parts[-1] += f" {piece}"
        elif piece:
            parts.append(piece)
    return parts


_SPELLED = {
    "usd": "USD", "kw": "kW", "mw": "MW", "gw": "GW", "w": "W", "gib": "GiB", "gb": "GB",
    **{name: name for name in ("h", "hour", "hours", "d", "day", "days", "week", "weeks", "month", "months", "s", "ms", "min")},
}  # fmt: skip
"""Units by their lower case: a filter is read without regard to case."""
_GLUED = (re.compile(r"([\d.]+)([a-z]+)"), re.compile(r"([\d.]+[kmbtgp])([a-z]+)"))
"""A number with its unit right after it, the plain one first: "400kW", "8MUSD"."""


def _test(part: str) -> Callable[[Entry], bool]:
    found = _TERM.fullmatch(part)
    if found is None:
        if re.search(r"[<>=]", part):
            raise FilterError(f"{part!r} is no limit; write a figure, a comparison and a number, such as 'days<60'")
        return lambda row: part in f"{row.name} {row.plan} {row.state}".lower()
    name, sign, typed = found.groups()
    column = BY_ID.get(name)
    if column is None:
        raise FilterError(f"no figure is called {name!r}; there are {', '.join(BY_ID)}")
    limit = _limit(column, typed)
    return lambda row: (value := row.value(column)) is not None and _COMPARE[sign](value, limit)


def _limit(column: Column, typed: str) -> float:
    head, _, unit = typed.partition(" ")
    glued = next((found for form in _GLUED if (found := form.fullmatch(head)) and found[2] in _SPELLED), None)
    if glued is not None and not unit:
        head, unit = glued.groups()
    text = f"{head[:-1]}{head[-1:].upper().replace('K', 'k')}" if head[-1:] in "kmbtgp" else head
    try:
        if typed.endswith("%"):
            return float(typed[:-1]) / 100
        if not column.unit:
            return split(text)[0]
        return magnitude(f"{text} {_SPELLED.get(unit, unit) or column.unit}", column.unit)
    except (QuantityError, ValueError):
        raise FilterError(f"{typed!r} is no number for {column.id}; write one such as '{_EXAMPLES.get(column.id, '60')}'") from None


_EXAMPLES = {"days": "60", "price": "8M USD", "cost": "8M USD", "power": "400 kW", "mfu": "40%", "step": "4.7 s"}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda value, limit: value < limit,
    "<=": lambda value, limit: value <= limit,
    ">": lambda value, limit: value > limit,
    ">=": lambda value, limit: value >= limit,
    "=": lambda value, limit: abs(value - limit) <= SAME * abs(limit),
}


def price_of(chosen: Entry, other: Entry) -> str:
    """Return in words what taking `other` instead of `chosen` costs and saves: "2.9M USD more to own (+38%), 4.6 days less …"."""
    parts = []
    for id_ in ("cost", "price", "days", "power", "racks", "gpus"):
        column = BY_ID[id_]
        mine, theirs = chosen.value(column), other.value(column)
        if mine is None or theirs is None:
            parts += [f"{column.title} unknown"] if mine != theirs else []
        elif not _same(mine, theirs):
            share = f" ({theirs / mine - 1:+.0%})" if mine else ""
            parts.append(f"{column.text(abs(theirs - mine))} {_word(column, theirs - mine)}{share}")
    return ", ".join(parts) or "no difference in cost, time, power, racks or GPUs"


def _word(column: Column, change: float) -> str:
    """Return "faster", "racks more": things that are counted have their plural."""
    word = column.more if change > 0 else column.less
    noun, _, rest = word.partition(" ")
    return f"{noun}s {rest}" if column.id in ("racks", "gpus", "nodes") and abs(change) != 1 else word


def _same(mine: float, theirs: float) -> bool:
    return abs(theirs - mine) <= SAME * max(abs(mine), abs(theirs))
