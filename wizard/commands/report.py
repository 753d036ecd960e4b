"""`cluster-wizard report DESIGN.toml -o FILE`: what a buyer reads, as Markdown or as a page that prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_config_option, narrate, one_line, open_catalog

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from wizard.report.blocks import Block

PAGES = (".html", ".htm")
SUFFIXES = (".md", ".markdown", *PAGES)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("design", metavar="DESIGN.toml", help="a design, or a file of answers")
    parser.add_argument("-o", "--output", metavar="FILE", help=".md for Markdown, .html for a page; without it, Markdown here")
    parser.add_argument("--no-pictures", action="store_true", help="leave the pictures out")
    parser.add_argument("--without-prices", action="store_true", help="leave out every price, cost and budget, to show it to others")
    add_catalog_option(parser)
    add_config_option(parser)


def run(options: argparse.Namespace) -> int:
    """Write the report; returns 0, or 1 where the design has conflicts."""
    from rules.advisor import consider
    from rules.assembly import assemble
    from rules.conflicts import with_conflict_sets
    from wizard.config import load_config, region_note
    from wizard.files import is_standard_output, load, write_atomically
    from wizard.policies import under_policies
    from wizard.preferences import use
    from wizard.report.contents import contents
    from wizard.report.without_money import without_money
    from wizard.versions import is_shared, meta_of

    suffix = Path(options.output).suffix.lower() if options.output else ".md"
    if suffix not in SUFFIXES and not is_standard_output(options.output):
        narrate(f"cluster-wizard: -o: expected a name that ends in .md or .html, got {options.output!r}")
        return WRONG
    config = load_config(options.config)
    use(config.preferences)
    loaded = load(options.design)
    catalog = open_catalog(options.catalog)
    if note := region_note(config, catalog):
        narrate(one_line(f"cluster-wizard: {note}"))
    considered = consider(under_policies(loaded), catalog)
    design = assemble(considered.context, considered.judged, considered.ranking, considered.rejected)
    design = with_conflict_sets(design, catalog)
    name = str(loaded.meta.get("name") or (loaded.path.stem if loaded.path else "design"))
    blocks = contents(design, None if options.no_pictures else considered, meta_of(name, catalog, loaded.meta))
    if options.without_prices or is_shared(loaded.meta):
        blocks = without_money(blocks)
    text = report_text(blocks, suffix)
    if options.output:
        write_atomically(options.output, text)
        narrate(f"wrote {options.output}")
    else:
        print(text, end="")
    return GOOD if design.fits else NO


def report_text(blocks: Sequence[Block], suffix: str) -> str:
    """Return a report in the form that a file's suffix asks for."""
    from wizard.report.markdown import markdown
    from wizard.report.page import page

    return page(blocks) if suffix in PAGES else markdown(blocks)
