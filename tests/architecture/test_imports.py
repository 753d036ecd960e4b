"""What may import what: the headless parts stay headless, slow packages wait until they are needed, files stay readable."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("catalogs", "rules", "wizard")
ORDER = {"catalogs": 0, "rules": 1, "wizard": 2, "wizard.tui": 3}
MOST_LINES = 400
ARRAYS = "rules/sizing/plan_arrays/"
"""The exhaustive plan search, which is imported where it is asked for."""
DURABLE_MAY_BE_IMPORTED_IN = {"rules/engine.py", "rules/compile.py"}
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def layer_of(module: str) -> int | None:
    for name in ("wizard.tui", *PACKAGES):
        if module == name or module.startswith(f"{name}."):
            return ORDER[name]
    return None


def imports_of(path: Path, *, at_top_only: bool = False) -> set[str]:
    """The modules that a file names in import statements; with `at_top_only` those that run when it is imported."""
    found = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: a relative import"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        later = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if not (at_top_only and (typing_only or later)):
            for inner in ast.iter_child_nodes(node):
                visit(inner)

    visit(ast.parse(path.read_text("utf-8")))
    return found


def uses(modules: set[str], package: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for module in modules)


def loaded_after(code: str, *packages: str) -> list[str]:
    """Return which of the packages are loaded in a fresh process after some code."""
    probe = f"{code}\nimport sys\nprint(*[name for name in {packages!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1].split() if done.stdout.strip() else []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_dependencies_point_down(path):
    own = layer_of(name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    for module in imports_of(path):
        layer = layer_of(module)
        # the command without a name opens the screens: the one place where the way leads up, inside a function
        if (name_of(path), module.startswith("wizard.tui")) == ("wizard/cli.py", True):
            assert not uses(imports_of(path, at_top_only=True), "wizard.tui")
            continue
        assert layer is None or layer <= own, f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_outside_packages_are_used_where_they_belong(path):
    name, modules = name_of(path), imports_of(path)
    running = imports_of(path, at_top_only=True)
    if not name.startswith("wizard/tui/"):
        assert not uses(modules, "textual"), f"{name} imports textual"
    if name not in DURABLE_MAY_BE_IMPORTED_IN:
        assert not uses(modules, "durable"), f"{name} imports durable"
        assert not uses(modules, "durable_rules_engine"), f"{name} imports durable's extension"
    assert not uses(running, "pint"), f"{name} imports pint when it is imported"
    if not name.startswith(ARRAYS):
        assert not uses(running, "numpy"), f"{name} imports numpy when it is imported"
    assert not uses(running, "jsonschema"), f"{name} imports jsonschema when it is imported"
    if name.startswith("rules/"):
        for module in ("os", "time", "datetime", "random", "subprocess", "socket", "sys"):
            assert not uses(modules, module), f"{name} imports {module}; the rules are pure"


def test_one_registry_of_units():
    makers = [name_of(path) for path in SOURCES if "UnitRegistry(" in path.read_text("utf-8")]
    assert makers == ["catalogs/quantities.py"]


@pytest.mark.parametrize(
    "module", ["wizard.cli", "wizard.replay", "wizard.session", "wizard.files", "wizard.interview", "rules.advisor", "catalogs"]
)
def test_headless_modules_load_neither_screens_nor_the_engine(module):
    assert loaded_after(f"import {module}", "textual", "durable", "durable_rules_engine", "pint", "jsonschema") == []


def test_the_program_starts_without_any_package():
    assert (
        loaded_after(
            "import wizard.__main__, wizard.cli", "textual", "durable", "pint", "pydantic", "jsonschema", "tomli_w", "rules", "catalogs"
        )
        == []
    )


def test_the_wizard_starts_without_engine_and_units():
    assert loaded_after("import wizard.tui.app", "durable", "durable_rules_engine", "pint", "jsonschema") == []


def test_units_do_not_load_arrays():
    """pint would load NumPy, which takes as long again as pint itself, for quantities of arrays, which there are none."""
    assert loaded_after("from catalogs.quantities import quantity; quantity(1, 's')", "pint", "numpy") == ["pint"]
    assert loaded_after("from catalogs.quantities import quantity; quantity(1, 's'); import numpy; numpy.zeros(1)", "numpy") == ["numpy"]


def test_a_design_never_loads_the_screens():
    code = (
        "from wizard.__main__ import main\n"
        "assert main(['design', '--set', 'scale.nodes=1', '--set', 'preferences.nodes=nvidia-dgx-h100', '-o', '/dev/null']) in (0, 1)"
    )
    assert loaded_after(code, "textual", "rich", "numpy", "durable") == ["durable"]


def test_importing_reads_no_toml_and_makes_no_registry():
    code = (
        "import tomllib, sys\n"
        "def refuse(*_, **__): raise AssertionError('TOML is read at import')\n"
        "tomllib.load = tomllib.loads = refuse\n"
        "import pkgutil, importlib, catalogs, rules, wizard\n"
        "for package in (catalogs, rules, wizard):\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not found.name.endswith('__main__'):\n"
        "            importlib.import_module(found.name)\n"
    )
    assert loaded_after(code, "pint") == []


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=name_of)
def test_files_stay_short(path):
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= MOST_LINES, f"{name_of(path)} has {lines} lines"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_files_say_what_they_are(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), f"{name_of(path)} has no docstring"
