"""`cluster-wizard rules list|show|fields|test`: look at the rules and run regression cases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rules.counting import counted
from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_json_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse

    from catalogs import Catalog
    from rules.guidance.declare import Comparison, Rule


CASE_CATALOG = "catalog"
"""A folder of this name beside cases adds products to the catalog that they run with."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|fields|test")
    listing = actions.add_parser("list", help="list every rule with its guidance, sources and number of cases")
    listing.add_argument("--stage", help="only one stage")
    listing.add_argument("--guidance", metavar="ID", help="only rules that apply this statement")
    listing.add_argument("--markdown", action="store_true", help="print the reference page of the rules, with sources and dissent")
    show = actions.add_parser("show", help="show one rule in full")
    show.add_argument("rule")
    fields = actions.add_parser("fields", help="list the fields that rules and policies compare, with what they mean")
    fields.add_argument("--stage", help="only one stage")
    test = actions.add_parser("test", help="run the cases in a folder or file of TOML")
    test.add_argument("folder", nargs="?", default="tests/rules", metavar="DIR")
    for sub in (listing, show, fields, test):
        add_catalog_option(sub)
        add_json_option(sub)


def run(options: argparse.Namespace) -> int:
    """List, show or test rules, or list their fields; test returns 1 where a case fails."""
    return {"list": _list, "show": _show, "fields": _fields, "test": _test}[options.action](options)


def _list(options: argparse.Namespace) -> int:
    from rules.cases import all_rules

    catalog = open_catalog(options.catalog)
    rules = [
        rule
        for rule in all_rules().values()
        if (not options.stage or rule.stage.value == options.stage) and (not options.guidance or options.guidance in rule.guidance)
    ]
    if not rules:
        narrate("cluster-wizard: no rule matches; stages are vram, interconnect, fabric, software, storage_cpu, power, reliability, money")
        return WRONG
    if options.markdown:
        from wizard.rules_page import rules_page

        sys.stdout.write(rules_page(rules, catalog))
        return GOOD
    counts = _case_counts()
    rows = [describe(rule, catalog, counts.get(rule.id, 0)) for rule in rules]
    if options.json:
        print_json(rows)
        return GOOD
    for row in rows:
        print(f"{row['id']}  [{row['kind']}, {row['strength']}]  {', '.join(row['guidance']) or '-'}  cases: {row['cases']}")
        print(f"    {row['because']}")
        for source in row["sources"]:
            print(f"    source: {source}")
    narrate(counted(len(rows), "rule"))
    return GOOD


def describe(rule: Rule, catalog: Catalog, cases: int) -> dict[str, Any]:
    """Return a rule as plain data: what it compares, which statements and thresholds it applies, and their sources."""
    thresholds = [catalog.thresholds[id_] for id_ in rule.thresholds if id_ in catalog.thresholds]
    return {
        "id": rule.id,
        "stage": rule.stage.value,
        "kind": rule.kind.value,
        "strength": rule.strength.value,
        "when": [condition(each) for each in rule.when],
        "premise": rule.premise,
        "writes": list(rule.writes),
        "guidance": list(rule.guidance),
        "thresholds": list(rule.thresholds),
        "because": rule.because,
        "fix": [{"key": fix.key, "value": fix.value, "text": fix.text} for fix in rule.fix],
        "ask": {"to": rule.ask.to, "ask": rule.ask.ask, "good_answer": rule.ask.good_answer} if rule.ask else None,
        "sources": sorted({*rule.sources, *(threshold.source for threshold in thresholds)}),
        "judgement": rule.judgement,
        "cases": cases,
    }


def condition(comparison: Comparison) -> str:
    """Return a comparison as text: "memory_needed_low_gib > memory_usable_gib × 0.9"."""
    from rules.guidance.declare import Scaled

    right = comparison.right
    if isinstance(right, Scaled):
        shown = right.field if right.factor == 1.0 else f"{right.field} × {right.factor:g}"
    else:
        shown = str(right).lower() if isinstance(right, bool) else str(right)
    return f"{comparison.left} {comparison.operator} {shown}"


def _case_files(folder: Path) -> list[Path]:
    """Return the files of cases in `folder`, or the file itself; a folder `catalog` in it holds products, not cases."""
    if not folder.is_dir():
        return [folder]
    return sorted(path for path in folder.rglob("*.toml") if CASE_CATALOG not in path.relative_to(folder).parts)


def _case_counts() -> dict[str, int]:
    """Return how many cases of the project's own corpus each rule has; none where the corpus is not installed."""
    from wizard.files import read_toml

    folder = Path(__file__).parent.parent.parent / "tests" / "rules"
    counts: dict[str, int] = {}
    for path in _case_files(folder) if folder.is_dir() else []:
        for case in read_toml(path).get("case", []):
            counts[case["rule"]] = counts.get(case["rule"], 0) + 1
    return counts


def _show(options: argparse.Namespace) -> int:
    import difflib

    from rules.cases import all_rules

    rules = all_rules()
    if options.rule not in rules:
        near = difflib.get_close_matches(options.rule, rules, n=1, cutoff=0.4)
        narrate(f"cluster-wizard: no rule is called {options.rule!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        return WRONG
    row = describe(rules[options.rule], open_catalog(options.catalog), _case_counts().get(options.rule, 0))
    if options.json:
        print_json(row)
        return GOOD
    for key, value in row.items():
        for number, part in enumerate(value if isinstance(value, list) else [value]):
            if part not in (None, "", []):
                print(f"{key if number == 0 else '':<12}{part}")
    return GOOD


def _fields(options: argparse.Namespace) -> int:
    from rules.facts import unit_of
    from rules.stages import all_stages

    rows = [
        {"stage": module.STAGE.value, "field": each.name, "unit": unit_of(each.name), "meaning": each.meaning}
        for module in all_stages()
        for each in module.FACTS
        if options.stage in (None, module.STAGE.value)
    ]
    if not rows:
        narrate(f"cluster-wizard: no stage is called {options.stage!r}; stages are {', '.join(each.STAGE for each in all_stages())}")
        return WRONG
    if options.json:
        print_json(rows)
        return GOOD
    width = max(len(row["field"]) for row in rows)
    for row in rows:
        print(f"{row['stage']:<13}{row['field']:<{width}}  {row['meaning']}" + (f", in {row['unit']}" if row["unit"] else ""))
    narrate(counted(len(rows), "field"))
    return GOOD


def _test(options: argparse.Namespace) -> int:
    from rules.answers import AnswerError
    from rules.cases import CaseError, run_case
    from wizard.files import FileError, read_toml

    folder = Path(options.folder)
    products = (folder if folder.is_dir() else folder.parent) / CASE_CATALOG
    beside = [str(products)] if products.is_dir() else []
    catalog = open_catalog([*options.catalog, *beside])
    results = []
    for path in _case_files(folder):
        cases = read_toml(path).get("case")
        if not isinstance(cases, list):
            raise FileError(path, "holds no [[case]] tables")
        for case in cases:
            try:
                results.append((path, run_case(case, catalog)))
            except (CaseError, AnswerError) as error:
                raise FileError(path, str(error)) from None
    if not results:
        narrate(f"cluster-wizard: {folder}: no TOML files with [[case]] tables")
        return WRONG
    failed = [(path, result) for path, result in results if not result.passed]
    if options.json:
        print_json([{"file": str(path), **vars(result)} for path, result in results])
    else:
        for path, result in failed:
            print(f"{path}: {result.rule}: {result.name}: {result.message}")
    narrate(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return NO if failed else GOOD
