"""`cluster-wizard diff A.toml B.toml`: two designs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wizard.cli import GOOD, NO, add_catalog_option, add_json_option, add_policy_option, open_catalog, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from catalogs import Catalog


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("before", metavar="A.toml", help="a design as it was saved, or a file of answers, which is designed first")
    parser.add_argument("after", metavar="B.toml", help="the design that it is compared with")
    add_catalog_option(parser)
    add_policy_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print key figures, changed answers and changed reasons; returns 1 where the designs differ."""
    from rules.comparison.compare import compare_designs
    from rules.comparison.text import comparison_lines

    catalog: list[Catalog] = []

    def opened() -> Catalog:
        """Open the catalog when the first file of answers needs it; saved designs need none."""
        if not catalog:
            catalog.append(open_catalog(options.catalog))
        return catalog[0]

    comparison = compare_designs(*(_document(path, opened, options.policy) for path in (options.before, options.after)))
    if options.json:
        print_json({"a": options.before, "b": options.after, **comparison.document()})
    else:
        print("\n".join(comparison_lines(comparison, _names(options.before, options.after))))
    return NO if comparison.differs else GOOD


def _document(path: str, opened: Callable[[], Catalog], policies: list[str]) -> Mapping[str, Any]:
    """Return the tables of a saved design as they stand in the file, or those of the design that follows from answers."""
    from wizard.files import FileError, load

    loaded = load(path)
    if loaded.document is not None:
        return loaded.document
    from rules.advisor import advise
    from rules.answers import AnswerError
    from wizard.policies import under_policies

    try:
        return advise(under_policies(loaded, policies), opened()).document()
    except AnswerError as error:
        raise FileError(path, str(error)) from None


def _names(before: str, after: str) -> tuple[str, str]:
    """Return what the two files are called in the columns: their names, with their folders where the names are the same."""
    names = (Path(before).stem, Path(after).stem)
    return names if names[0] != names[1] else (before, after)
