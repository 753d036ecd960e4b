"""Print what the edges of a rule are written from: its words, guidance, sources, and the fields that it reads, without its comparisons.

python tests/edges/sheet.py [RULE ...]        without a name: every rule that has no row yet
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from catalogs import load_catalog
from rules.cases import all_rules
from rules.guidance.statements import STATEMENTS
from rules.stages import stage_module
from tests.edges.edges import rows


def sheet(name: str) -> str:
    """Return the sheet of a rule."""
    rule, thresholds = all_rules()[name], load_catalog().thresholds
    meanings = {each.name: each.meaning for each in stage_module(rule.stage).FACTS}
    lines = [f"{rule.id}: {rule.kind}, {rule.strength}", f"  says: {rule.because}"]
    lines += [f"  asks: {rule.ask.ask}"] if rule.ask else []
    lines += [f"  guidance {each}: {STATEMENTS[each]}" for each in rule.guidance]
    for each in (thresholds[id_] for id_ in rule.thresholds):
        lines.append(
            f"  threshold {each.id}: {each.condition}: {each.conclusion} ({each.value} {each.unit}, {dict(each.values)}; {each.source})"
        )
    fields = [each for each in rule.reads if not each.startswith("limit_")]
    lines += [f"  reads {each}: {meanings.get(each, 'a flag of an earlier stage')}" for each in fields]
    return "\n".join(lines)


def main() -> None:
    """Print the sheets of the rules that were named, or of those without edges."""
    written = {row["rule"] for row in rows()}
    for name in sys.argv[1:] or [each for each in all_rules() if each not in written]:
        sys.stdout.write(sheet(name) + "\n\n")


if __name__ == "__main__":
    main()
