"""Workers of the wizard are described in words: the library would else write out all their arguments, on the screen's thread."""

from __future__ import annotations

import ast
from pathlib import Path

import wizard.tui

FOLDER = Path(wizard.tui.__file__).parent


def _decorators() -> dict[str, ast.Call]:
    """Return every use of the library's decorator for workers, by the function that it is on."""
    found = {}
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for each in node.decorator_list:
                    if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "in_worker":
                        found[f"{path.name}:{node.name}"] = each
    return found


def test_each_worker_is_described_in_words() -> None:
    """Writing out a work in hand with its design takes longer than designing: 200 ms of 360 from the last key to the design."""
    decorators = _decorators()
    assert "engine_app.py:_evaluate" in decorators
    assert [name for name, call in decorators.items() if not any(word.arg == "description" for word in call.keywords)] == []
