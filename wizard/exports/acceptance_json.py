"""The acceptance plan as JSON, for programs that run it or judge its results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from rules.sizing.acceptance import acceptance_plan
from wizard.exports.parts import chosen_of

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.acceptance import CollectiveTest


def write(considered: Considered, stream: TextIO) -> None:
    """Write the plan as one document."""
    candidate = chosen_of(considered)
    plan = acceptance_plan(candidate, considered.context)
    document = {
        "schema": 1,
        "candidate": candidate.id,
        "nodes": candidate.nodes,
        "gpus": candidate.gpus,
        "suite": plan.suite,
        "checks": [vars(each) for each in plan.checks],
        "tests": [_test(each) for each in plan.tests],
        "notes": list(plan.notes),
    }
    stream.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _test(test: CollectiveTest) -> dict[str, Any]:
    points = [
        {
            "message_bytes": int(each.size),
            "expected_gb_per_s": _rate(each.expected),
            "limit_gb_per_s": None if each.limit is None else _rate(each.limit),
            "below_limit": None if each.limit is None else "fail" if each.fails else "look into",
        }
        for each in test.points
    ]
    head = {"where": test.where, "operation": test.operation, "nodes": test.nodes, "gpus": test.ranks, "command": test.command}
    return head | {"points": points}


def _rate(bytes_per_s: float) -> float:
    return float(f"{bytes_per_s / 1e9:.4g}")
