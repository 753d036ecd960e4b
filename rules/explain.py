"""How something was concluded: from any conclusion down to rules, formulas with their numbers, catalog values and answers.

    considered = consider(answers, catalog)
    explanation = explain(considered, "fabric.compute.technology")

Every number is read from the candidate's facts and records when the question is asked. Where a number comes from is data:
`rules.origins` and the tables beside the stages.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from rules.answer_fields import FIELDS
from rules.assembly import assemble
from rules.explanation.conclusions import Conclusions
from rules.explanation.ground import Ground, facts_of
from rules.explanation.leaves import answer_step
from rules.explanation.steps import Explanation, NothingToExplainError, Step, StepKind, Subject
from rules.findings import Finding, Kind, Stage

if TYPE_CHECKING:
    from rules.advisor import Considered

__all__ = ["Explanation", "NothingToExplainError", "Step", "StepKind", "Subject", "explain", "ground_of", "subjects"]

_KINDS = {
    Kind.DECISION: "decision",
    Kind.REJECT: "conflict",
    Kind.WARNING: "warning",
    Kind.ASSUMPTION: "assumption",
    Kind.QUESTION: "question",
}
MOST_MEANT = 4
"""Names that are told of those that a plain word may mean."""
WORDS = {
    "price": "cost.purchase",
    "cost": "cost.ownership",
    "tax": "cost.part",
    "taxes": "cost.part",
    "rent": "cost.rent",
    "renting": "cost.rent",
    "rent or buy": "cost.rent",
    "cloud": "cost.rent",
    "lead time": "delivery.task",
    "lead times": "delivery.task",
    "critical path": "delivery.task",
    "schedule": "delivery.task",
    "spares": "reliability.spare_nodes",
    "spare nodes": "reliability.spare_nodes",
    "failures": "reliability.job_mtbf",
    "server": "design.chosen",
    "servers": "design.chosen",
    "gpus": "summary.gpus",
    "gpu": "design.chosen",
    "parallel plan": "parallelism.plan",
    "zero": "memory.sharding",
    "zero-0": "memory.sharding",
    "zero-1": "memory.sharding",
    "zero-2": "memory.sharding",
    "zero-3": "memory.sharding",
    "sharding": "memory.sharding",
    "spines": "fabric.compute.topology",
    "leaves": "fabric.compute.topology",
    "switches": "fabric.compute.topology",
    "fabric": "fabric.compute.technology",
    "network": "fabric.compute.technology",
    "infiniband": "fabric.compute.technology",
    "roce": "fabric.compute.technology",
    "ethernet": "fabric.compute.technology",
    "days": "summary.days",
    "power": "power.total",
    "memory": "memory.verdict",
    "step time": "performance.step",
    "bubble": "performance.step_parts.pipeline_bubble",
    "communication": "performance.exposed_communication",
    "throughput": "performance.tokens_per_second",
    "utilization": "summary.mfu",
    "utilisation": "summary.mfu",
}
"""Words that people ask by, and the conclusion that they mean; asked only where nothing in the design has that name."""
NEAR = 0.55
"""How alike a name must be to be offered for one that does not exist (0 to 1)."""


def ground_of(considered: Considered) -> Ground:
    """Return what explanations of one design stand on; keep it where several questions are asked."""
    design = assemble(considered.context, considered.judged, considered.ranking, considered.rejected)
    chosen = considered.ranking.chosen
    return Ground(considered.context, design, considered.ranking, None if chosen is None else chosen.candidate)


def subjects(considered: Considered | Ground) -> list[Subject]:
    """Return what can be explained, stage by stage: findings in firing order, then values of the design; facts are not listed."""
    ground = considered if isinstance(considered, Ground) else ground_of(considered)
    rows = [_subject(found, ground) for found in ground.design.findings]
    rows += [
        Subject("assumption", "answers", each.key, f"{each.value}: {each.because}" if each.value else each.because)
        for each in ground.design.assumptions
        if not each.rule
    ]
    chain = Conclusions(ground)
    rows += [
        Subject("value", "summary" if key.startswith("summary.") else ground.sections[key][0].value, key, chain.section_text(key))
        for key in ground.listed
    ]
    order = ["summary", *(stage.value for stage in Stage), "answers"]
    return sorted(rows, key=lambda each: order.index(each.stage))


def _subject(found: Finding, ground: Ground) -> Subject:
    stage = found.stage.value if found.rule in ground.rules else "summary"
    value = f"{found.value}: {found.because}" if found.value else found.because
    return Subject(_KINDS[found.kind], stage, found.decision or found.rule, value)


def explain(considered: Considered | Ground, what: str) -> Explanation:
    """Return how `what` came about.

    Parameters
    ----------
    considered
        What the advisor weighed (`rules.advisor.consider`), or the ground that was made of it.
    what
        The name of a decision, the id of a rule, a key of the design ("power.total") or a section of it ("power"), a fact
        ("headroom_gib", or with its stage "vram:headroom_gib"; a dot will do where no key of the design has that name), or the key of an
        answer.

    Raises
    ------
    NothingToExplainError
        Where nothing has that name; it names the nearest.
    """
    ground = considered if isinstance(considered, Ground) else ground_of(considered)
    name = what.strip()
    for each in dict.fromkeys((name, name.lower(), name.lower().removeprefix("design."))):
        chains = _chains(each, ground)
        if chains:
            return Explanation(each, ground.design.name, tuple(chains), _notes(each, ground))
    meant = meant_by(name, ground)
    if meant:
        others = f"; {' and '.join(meant[1:MOST_MEANT])} may be meant too" if meant[1:] else ""
        read = f"{what!r} is read as {meant[0]}{others}"
        return Explanation(meant[0], ground.design.name, tuple(_chains(meant[0], ground)), (read, *_notes(meant[0], ground)))
    near = difflib.get_close_matches(name.lower(), names(ground), n=1, cutoff=NEAR)
    raise NothingToExplainError(what, near[0] if near else "")


def meant_by(word: str, ground: Ground) -> list[str]:
    """Return what a plain word may mean: names that end in it (racks: facility.racks), else decisions that say it."""
    plain = word.lower().strip()
    if not plain or ground.candidate is None:
        return []
    plain = re.sub(r"^\d+ ", "", plain)  # "4 spines": the spines
    plain = WORDS.get(plain, plain).replace(" ", "_")
    decisions = [each for each in ground.design.findings if each.kind is Kind.DECISION and each.decision]
    known = [*(each.decision for each in decisions), *ground.sections, *(each.key for each in FIELDS)]
    ends = [name for name in known if plain in (name, name.rpartition(".")[2], name.partition(".")[2])]
    ends.sort(key=lambda name: name.startswith("summary."))
    said = re.compile(rf"(?<![\w]){re.escape(plain.replace('_', ' '))}(?![\w])", re.IGNORECASE)
    return list(dict.fromkeys(ends or (each.decision for each in decisions if said.search(each.value or ""))))


def names(ground: Ground) -> list[str]:
    """Return every name that can be explained."""
    found = [name for each in ground.design.findings for name in (each.decision, each.rule) if name]
    found += [*ground.sections, *ground.rules]
    found += [name for stage in Stage if ground.facts(stage) for fact in facts_of(stage) for name in (fact, f"{stage.value}.{fact}")]
    return list(dict.fromkeys([*found, *(each.key for each in FIELDS), *ground.context.workload.assumed]))


def _chains(name: str, ground: Ground) -> list[Step]:
    """Return the chains that explain `name`: its findings, else the design's value, else a fact, else an answer."""
    chain = Conclusions(ground)
    found = [each for each in ground.design.findings if name in (each.decision, each.rule)]
    if found:
        return [_finding(each, chain) for each in found]
    if name in ground.rules and ground.candidate is not None:
        return [chain.rule(ground.rules[name], None)]
    if name in ground.sections:
        return [chain.section(name)] if ground.candidate is not None else [_finding(each, chain) for each in ground.design.conflicts]
    parts = [each for each in ground.sections if each.rpartition(".")[0] == name] if ground.candidate is not None else []
    if parts:  # a whole section of the design
        return [chain.section(each) for each in parts]
    facts = _facts_named(name, ground)
    if facts:
        return [chain.fact(stage, plain) for stage, plain in facts]
    if name in ground.context.workload.assumed or any(each.key == name for each in FIELDS):
        return [answer_step(name, ground.context)]
    return []


def _finding(found: Finding, chain: Conclusions) -> Step:
    if found.rule in chain.ground.rules:
        return chain.finding(found)
    return chain.choice(found) if found.kind is Kind.DECISION else chain.nothing_allowed(found)


def _facts_named(name: str, ground: Ground) -> list[tuple[Stage, str]]:
    """Return the fact called `name`: of the stage that is named before a dot, else of the first stage that states it."""
    first, dot, rest = name.replace(":", ".").partition(".")
    if dot and first in set(Stage):
        stage = Stage(first)
        return [(stage, rest)] if rest in facts_of(stage) and rest in ground.facts(stage) else []
    return [(stage, name) for stage in Stage if name in facts_of(stage) and name in ground.facts(stage)][:1]


def _notes(name: str, ground: Ground) -> tuple[str, ...]:
    """Return what must be known to read an explanation: conflicts, feedback that was taken, failures, other facts of that name."""
    design = ground.design
    notes = [] if design.fits or ground.candidate is None else ["this is the nearest candidate: it has conflicts"]
    notes += [f"feedback, {each.edge}: {each.because}" for each in design.reentries]
    notes += list(design.failures)
    stages = [stage.value for stage in Stage if name in facts_of(stage) and name in ground.facts(stage)]
    if len(stages) > 1:
        notes.append(
            f"stages {', '.join(stages)} state a fact of that name; this is that of {stages[0]}; write {stages[1]}:{name} for another"
        )
    return tuple(notes)
