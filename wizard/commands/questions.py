"""`cluster-wizard questions DESIGN.toml`: the questions for vendors, grouped by whom to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wizard.cli import GOOD, WRONG, add_catalog_option, add_json_option, narrate, open_catalog, print_json
from wizard.summary import addressee

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("design", metavar="DESIGN.toml", help="a design, or answers to make one from")
    parser.add_argument("--to", metavar="VENDOR", help="only the questions to this kind of vendor")
    add_catalog_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print the questions; returns 0."""
    rows = _questions(options)
    if options.to:
        kinds = sorted({row["to"] for row in rows})
        rows = [row for row in rows if options.to.lower() in row["to"].lower()]
        if not rows:
            narrate(f"cluster-wizard: no question goes to {options.to!r}; this design asks: {', '.join(kinds)}")
            return WRONG
    if options.json:
        print_json(rows)
        return GOOD
    for vendor in dict.fromkeys(row["to"] for row in rows):
        print(f"To {addressee(vendor)}\n")
        for number, row in enumerate((row for row in rows if row["to"] == vendor), start=1):
            print(f"{number}. {row['ask']}\n   A good answer: {row['good_answer']}")
            print(f"   Why: {row['why']} ({', '.join(row.get('guidance', []))})\n")
    return GOOD


def _questions(options: argparse.Namespace) -> list[dict[str, Any]]:
    from rules.advisor import advise
    from wizard.files import load
    from wizard.policies import under_policies

    loaded = load(options.design)
    if loaded.document is not None:
        return list(loaded.document.get("question", []))
    return list(advise(under_policies(loaded), open_catalog(options.catalog)).document().get("question", []))
