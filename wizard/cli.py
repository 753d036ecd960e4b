"""The commands' arguments, and what all commands share: catalog folders, errors as one message, JSON or text on stdout."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wizard import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD, NO, WRONG = 0, 1, 2
LONGEST_MESSAGE = 1000
HELP_COLUMN = 14
DEBUG = "CLUSTER_WIZARD_DEBUG"
FAULT = "a fault of the program"
NEEDS_ERROR = "cluster-wizard: the wizard draws on standard error, which must be the terminal too; start it without '2>'"
NEEDS_SCREEN = "cluster-wizard: the wizard needs a terminal whose cursor it can move, and TERM is {}; 'cluster-wizard plain' asks by lines"
NO_SCREEN = ("", "dumb", "unknown")
"""What TERM says where nothing but lines can be written: an editor's shell, a pipe, a log of a build."""
COMMANDS: dict[str, tuple[str, str]] = {
    "plain": ("wizard.commands.plain", "the same interview line by line, for screen readers and pipes"),
    "design": ("wizard.commands.design", "design without questions, from a file of answers"),
    "replay": ("wizard.commands.replay", "derive saved designs again and list what changed"),
    "diff": ("wizard.commands.diff", "two designs side by side: key figures, answers, reasons"),
    "fix": ("wizard.commands.fix", "apply the remedies of conflicts and show what changes"),
    "explain": ("wizard.commands.explain", "say how something in a design was concluded"),
    "export": ("wizard.commands.export", "write a design as a file for another tool"),
    "questions": ("wizard.commands.questions", "print a design's questions for vendors"),
    "report": ("wizard.commands.report", "what a buyer reads: reasons, parts, pictures, questions; Markdown or HTML"),
    "estimate": ("wizard.commands.estimate", "memory and step time of given training runs"),
    "validate": ("wizard.commands.validate", "how far the estimates are from measured runs"),
    "fabric": ("wizard.commands.fabric", "switches, links, cages and modules of given fabrics"),
    "params": ("wizard.commands.params", "parameters, FLOPs and memory of a model from its config.json"),
    "catalog": ("wizard.commands.catalog", "list, show or check products, models and prices"),
    "rules": ("wizard.commands.rules", "list, show or test the rules"),
}


class HelpFormatter(argparse.HelpFormatter):
    """Help whose second column leaves room for the names of commands, whose indentation argparse forgets to count."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = HELP_COLUMN


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and exit code 2."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options.setdefault("formatter_class", HelpFormatter)
        super().__init__(*arguments, **options)
        self._mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments of which options may stand anywhere between the others; commands of commands are left to their own parser."""
        if self._mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        """Print a message, if any, and exit; stderr that cannot be written to changes nothing."""
        if message:
            narrate(message.rstrip())
        raise SystemExit(status)

    def error(self, message: str) -> Any:
        """Print one message and exit with 2."""
        self.exit(WRONG, one_line(f"{self.prog}: {message}; '{self.prog} --help' shows how to call it") + "\n")


def build_parser(command: str | None = None) -> Parser:
    """Return the parser; only the named command's module is imported for its arguments."""
    parser = Parser(
        prog="cluster-wizard",
        usage="%(prog)s [FILE.toml]\n       %(prog)s COMMAND …\n       %(prog)s --help | --version",
        description="Designs GPU training clusters and says why. Without a command: the wizard, which opens or resumes FILE.toml.",
    )
    parser.add_argument("--version", action="version", version=f"cluster-wizard {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", prog="cluster-wizard", parser_class=Parser)
    for name, (module, text) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == command:
            import_module(module).add_arguments(sub)
    return parser


def add_catalog_option(parser: argparse.ArgumentParser) -> None:
    """Add --catalog, which may be given several times."""
    parser.add_argument("--catalog", action="append", default=[], metavar="DIR", help="a folder with further or replacing catalog files")


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """Add --config."""
    parser.add_argument("--config", metavar="FILE.toml", help="a config file instead of your own (theme, keys, units, currency, region)")


def add_policy_option(parser: argparse.ArgumentParser) -> None:
    """Add --policy, which may be given several times."""
    parser.add_argument("--policy", action="append", default=[], metavar="FILE.toml", help="a file of the site's own rules")


def add_json_option(parser: argparse._ActionsContainer) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(arguments: list[str]) -> int:
    """Run one command, or the wizard where none is named; returns the exit code."""
    command = next((word for word in arguments if not word.startswith("-")), None)
    helped = any(word in ("--help", "-h", "--version") for word in arguments)
    if command not in COMMANDS and (not helped or (command and _is_file_name(command))):
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
    parser.add_argument("file", nargs="?", metavar="FILE.toml", help="an answers or design file to open")
    add_catalog_option(parser)
    add_config_option(parser)
    known = ", ".join(COMMANDS)
    try:
        options, others = parser.parse_known_args(arguments)
        if options.file in COMMANDS:
            narrate(f"cluster-wizard: the command comes first: cluster-wizard {options.file} … {arguments[0]} …")
            return WRONG
        if options.file and not _is_file_name(options.file):
            narrate(
                one_line(f"cluster-wizard: {options.file!r} is neither a command ({known}) nor a TOML file{_nearest_command(options.file)}")
            )
            return WRONG
        if others:
            parser.error(f"unrecognized arguments: {' '.join(others)}")
    except SystemExit as stop:
        return int(stop.code or 0)
    elsewhere = [name for name, stream in _streams() if stream is None or not stream.isatty()]
    if elsewhere == ["standard error"]:
        narrate(NEEDS_ERROR)
        print(NEEDS_ERROR)  # the person looks at the terminal, not where standard error goes
        return WRONG
    if elsewhere:
        narrate(f"cluster-wizard: the wizard needs a terminal; without one use a command: {known}")
        return WRONG
    kind = os.environ.get("TERM", "")
    if os.name == "posix" and kind in NO_SCREEN:
        narrate(NEEDS_SCREEN.format(repr(kind) if kind else "not set"))
        return WRONG
    from wizard.tui.app import open_wizard

    return open_wizard(options.file, options.catalog, options.config)


def _streams() -> tuple[tuple[str, Any], ...]:
    return ("standard input", sys.stdin), ("standard output", sys.stdout), ("standard error", sys.stderr)


def _is_file_name(word: str) -> bool:
    try:
        return "." in word or "/" in word or os.sep in word or Path(word).exists()
    except (OSError, ValueError):  # longer than names can be, or with a null in it: no file is called that
        return False


def _nearest_command(word: str) -> str:
    import difflib

    near = difflib.get_close_matches(word.lower(), COMMANDS, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


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
        narrate(one_line(f"cluster-wizard: {error}"))
    except BrokenPipeError:
        raise
    except OSError as error:
        narrate(one_line(f"cluster-wizard: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"))
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        narrate(one_line(f"cluster-wizard: {FAULT}: {_place_of(error)}; please report it ({DEBUG}=1 shows more)"))
    return WRONG


def _place_of(error: BaseException) -> str:
    """Return what went wrong and in which line, for a report."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place, trace = f"{Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno}", trace.tb_next
    return f"{type(error).__name__}: {error} ({place})"


def one_line(text: str) -> str:
    """Return a message as one line of printable characters, cut where it is very long: input is repeated in it, and may hold anything."""
    text = text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else ascii(letter)[1:-1] for letter in text)


def narrate(text: str) -> None:
    """Print to stderr: what a person reads, not data. Where stderr cannot be written to, the answer still stands: nothing is raised."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: Any) -> None:
    """Let a stream write to nowhere from now on; else Python complains again at exit, with an exit code of its own."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_json(value: object) -> None:
    """Print one JSON document to stdout."""
    import json

    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def open_catalog(folders: list[str]) -> Any:
    """Return the catalog with the person's own folder and the given ones; raises CatalogError."""
    from catalogs import load_catalog
    from wizard.places import own_catalog_folders

    return load_catalog([*own_catalog_folders(), *folders])
