"""Print how many mutants of the declared rules the hand-written edges tell apart from the rules, by kind, and which they do not.

python tests/edges/killed.py
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from catalogs import load_catalog
from rules.cases import all_rules
from rules.judging import limits
from tests.edges.edges import evidence
from tests.rules.mutants import Mutant, mutants_of, survivors


def survived() -> tuple[Counter[str], list[Mutant]]:
    """Return the number of mutants of each kind, and those that no edge tells apart; what was chosen counts as no evidence."""
    rules = list(all_rules().values())
    total = Counter(each.kind for rule in rules for each in mutants_of(rule))
    return total, survivors(rules, (), evidence(), limits(tuple(rules), load_catalog()))[1]


def main() -> None:
    """Print the table and the survivors."""
    total, left = survived()
    alive = Counter(each.kind for each in left)
    lines = [_line(kind, count, alive[kind]) for kind, count in total.items()]
    lines += [_line("all", total.total(), len(left)), "", *(f"survives: {each.what}" for each in left)]
    sys.stdout.write("\n".join(lines) + "\n")


def _line(kind: str, count: int, alive: int) -> str:
    return f"{kind:<22} {count:>5} mutants, {count - alive:>5} killed, {1 - alive / count:6.1%}"


if __name__ == "__main__":
    main()
