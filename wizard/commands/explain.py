"""`cluster-wizard explain DESIGN.toml [WHAT]`: how something was concluded, down to answers and catalog values; why, why not, what if."""

from __future__ import annotations

import contextlib
import io
import textwrap
from typing import TYPE_CHECKING, Any

from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_json_option, add_policy_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from catalogs import Catalog
    from rules.advisor import Considered
    from rules.explain import Explanation, Subject
    from wizard.files import Loaded

WIDTH = 100
KIND_WIDTH, NAME_WIDTH = 11, 32
PLANS = "plans"
"""The name under which all parallel plans are listed, searched exhaustively."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("design", metavar="DESIGN.toml", help="a design, or a file of answers")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WHAT",
        help=f"a decision, a rule, a key of the design, a fact or an answer; '{PLANS}': all parallel plans; 'why KEY': what rests on an "
        "answer; 'why-not X': a GPU, server, vendor, fabric, cooling, plan, kind of storage, precision, renting or KEY=VALUE; "
        "'what-if KEY=VALUE…'; 'conflicts'; 'uncertain': what could "
        "change the choice; without it, the list of what can be explained",
    )
    add_catalog_option(parser)
    add_policy_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """List what can be explained, or explain one thing; returns 2 where nothing has that name.

    Of a design that was shared without prices nothing on money is told; returns 1 where that is all there is.
    """
    from wizard.files import load
    from wizard.versions import is_shared

    loaded = load(options.design)
    if not is_shared(loaded.meta):
        return _run(options, loaded)
    from wizard.commands.explain_verbs import VERBS
    from wizard.exports.shared import WITHHELD, without_amounts

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = _run(options, loaded)
    one_thing = bool(options.words) and options.words[0] not in VERBS
    told = without_amounts(printed.getvalue(), as_json=options.json, one_thing=one_thing) if printed.getvalue() else ""
    if printed.getvalue() and not told:
        narrate(f"cluster-wizard: {options.design}: {WITHHELD}")
        return NO
    print(told, end="")
    return code


def _run(options: argparse.Namespace, loaded: Loaded) -> int:
    from rules.advisor import consider
    from rules.answer_fields import FIELDS
    from rules.explain import NothingToExplainError, explain, ground_of, subjects
    from wizard.commands.explain_verbs import VERBS
    from wizard.policies import under_policies

    verb, *words = options.words or [""]
    if words and verb not in VERBS and verb != "how":
        narrate(f"cluster-wizard: explain: {verb!r} is none of how, {', '.join(VERBS)}; one thing is explained at a time")
        return WRONG
    if verb == "why" and words and not any(each.key == words[0] for each in FIELDS):
        verb, words = "how", [" ".join(words)]  # of anything but an answer, why it is so is how it was concluded
    what = words[0] if verb == "how" and words else verb
    catalog = open_catalog(options.catalog)
    considered = consider(under_policies(loaded, options.policy), catalog)
    if verb in VERBS:
        return VERBS[verb](considered, words, as_json=options.json)
    ground = ground_of(considered)
    stale = _stale(loaded, catalog, ground.design.document())
    if what == PLANS:
        return _plans(considered, ground.design.name, stale, as_json=options.json)
    if not what:
        _list(subjects(ground), ground.design.name, stale, as_json=options.json)
        return GOOD
    try:
        explanation = explain(ground, what)
    except NothingToExplainError as error:
        narrate(f"cluster-wizard: {options.design}: {error}; without a name, 'explain' lists what there is")
        return WRONG
    _print(explanation, stale, as_json=options.json)
    return GOOD


def _plans(considered: Considered, name: str, notes: list[str], *, as_json: bool) -> int:
    """Print every parallel plan of the design's GPUs; returns 2 where none is chosen."""
    from wizard.plan_list import DATA_PARALLEL, document_of, lines_of, only_plan, report_of

    report = report_of(considered)
    if report == DATA_PARALLEL:
        document, lines = only_plan(considered, name)
        print_json(document | {"notes": notes}) if as_json else print("\n".join(lines))
        return GOOD
    if isinstance(report, str):
        narrate(f"cluster-wizard: {name or 'no candidate'}: {report}")
        return WRONG
    precision = considered.context.workload.precision
    if as_json:
        print_json(document_of(report, name, precision) | {"notes": notes})
        return GOOD
    for note in notes:
        narrate(f"note: {note}")
    for line in lines_of(report, name, precision):
        print(line)
    return GOOD


_SAVED_UNDER = {"catalog_hash": "catalog", "rules_hash": "rules and formulas", "tool_version": "tool"}
"""Keys of the meta table whose change means that a design may come out otherwise, in words."""


def _stale(loaded: Loaded, catalog: Catalog, now: Mapping[str, Any]) -> list[str]:
    """Return what differs from when a design was saved: catalog, rules or tool, and whether its choice is another now."""
    from wizard.versions import meta_of

    if loaded.document is None:
        return []
    meta = meta_of("", catalog)
    changed = [words for key, words in _SAVED_UNDER.items() if loaded.meta.get(key) != meta[key]]
    if not changed:
        return []
    notes = [f"the file was saved under other {', '.join(changed)}; it was derived again and is explained as it comes out now"]
    before, after = (each.get("design", {}).get("summary", {}) for each in (loaded.document, now))
    if isinstance(before, dict) and before.get("name") != after.get("name"):
        notes.append(f"the file has {before.get('name', 'no candidate')}; now it is {after.get('name', 'no candidate')}")
    return notes


def _list(rows: list[Subject], name: str, notes: list[str], *, as_json: bool) -> None:
    """Print what can be explained, stage by stage."""
    if as_json:
        print_json({"candidate": name, "notes": notes, "subjects": [vars(each) for each in rows]})
        return
    for note in notes:
        narrate(f"note: {note}")
    width = min(max((len(each.what) for each in rows), default=0), NAME_WIDTH) + 2
    for stage in dict.fromkeys(each.stage for each in rows):
        print(f"\n{stage}" if stage != rows[0].stage else stage)
        for each in (row for row in rows if row.stage == stage):
            head = f"  {each.kind:<{KIND_WIDTH}}{each.what:<{width}}"
            print(head + textwrap.shorten(each.value, max(20, WIDTH - len(head)), placeholder=" …"))
    narrate(f"{len(rows)} conclusions and values of {name or 'no candidate'}; every fact that an explanation names can be explained too")


def _print(explanation: Explanation, notes: list[str], *, as_json: bool) -> None:
    """Print one explanation as JSON or as an indented tree."""
    if as_json:
        document = explanation.document()
        print_json(document | {"notes": [*notes, *document["notes"]]})
        return
    from rules.explanation.text import lines_of

    for note in notes:
        narrate(f"note: {note}")
    for line in lines_of(explanation, WIDTH):
        print(line)
