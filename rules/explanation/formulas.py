"""Formulas with their numbers: what a function computes by its own words, and short arithmetic filled in and checked."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
from importlib import import_module
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from rules.explanation.steps import Step, StepKind
from rules.origins import FUNCTIONS, NAME, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Numbers = dict[str, float | list[float]]
"""The value of each input of a piece of arithmetic, by how it is written."""
AGREES_WITHIN = 0.005
"""Facts are rounded; arithmetic over rounded inputs agrees with them within half a percent, or within ROUNDED."""
ROUNDED = 0.06
"""Percentages are rounded to a tenth where their estimates are no better."""
_SIGNS = {" * ": " × ", " - ": " − "}
_OPERATIONS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def formula_of(name: str) -> object:
    """Return the function or class with a dotted name; raises ImportError or AttributeError where there is none."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def first_sentence(name: str) -> str:
    """Return what a formula computes, by the first sentence of its docstring, without "Return"."""
    text = inspect.getdoc(formula_of(name)) or ""
    sentence = " ".join(text.split("\n\n")[0].split()).replace("`", "")
    found = re.match(r"(.+?[^.A-Z])\.(?= [A-Z]|$)", sentence)
    sentence = found.group(1) if found else sentence.rstrip(".")
    return sentence.removeprefix("Return ")


def sources_in(name: str) -> str:
    """Return the sources that a formula's docstring names, "" where it names none."""
    text = " ".join((inspect.getdoc(formula_of(name)) or "").split())
    found = re.search(r"Sources?: (.+?)(?:\.(?= [A-Z])|$)", text)
    source = found.group(1).replace("`", "").rstrip(".") if found else ""
    return "" if source.startswith("see ") else source


def formula_step(origin: Origin, shown: Mapping[str, str], numbers: Numbers, value: float | None, *, rounded: bool = False) -> Step:
    """Return the formula of an origin; `shown` and `numbers` are its inputs, `value` what came out (None where that is no number).

    `rounded` says that the value may be rounded to a tenth.
    """
    details: dict[str, str] = {}
    text, filled = "", ""
    if origin.formula:
        text = first_sentence(origin.formula)
        source = sources_in(origin.formula)
        details |= {"source": source} if source else {}
    if origin.arithmetic:
        details["written"] = origin.arithmetic
        filled = fill(origin.arithmetic, shown)
        found = evaluate(origin.arithmetic, numbers)
        if found is None:
            details["not applied"] = "an input is unknown, or it would divide by nothing"
        elif value is not None and not agrees(found, value, rounded=rounded):
            details["not applied"] = f"it would give {found:.6g}; {origin.note or 'another rule set the value'}"
    if origin.note:
        details["note"] = origin.note
    return Step(StepKind.FORMULA, origin.formula or "arithmetic", text, filled, details)


def fill(text: str, shown: Mapping[str, str]) -> str:
    """Return arithmetic with the numbers in place of the names: "79.65 GiB − 61.4 GiB"."""
    grouped = re.sub(r"\b(\d{7,})\b", lambda found: f"{int(found.group()):,}", text)
    for written, sign in _SIGNS.items():
        grouped = grouped.replace(written, sign)
    filled = NAME.sub(lambda found: found.group() if found.group() in FUNCTIONS else shown.get(found.group(), found.group()), grouped)
    return re.sub(r"^sum\(([^()]*)\)$", r"\1", filled)


def agrees(found: float, value: float, *, rounded: bool = False) -> bool:
    """Return whether arithmetic gives the value that was stated, within rounding."""
    return math.isclose(found, value, rel_tol=AGREES_WITHIN, abs_tol=ROUNDED if rounded else 0.0)


def evaluate(text: str, numbers: Numbers) -> float | None:
    """Return the value of a piece of arithmetic, None where an input is missing or it divides by nothing.

    Numbers, names, + - * /, parentheses and FUNCTIONS are understood, nothing else; raises ValueError for other text.
    """
    names: Numbers = {}

    def stand_in(found: re.Match[str]) -> str:
        written = found.group()
        if written in FUNCTIONS:
            return written
        key = f"v{len(names)}"
        names[key] = numbers[written]
        return key

    try:
        return _value(ast.parse(NAME.sub(stand_in, text), mode="eval").body, names)
    except (KeyError, ZeroDivisionError):
        return None


def _value(node: ast.AST, names: Numbers) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name):
        found = names[node.id]
        return found if isinstance(found, float) else plain_sum(found)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        values = [_value(each, names) for each in node.args]
        return _FUNCTIONS[node.func.id](values)
    raise ValueError(f"arithmetic understands numbers, names, + - * / and {', '.join(FUNCTIONS)}, not {ast.dump(node)}")


def _ceil(values: list[float]) -> float:
    return float(math.ceil(values[0] - WHOLE_WITHIN))


def _floor(values: list[float]) -> float:
    return float(math.floor(values[0] + WHOLE_WITHIN))


WHOLE_WITHIN = 1e-9
"""A quotient so near to a whole number is taken as whole."""
_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {"max": max, "min": min, "sum": sum, "ceil": _ceil, "floor": _floor}
