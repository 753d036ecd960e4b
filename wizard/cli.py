"""The commands' arguments, and what all commands share: catalog folders, errors as one message, JSON or text on stdout."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wizard import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD, NO, WRONG = 0, 1, 2
COMMANDS: dict[str, tuple[str, str]] = {
    "design": ("wizard.commands.design", "design without questions, from a file of answers"),
    "replay": ("wizard.commands.replay", "derive saved designs again and list what changed"),
    "questions": ("wizard.commands.questions", "print a design's questions for vendors"),
    "catalog": ("wizard.commands.catalog", "list, show or check products, models and prices"),
    "rules": ("wizard.commands.rules", "list, show or test the rules"),
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and exit code 2."""

    def error(self, message: str) -> Any:
        """Print one message and exit with 2."""
        self.exit(WRONG, f"{self.prog}: {message}; '{self.prog} --help' shows how to call it\n")


def build_parser(command: str | None = None) -> Parser:
    """Return the parser; only the named command's module is imported for its arguments."""
    parser = Parser(prog="cluster-wizard", description="Designs GPU training clusters and says why. Without a command: the wizard.")
    parser.add_argument("--version", action="version", version=f"cluster-wizard {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, (module, text) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == command:
            import_module(module).add_arguments(sub)
    return parser


def add_catalog_option(parser: argparse.ArgumentParser) -> None:
    """Add --catalog, which may be given several times."""
    parser.add_argument("--catalog", action="append", default=[], metavar="DIR", help="a folder with further or replacing catalog files")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(arguments: list[str]) -> int:
    """Run one command, or the wizard where none is named; returns the exit code."""
    command = next((word for word in arguments if not word.startswith("-")), None)
    if command not in COMMANDS and not any(word in ("--help", "-h", "--version") for word in arguments):
        return guarded(lambda: _wizard(arguments))
    parser = build_parser(command)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    if options.command is None:
        return guarded(lambda: _wizard(arguments))
    module = import_module(COMMANDS[options.command][0])
    return guarded(lambda: module.run(options))


def _wizard(arguments: list[str]) -> int:
    parser = Parser(prog="cluster-wizard", description="The wizard; opens or resumes FILE.")
    parser.add_argument("file", nargs="?", help="an answers or design file to open")
    add_catalog_option(parser)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    known = ", ".join(COMMANDS)
    if options.file and "." not in options.file and "/" not in options.file:
        narrate(f"cluster-wizard: {options.file!r} is neither a command ({known}) nor a TOML file")
        return WRONG
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        narrate(f"cluster-wizard: the wizard needs a terminal; without one use a command: {known}")
        return WRONG
    from wizard.tui.app import open_wizard

    return open_wizard(options.file, options.catalog)


def guarded(action: Callable[[], int]) -> int:
    """Run a command; an expected error becomes one message on stderr and exit code 2."""
    from catalogs import CatalogError
    from catalogs.quantities import QuantityError
    from rules.answers import AnswerError
    from rules.engine import EngineUnavailable
    from wizard.files import FileError

    try:
        return action()
    except (FileError, AnswerError, CatalogError, QuantityError, EngineUnavailable) as error:
        narrate(f"cluster-wizard: {error}")
        return WRONG


def narrate(text: str) -> None:
    """Print to stderr: what a person reads, not data."""
    print(text, file=sys.stderr)


def print_json(value: object) -> None:
    """Print one JSON document to stdout."""
    import json

    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def open_catalog(folders: list[str]) -> Any:
    """Return the catalog with the person's own folder and the given ones; raises CatalogError."""
    from catalogs import load_catalog
    from wizard.places import own_catalog_folders

    return load_catalog([*own_catalog_folders(), *folders])
