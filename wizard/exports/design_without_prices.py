"""A design to show to others: everything but money. No price, cost, budget, rate or contract of the person's is left in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TextIO

import tomli_w

from rules.counting import counted
from rules.design import SCHEMA_VERSION
from rules.findings import Stage
from wizard.exports.parts import design_of
from wizard.versions import SHARED, meta_of

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
MONEY_FIELD = re.compile(r"usd|purchase|ownership|crossing|\b(?:cost|money|budget)\b[._]", re.IGNORECASE)
"""Names of fields and sections that hold amounts or shares that follow from them."""
ROWS = ("justification", "assumption", "warning", "conflict", "question", "dissent")
MONEY_RULES = ("money.", "choice.budget")
CURRENCIES = (
    "USD|EUR|GBP|CHF|JPY|CNY|INR|KRW|TWD|HKD|SGD|AUD|NZD|CAD|MXN|BRL|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|RUB|UAH|TRY|ILS|AED|SAR|QAR|ZAR|"
    "THB|MYR|IDR|PHP|VND|PKR|BDT|LKR|KZT|EGP|NGN|KES|MAD|CLP|COP|ARS|PEN"
)
"""Codes of ISO 4217 that amounts may be written in: those of the countries with a price of electricity, and of large economies."""
AMOUNT = re.compile(
    rf"(?i:\d[\d,.]*\s*(?:[kMBT]|thousand|million|billion)?\s?)(?:{CURRENCIES})\b|\b(?:{CURRENCIES})\s?\d|[€£$₹¥]\s?\d|\d\s?[€£₹]"
    r"|(?i:\bprices?\b|\bbudget\b|\bcosts? \d|\b(?:cheaper|dearer)\b)"
)
"""What gives a text away as one on money."""


def write(considered: Considered, stream: TextIO) -> None:
    """Write the design file without money."""
    design = design_of(considered)
    meta = meta_of("shared design", considered.context.catalog) | {"notes": SHARED}
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
    for row in tables["justification"]:
        if row.get("rule") == "choice.objective":
            row["because"] = _nearest(row["because"], len(tables["conflict"]))
    tables["alternative"] = [_alternative(row) for row in tables.get("alternative", []) if not str(row["candidate"]).startswith("rent-")]
    tables["rejected"] = [_row(row) for row in tables.get("rejected", []) if not _is_money(row)]
    tables["policy"] = [row for row in tables.get("policy", []) if not _is_money(row) and not _tells_money(row)]
    tables["conflict_set"] = [row for row in tables.get("conflict_set", []) if not AMOUNT.search(str(row))]
    tables["reentry"] = [row for row in tables.get("reentry", []) if not AMOUNT.search(str(row))]
    tables["design"] = _clean(_sections(tables["design"]))
    tables["design"]["summary"]["fits"] = not tables["conflict"]
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


def _tells_money(row: dict[str, Any]) -> bool:
    return bool(AMOUNT.search(str(row)) or MONEY_FIELD.search(str(row)))


def _is_money(row: dict[str, Any]) -> bool:
    """Return whether a row of reasons is on money, by its rule or its stage."""
    rule = str(row.get("rule", ""))
    return rule.startswith(MONEY_RULES) or (row.get("stage") == Stage.MONEY.value and not rule.startswith("choice."))


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without numbers in money, and without the sentences that hold an amount."""
    kept = {name: value for name, value in row.items() if name != "numbers"}
    numbers = {name: value for name, value in row.get("numbers", {}).items() if not _names_money(name) and not AMOUNT.search(str(value))}
    return _clean(kept | ({"numbers": numbers} if numbers else {}))  # type: ignore[no-any-return]


def _nearest(text: str, conflicts: int) -> str:
    """Return why the candidate was chosen, with the conflicts that are left."""
    told = (
        f"no candidate meets every answer; this one comes nearest, with {counted(conflicts, 'conflict')}"
        if conflicts
        else "it was preferred"
    )
    return re.sub(r"no candidate meets every answer; this one comes nearest, with \d+ conflicts?", told, text)


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
