"""What is written about a design that was shared without prices: nothing on money, though the catalog's prices would be there.

write_shared("questions-csv", considered, stream)     # an export
without_amounts(text, as_json=False)                  # what a command would print
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any, TextIO

from wizard.exports import PICTURE, NothingToExport, write
from wizard.exports.design_without_prices import AMOUNT, CURRENCIES, MONEY_FIELD, without_money
from wizard.exports.parts import design_of, write_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.advisor import Considered

WITHHELD = "the design was shared without its prices; design it anew to have those of the catalog"
AN_AMOUNT = "(an amount)"
_NUMBER = r"\d[\d,.]*(?:\s?(?:[kMBT]\b|thousand|million|billion))?"
_AMOUNTS = re.compile(rf"(?:{_NUMBER}\s+(?:to|and|→)\s+)?{_NUMBER}\s+(?:{CURRENCIES})\b(?:/\w+)*")
"""An amount or a range of them, also where a line breaks inside."""
_NAMES = ("what", "name", "key", "answer", "rule", "explains", "field", "figure", "unit", "where")
"""Keys of a row that say what it is on."""


def write_shared(name: str, considered: Considered, stream: TextIO) -> None:
    """Write a format of exports without anything on money; raises NothingToExport for what shows nothing else."""
    if name in _WITHOUT:
        _WITHOUT[name](considered, stream)
        return
    if not name.startswith(PICTURE):
        write(name, considered, stream)
        return
    drawn = io.StringIO()
    write(name, considered, drawn)
    if AMOUNT.search(drawn.getvalue()) or re.search(rf"\b(?:{CURRENCIES})\b", drawn.getvalue()):
        raise NothingToExport(WITHHELD)
    stream.write(drawn.getvalue())


def _bill(considered: Considered, stream: TextIO) -> None:
    write("bom-without-prices-csv", considered, stream)


def _questions_csv(considered: Considered, stream: TextIO) -> None:
    from wizard.exports.questions_csv import HEAD

    write_rows(
        stream,
        HEAD,
        (
            (row["to"], row["ask"], row["good_answer"], row["why"], ", ".join(row.get("guidance", [])), row["rule"], "")
            for row in _questions(considered)
        ),
    )


def _questions_markdown(considered: Considered, stream: TextIO) -> None:
    from wizard.exports.questions_markdown import write_questions

    design = design_of(considered)
    write_questions([design.name], _questions(considered), stream)


def _questions(considered: Considered) -> list[dict[str, Any]]:
    return list(without_money(design_of(considered)).get("question", []))


_WITHOUT: dict[str, Callable[[Considered, TextIO], None]] = {
    "bom-csv": _bill,
    "questions-csv": _questions_csv,
    "questions-markdown": _questions_markdown,
}


def without_amounts(text: str, *, as_json: bool, one_thing: bool) -> str:
    """Return what a command prints without amounts, and without the lines or rows that name a figure of money.

    `one_thing`: the text explains what its first line names; "" where that is money.
    """
    if as_json:
        found = json.loads(text)
        return "" if one_thing and _is_named(found) else json.dumps(_cleaned(found), indent=2, ensure_ascii=False) + "\n"
    masked = _AMOUNTS.sub(AN_AMOUNT, text).splitlines()
    first = next((line for line in masked if line[:1].strip() and not line.startswith("note:")), "")
    if one_thing and MONEY_FIELD.search(first):
        return ""
    return "".join(f"{line}\n" for line in masked if not MONEY_FIELD.search(line) and not re.search(rf"\b(?:{CURRENCIES})\b", line))


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cleaned(inner) for key, inner in value.items() if not MONEY_FIELD.search(key) and key not in ("cost", "price")}
    if isinstance(value, list):
        return [_cleaned(each) for each in value if not _is_named(each)]
    return _AMOUNTS.sub(AN_AMOUNT, value) if isinstance(value, str) else value


def _is_named(row: Any) -> bool:
    """Return whether a row names a figure of money, or a text is one."""
    if isinstance(row, str):
        return bool(MONEY_FIELD.search(row))
    texts = [row[key] for key in _NAMES if isinstance(row.get(key), str)] if isinstance(row, dict) else []
    return any(MONEY_FIELD.search(text) for text in texts)
