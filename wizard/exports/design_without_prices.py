"""A design to show to others: everything but money. No price, cost, budget, rate or contract of the person's is left in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TextIO

import tomli_w

from rules.design import SCHEMA_VERSION
from rules.findings import Stage
from wizard.exports.parts import design_of
from wizard.versions import meta_of

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.answers import Answers
    from rules.design import Design

SECRET = (
    "budget.purchase", "budget.own_prices", "budget.exchange_rates", "budget.electricity_price", "budget.tax", "budget.installation",
    "budget.support", "budget.staff", "budget.colocation", "budget.residual", "budget.licences",
    "budget.interest", "own_server.price",
)  # fmt: skip
"""Answers that are money or terms of a contract."""
MONEY_COLUMNS = ("unit_low", "unit_high", "date", "source", "confidence", "price")
ROWS = ("justification", "assumption", "warning", "conflict", "question", "dissent")
MONEY_RULES = ("money.", "choice.budget")
NOTE = "prices, costs and budget were taken out before this design was shared; a replay finds them again from the catalog's own prices"
_CURRENCY = r"(?:USD|EUR|GBP|CHF|JPY)"
AMOUNT = re.compile(
    rf"\d[\d,.]*\s*[kMBT]?\s?{_CURRENCY}\b|\b{_CURRENCY}\s?\d|\bprices?\b|\bbudget\b|\bcosts? \d",
    re.IGNORECASE,
)
"""What gives a text away as one on money."""


def write(considered: Considered, stream: TextIO) -> None:
    """Write the design file without money."""
    design = design_of(considered)
    meta = meta_of("shared design", considered.context.catalog, {"notes": NOTE})
    stream.write(tomli_w.dumps({"schema": SCHEMA_VERSION, "meta": meta, **without_money(design)}))


def without_money(design: Design) -> dict[str, Any]:
    """Return the tables of a design without anything on money; a size that a budget set stays as a fixed size."""
    tables = design.document()
    answers = _answers(design)
    tables["answers"], tables["provenance"] = answers.nested(), dict(sorted(answers.provenance.items()))
    tables["bom"] = [{key: value for key, value in row.items() if key not in MONEY_COLUMNS} for row in tables.get("bom", [])]
    for row in tables["bom"]:
        if AMOUNT.search(str(row.get("note", ""))):
            del row["note"]
    for name in ROWS:
        tables[name] = [_row(row) for row in tables.get(name, []) if not _is_money(row)]
    tables["alternative"] = [_alternative(row) for row in tables.get("alternative", []) if not str(row["candidate"]).startswith("rent-")]
    tables["rejected"] = [_row(row) for row in tables.get("rejected", []) if not _is_money(row)]
    tables["conflict_set"] = [row for row in tables.get("conflict_set", []) if not AMOUNT.search(str(row))]
    tables["reentry"] = [row for row in tables.get("reentry", []) if not AMOUNT.search(str(row))]
    tables["design"] = _clean(_sections(tables["design"]))
    return {name: value for name, value in tables.items() if value or name in ("answers", "design")}


def _answers(design: Design) -> Answers:
    """Return the answers without money; a size that the budget set becomes a number of nodes."""
    answers = design.answers
    if answers.text("scale.mode") == "budget" and design.figures is not None:
        answers = answers.without("scale.gpus").with_value("scale.mode", "fixed").with_value("scale.nodes", design.figures.nodes)
    for key in SECRET:
        answers = answers.without(key)
    return answers


def _sections(sections: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in sections.items() if name != "cost"}
    kept["summary"] = {name: value for name, value in kept["summary"].items() if not _names_money(name)}
    return kept


def _names_money(name: str) -> bool:
    return "usd" in name or name.startswith(("purchase", "ownership", "cost"))


def _is_money(row: dict[str, Any]) -> bool:
    """Return whether a row of reasons is on money, by its rule or its stage."""
    rule = str(row.get("rule", ""))
    return rule.startswith(MONEY_RULES) or (row.get("stage") == Stage.MONEY.value and not rule.startswith("choice."))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without numbers in money, and without the sentences that hold an amount."""
    kept = {name: value for name, value in row.items() if name != "numbers"}
    numbers = {name: value for name, value in row.get("numbers", {}).items() if not _names_money(name) and not AMOUNT.search(str(value))}
    return _clean(kept | ({"numbers": numbers} if numbers else {}))  # type: ignore[no-any-return]


def _alternative(row: dict[str, Any]) -> dict[str, Any]:
    figures = {name: value for name, value in row["figures"].items() if not _names_money(name)}
    return {name: value for name, value in row.items() if name != "because"} | {"figures": figures}


def _clean(value: Any) -> Any:
    """Return a value of the design without the keys, rows and sentences that tell an amount of money."""
    if isinstance(value, dict):
        return {name: _clean(inner) for name, inner in value.items() if not (name == "cost" and isinstance(inner, str))}
    if isinstance(value, list):
        return [_clean(each) for each in value if not (isinstance(each, str) and AMOUNT.search(each))]
    if isinstance(value, str) and AMOUNT.search(value):
        return sentences_without_money(value) or "taken out: it is about money"
    return value


def sentences_without_money(text: str) -> str:
    """Return a text without the sentences that tell an amount of money, "" where none is left."""
    kept = [sentence for sentence in re.split(r"(?<=[.;:])\s+", text) if not AMOUNT.search(sentence)]
    return re.sub(r"[;:](?= \[|$)", ".", " ".join(kept)).replace("A good answer: Why:", "Why:")
