"""`cluster-wizard fix DESIGN.toml [FINDING]`: apply remedies or take them back, and show findings and figures before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.counting import counted
from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_json_option, add_policy_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse

    from catalogs import Catalog
    from rules.answers import Answers
    from rules.remedies import Mended
    from wizard.files import Loaded

WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("design", metavar="DESIGN.toml", help="a design, or a file of answers")
    parser.add_argument("finding", nargs="?", metavar="FINDING", help="the rule whose finding shall go; without it, every conflict")
    parser.add_argument("-o", "--output", metavar="OUT.toml", help="write the design with the changed answers")
    parser.add_argument("--key", default="", metavar="KEY", help="only remedies that change this answer")
    parser.add_argument("--warnings", action="store_true", help="without FINDING: the warnings too")
    parser.add_argument("--trade", action="store_true", help="keep a remedy even where it brings a conflict that is as bad")
    parser.add_argument("--undo", action="store_true", help="take back the last fix that DESIGN.toml keeps in its history")
    add_catalog_option(parser)
    add_policy_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Apply remedies, or take them back; returns 1 where conflicts are left, 2 where the design has no such finding."""
    from rules.answers import field_of
    from rules.remedies import NoSuchFindingError, mend
    from wizard.files import load
    from wizard.mending import mended_lines
    from wizard.policies import under_policies

    if options.key:
        field_of(options.key)
    if options.output is not None and not options.output.strip():
        narrate("cluster-wizard: -o: expected the name of a file")
        return WRONG
    if options.undo and (options.finding or options.key or options.warnings or options.trade):
        narrate("cluster-wizard: --undo takes back a whole fix; call it with DESIGN.toml and -o alone")
        return WRONG
    loaded = load(options.design)
    if options.undo:
        return _undo(options, loaded)
    catalog = open_catalog(options.catalog)
    try:
        mended = mend(
            under_policies(loaded, options.policy),
            catalog,
            options.finding,
            warnings=options.warnings,
            trade=options.trade,
            key=options.key,
        )
    except NoSuchFindingError as error:
        narrate(f"cluster-wizard: {options.design}: {error}")
        return WRONG
    if options.json:
        print_json({"file": options.design, "fits": mended.after.fits, **mended.document()})
    else:
        for line in mended_lines(mended, WIDTH):
            print(line)
    if options.output is not None:
        _write(options.output, mended, loaded, catalog)
    _narrate(mended, options.output)
    return GOOD if mended.after.fits else NO


def _write(output: str, mended: Mended, loaded: Loaded, catalog: Catalog) -> None:
    from wizard.files import design_tables
    from wizard.keeping import history_entry, saved_tables, text_of
    from wizard.undoing import kept_for_undo

    meta = _meta(loaded, catalog)
    tables = saved_tables(mended.after, meta, catalog, loaded.document)
    if mended.applied:
        causes = [f"fix of {each.finding}: {each.key} = {each.before or 'not answered'} → {each.after}" for each in mended.applied]
        replaced = loaded.document if loaded.document is not None else design_tables(mended.before, meta)
        entry = history_entry(replaced, tables, causes) | {"undo": kept_for_undo(mended)}
        tables["history"] = [*tables.get("history", []), entry]
    _put(output, text_of(tables))


def _meta(loaded: Loaded, catalog: Catalog) -> dict[str, Any]:
    from wizard.versions import meta_of

    return meta_of(str(loaded.meta.get("name") or (loaded.path.stem if loaded.path else "design")), catalog, loaded.meta)


def _put(output: str, text: str) -> None:
    from wizard.files import write_atomically

    write_atomically(output, text)


def _undo(options: argparse.Namespace, loaded: Loaded) -> int:
    """Take back the last fix; returns 1 where the design has conflicts then."""
    from rules.advisor import advise
    from rules.comparison.compare import compare_designs
    from rules.comparison.text import comparison_lines
    from wizard.keeping import saved_tables, text_of
    from wizard.policies import under_policies
    from wizard.undoing import undo, without_entry

    now = under_policies(loaded, options.policy)
    undone = undo(options.design, now, loaded.document)
    catalog = open_catalog(options.catalog)
    after = advise(undone.answers, catalog)
    comparison = compare_designs(advise(now, catalog).document(), after.document())
    rows = [{"key": key, "before": _told(now, key), "after": _told(undone.answers, key)} for key in undone.keys]
    if options.json:
        changed = {"applied": [], "left": [], "undone": rows, "comparison": comparison.document()}
        print_json({"file": options.design, "fits": after.fits, **changed})
    else:
        for cause in undone.causes:
            print(f"undid {cause}")
        for row in rows:
            print(f"    {row['key']} = {row['before'] or 'not answered'} → {row['after'] or 'not answered'}")
        print("\n".join(["", *comparison_lines(comparison, width=WIDTH)]))
    if options.output is not None:
        _put(options.output, text_of(saved_tables(after, _meta(loaded, catalog), catalog, without_entry(loaded.document, undone))))
        narrate(f"wrote {options.output}")
    else:
        narrate("nothing was written; -o OUT.toml keeps the earlier answers")
    return GOOD if after.fits else NO


def _told(answers: Answers, key: str) -> str:
    return answers.text(key) if key in answers.values else ""


def _narrate(mended: Mended, output: str | None) -> None:
    conflicts = len(mended.after.conflicts)
    narrate(f"{counted(len(mended.applied), 'remedy', 'remedies')} applied, {counted(conflicts, 'conflict')} left")
    if conflicts:
        narrate("'cluster-wizard explain DESIGN.toml conflicts' names the answers that cannot hold together, and what would help")
    if output is not None:
        narrate(f"wrote {output}" + ("; 'fix --undo' takes it back" if mended.applied else ""))
    elif mended.applied:
        narrate("nothing was written; -o OUT.toml keeps the changed answers")
