"""What stands against something: the rules that refused it, the answers that rule it out, and what was preferred to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.answer_fields import COOLING
from rules.stages import all_stages

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.answers import Answers
    from rules.guidance.declare import Rule
    from rules.whynot.margins import Margin
    from rules.whynot.wishes import Wish

MOST_OBSTACLES = 3
"""Rules that are named where several rejected it; the first comes first."""
PRODUCTS = ("GPU", "server", "vendor")
"""Kinds of wishes that are bought; who describes a server of their own is offered no other."""


@dataclass(frozen=True)
class Obstacle:
    """What stood against it. `kind` is rule, answers, search, dominated or ranking; `rule` is the rule or the answer."""

    kind: str
    rule: str
    because: str
    margins: tuple[Margin, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the obstacle as plain data."""
        row = {"kind": self.kind, "rule": self.rule, "because": self.because}
        return row | {"margins": [each.document() for each in self.margins]}


def rules_of(answers: Answers) -> dict[str, Rule]:
    """Return the declared rules and the policies of the site by id."""
    declared = {rule.id: rule for module in all_stages() for rule in module.RULES}
    return declared | {policy.rule.id: policy.rule for policy in answers.policies}


def excluded_by(wish: Wish, considered: Considered) -> tuple[Obstacle, ...]:
    """Return why the products of a wish were no candidates: an answer excludes them, no size works, another is judged for them."""
    if wish.kind not in ("GPU", "server", "vendor"):
        return ()
    catalog = considered.context.catalog
    nodes = {node.id: node.gpu for node in catalog.nodes}
    (wanted,) = (set(value) for value in wish.changes.values() if isinstance(value, tuple))
    if wish.kind == "vendor":
        wanted = {node.id for node in catalog.nodes if wish.name in (node.vendor, catalog.gpus[node.gpu].vendor)}
    rows = [each for each in considered.rejected if {each.candidate, nodes.get(each.candidate)} & wanted]
    order = {"answers": 0, "search": 1, "dominated": 2}
    rows.sort(key=lambda each: (order.get(each.kind, 3), each.candidate))
    kinds = {each.kind: Obstacle(each.kind, each.rule, f"{each.name}: {each.because}") for each in reversed(rows)}
    if not rows and wish.kind == "GPU" and not wanted & set(nodes.values()):
        return (Obstacle("search", "proposals.size", "no server of the catalog has it; describe your own under own_server"),)
    return tuple(kinds[kind] for kind in order if kind in kinds)[:MOST_OBSTACLES]


def by_answers(wish: Wish, answers: Answers) -> tuple[Obstacle, ...]:
    """Return the answers, given or assumed, that ask for something else than a fabric, a cooling, a plan or another answer."""
    if wish.kind in PRODUCTS:
        return ()
    rows = []
    for key, value in wish.changes.items():
        has = answers.text(key)
        if wish.kind == "fabric" and has in (value, "any"):
            continue
        if wish.kind == "plan" and (not key.startswith("parallelism.") or not answers.given(key) or answers.value(key) == value):
            continue
        if wish.kind == "cooling" and wish.name in answers.names(key):
            continue
        if not has or has == "any":
            continue
        offered = f"{has} alone" if wish.kind == "cooling" and len(answers.names(key)) < len(COOLING) else has
        said = "it is what you answered" if answers.given(key) else "it is assumed"
        rows.append(Obstacle("answers", key, f"{key} is {offered}; {said}"))
    return tuple(rows)
