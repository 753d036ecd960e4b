"""Singular and plural: one place decides, and no sentence leaves it to the reader as "GPU(s)"."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from rules.cases import all_rules
from rules.counting import counted

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("catalogs", "rules", "wizard") for path in sorted((ROOT / package).rglob("*.py"))]
LEFT_OPEN = re.compile(r"\w\((s|es)\)")
FILLED_IN = re.compile(r"\{\w+\} (?:[\w-]+ )?[\w-]+\(e?s\)")
"""How a template of a rule writes it: the number stands before the word, so that the word follows it when it is filled in."""


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (1, ("rack",), "1 rack"),
        (0, ("rack",), "0 racks"),
        (1024, ("rack",), "1,024 racks"),
        (2, ("storage box", "storage boxes"), "2 storage boxes"),
        (1, ("node is", "nodes are"), "1 node is"),
    ],
)
def test_a_word_follows_its_number(number, words, told):
    assert counted(number, *words) == told


def _texts(tree):
    """Yield the texts of a module that are no docstrings."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    yield from (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    )


def test_no_sentence_outside_the_templates_of_rules_leaves_the_number_open():
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in SOURCES
        if "guidance" not in path.parts and path.name != "render.py"
        for text in _texts(ast.parse(path.read_text(encoding="utf-8")))
        if LEFT_OPEN.search(text) and r"\(" not in text
    ]
    assert found == []


def test_every_template_of_a_rule_gives_the_word_its_number():
    templates = [
        (id_, text)
        for id_, rule in all_rules().items()
        for text in (rule.because, *(rule.decides or ()), *(vars(rule.ask).values() if rule.ask else ()), *(fix.text for fix in rule.fix))
        if isinstance(text, str)
    ]
    assert len(templates) > len(all_rules())
    assert [(id_, text) for id_, text in templates if LEFT_OPEN.search(FILLED_IN.sub("", text))] == []


def test_nothing_else_makes_a_plural_by_hand():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        if path.name not in ("counting.py", "render.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.IfExp) and "s" in [each.value for each in (node.body, node.orelse) if isinstance(each, ast.Constant)]
    ]
    assert found == []
