"""README is true: its commands print what it shows, its counts are those of the catalog, its commands are those that exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from catalogs import load_catalog
from wizard.cli import COMMANDS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_commands_print_what_readme_shows():
    spec = importlib.util.spec_from_file_location("readme", ROOT / "docs" / "readme.py")
    readme = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(readme)
    shown, now = (re.findall(r"```console\n(.*?)```", text, re.DOTALL) for text in (TEXT, readme.filled(TEXT)))
    assert len(shown) >= 7
    assert shown == now


def test_counts():
    catalog = load_catalog()
    shown = re.search(r"(\d+) GPUs, (\d+) servers and racks, (\d+) switches, (\d+) models, (\d+) thresholds", TEXT)
    counts = [len(shelf) for shelf in (catalog.gpus, catalog.nodes, catalog.switches, catalog.models, catalog.thresholds)]
    assert [int(number) for number in shown.groups()] == counts


def test_every_command_is_named_and_exists():
    named = set(re.findall(r"^\| `cluster-wizard (\w+)", TEXT, re.MULTILINE))
    assert named == set(COMMANDS)


def test_files_that_it_names_exist():
    for name in re.findall(r"\]\((docs/[^)]+)\)", TEXT):
        assert (ROOT / name).is_file(), name
