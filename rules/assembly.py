"""Put a design together from the ranking: sections, reasons, alternatives, rejections, assumptions, questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_number, magnitude
from rules.answer_checks import doubtful_answers, unused_answers
from rules.choice import size_follows_limits
from rules.counting import counted
from rules.design import Alternative, Assumption, Design, Rejected
from rules.dissent import dissents_of
from rules.facts import show
from rules.findings import Finding, Kind, Remedy, Stage, Strength
from rules.rented import rented_alternative
from rules.scale import sized_by_deadline
from rules.sizing.cost import uncounted
from rules.sizing.prices import NOT_COUNTED, never_counted
from rules.sizing.site_measured import implausible, left_aside
from rules.sizing.standing import stands_in_racks
from rules.stages import all_stages
from rules.stages.vram_sections import with_computed_remedies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.candidate import Candidate, Context
    from rules.choice import Ranked, Ranking
    from rules.judging import Judged

MOST_ALTERNATIVES = 12
MOST_UNPRICED = 3
"""Kinds of parts without a price that are named; the list of parts has all."""


def assemble(context: Context, judged: Sequence[Judged], ranking: Ranking, rejected: Sequence[Rejected]) -> Design:
    """Return the design of the best candidate, or of the nearest one with its conflicts; without any, the conflict alone."""
    chosen = ranking.chosen
    answers, version = context.answers, context.catalog.version
    if chosen is None:
        return Design(
            answers, version, "", "", "", False, None, {}, (), (_nothing_allowed(rejected, context),),
            assumptions(context, None), (), tuple(_ordered(rejected)),
        )  # fmt: skip
    candidate = chosen.candidate
    source = next(each for each in judged if each.candidate is candidate)
    sections: dict[str, dict[str, object]] = {}
    for module in all_stages():
        for name, values in module.describe(candidate, context).items():
            sections.setdefault(name, {}).update(values)
    return Design(
        answers=answers,
        catalog_version=version,
        chosen=candidate.id,
        name=f"{candidate.units:,} × {candidate.node.name}, {counted(candidate.gpus, 'GPU')}",
        plan=candidate.choice.plan.label if candidate.choice else "none fits",
        fits=bool(ranking.good),
        figures=chosen.figures,
        sections=sections,
        bom=tuple(candidate.cost.bom if candidate.cost else candidate.bom),
        findings=(_chosen_because(ranking), *_open_budget(ranking, context), *with_computed_remedies(candidate, context)),
        assumptions=assumptions(context, candidate),
        alternatives=tuple(_alternatives(ranking, context)),
        rejected=tuple(_ordered([*_rejections(ranking), *rejected])),
        reentries=tuple(source.reentries),
        dissents=dissents_of(candidate.findings, context.catalog),
        notices=tuple(_notices(candidate, context)),
        failures=tuple(source.failures),
    )


def assumptions(context: Context, candidate: Candidate | None) -> tuple[Assumption, ...]:
    """Return every assumption: of missing answers, of the resolved workload, and those that rules state."""
    answers = context.answers
    rows = {
        key: Assumption(key, answers.text(key), reason)
        for key, reason in answers.assumptions().items()
        if not key.startswith(("preferences.", "own_server.", "parallelism.")) and _matters(key, context, candidate)
    }
    rows |= {key: Assumption(key, *_split(reason)) for key, reason in context.workload.assumed.items()}
    stated = [
        Assumption(found.decision or found.rule, found.value, found.because, found.rule)
        for found in (candidate.findings if candidate else ())
        if found.kind is Kind.ASSUMPTION
    ]
    return (*rows.values(), *stated)


def _matters(key: str, context: Context, candidate: Candidate | None) -> bool:
    """Return whether an unanswered field plays a part in this design."""
    answers = context.answers
    idle = {
        "training.lora_rank": context.workload.kind not in ("fine_tuning_lora", "fine_tuning_qlora"),
        "scale.deadline": not sized_by_deadline(answers),
        "scale.mode": not sized_by_deadline(answers),
        "facility.pue": answers.given("facility.climate")
        or (candidate is not None and not stands_in_racks(candidate.node, candidate.units, answers)),
        "facility.power_limit": not answers.given("facility.total_power"),
    }
    return not idle.get(key, False)


def _split(reason: str) -> tuple[str, str]:
    """Split "8192: the model's own length" into value and reason."""
    value, separator, because = reason.partition(": ")
    return (value, because) if separator else ("", reason)


def _chosen_because(ranking: Ranking) -> Finding:
    """Return the first justification: why this candidate and not the next one."""
    best = ranking.chosen
    assert best is not None
    others = (*ranking.good, *ranking.unproven)
    if not others:
        conflicts = counted(len(best.candidate.conflicts), "conflict")
        because = f"no candidate meets every answer; this one comes nearest, with {conflicts}"
    elif not ranking.good:
        because = f"no candidate is known to keep the budget; of {len(others)} whose price is open it is the first by {best.measure}"
    elif len(ranking.good) == 1:
        because = "it is the only candidate that is known to meet every answer"
    else:
        because = f"of {len(ranking.good)} candidates that meet every answer it is the first by {best.measure}"
    if len(others) > 1:
        because += f"; {_next(best, others[1])}"
    numbers = {name: format_number(float(value)) for name, value in best.figures.shown().items() if isinstance(value, (int, float))}
    shown = f"{best.candidate.units:,} × {best.candidate.node.name}"
    because = f"{because}; sized as {best.candidate.sized_by}."
    return Finding(
        "choice.objective",
        Stage.MONEY,
        Kind.DECISION,
        Strength.STRONG,
        because,
        ("G4.1",),
        numbers=numbers,
        decision="design.chosen",
        value=shown,
    )


def _open_budget(ranking: Ranking, context: Context) -> list[Finding]:
    """Return the conflict that stands where only candidates of unknown price are left beside a budget."""
    if ranking.good or not ranking.unproven or ranking.chosen is None:
        return []
    budget, chosen = context.answers.text("budget.purchase"), ranking.chosen.candidate
    because = (
        f"The budget of {budget} cannot be held against a price that nobody has named: no price is known for {chosen.node.name}, "
        f"nor for any other candidate that meets the rest."
    )
    remedies = [Remedy("budget.own_prices", "", f"get a quote and name its price: {chosen.node.id} = …")]
    cheapest = _cheapest_above(ranking)
    if cheapest is not None:
        candidate, larger = cheapest
        name = f"{candidate.units:,} × {candidate.node.name}"
        because += f" Of those whose price is known, {name} is the cheapest that meets it."
        amount = show("budget_usd", magnitude(larger.value, "USD"))
        remedies.insert(0, Remedy(larger.key, larger.value, f"a budget of {amount}: {name}"))
    return [Finding("choice.budget_unproven", Stage.MONEY, Kind.REJECT, Strength.STRONG, because, ("G7.5",), remedies=tuple(remedies))]


def _cheapest_above(ranking: Ranking) -> tuple[Candidate, Remedy] | None:
    """Return the cheapest candidate that only costs more than the budget, and the larger budget that its rule asks for."""
    only_dear = [each for each in ranking.bad if [said.rule for said in each.candidate.rejections] == ["money.budget_exceeded"]]
    best = min((each for each in only_dear if each.figures.purchase_usd is not None), key=_purchase, default=None)
    if best is None:
        return None
    larger = next((each for each in best.candidate.rejections[0].remedies if each.key == "budget.purchase" and each.value), None)
    return None if larger is None else (best.candidate, larger)


def _purchase(each: Ranked) -> float:
    return each.figures.purchase_usd or 0.0


def _next(best: Ranked, other: Ranked) -> str:
    return f"the next is {other.candidate.units:,} × {other.candidate.node.name}: {_against(best, other)}"


def _against(best: Ranked, other: Ranked) -> str:
    """Say how the best compares with another candidate, by the figures that both have."""
    parts = []
    for name, label in (("ownership_usd", "costs"), ("days", "takes"), ("it_power_kw", "draws")):
        mine, theirs = getattr(best.figures, name), getattr(other.figures, name)
        if mine and theirs:
            change = theirs / mine - 1.0
            parts.append(f"{label} {abs(change):.0%} {'more' if change > 0 else 'less'}" if abs(change) >= 0.005 else f"{label} the same")
    unknown = "its price is unknown; it " if other.apart or other.figures.ownership_usd is None else "it "
    return unknown + (", ".join(parts) or "cannot be compared")


def _alternatives(ranking: Ranking, context: Context) -> list[Alternative]:
    """Return the next candidates in rank order, and renting the same GPUs."""
    best = ranking.chosen
    rows = []
    others = [*ranking.good, *ranking.unproven]
    for number, each in enumerate(others[1 : MOST_ALTERNATIVES + 1], start=2):
        assert best is not None
        because = _against(best, each)
        rows.append(
            Alternative(
                number,
                each.candidate.id,
                f"{each.candidate.units:,} × {each.candidate.node.name}",
                each.candidate.choice.plan.label if each.candidate.choice else "",
                each.figures,
                because,
                each.apart,
            )
        )
    rented = rented_alternative(best, context, len(rows) + 2) if best is not None else None
    if rented is not None:
        rows.append(rented)
    return rows


def _rejections(ranking: Ranking) -> list[Rejected]:
    """Return the rejected candidates with the first rule that rejected each; the nearest is the design itself when nothing fits."""
    rows = []
    for each in ranking.bad[0 if ranking.good or ranking.unproven else 1 :]:
        candidate = each.candidate
        if candidate.conflicts:
            first = candidate.conflicts[0].finding
            rows.append(Rejected(candidate.id, candidate.node.name, "rule", first.rule, first.because, first.numbers))
        else:
            rows.append(
                Rejected(candidate.id, candidate.node.name, "search", "plans.none", "no parallel plan of the search fits this size")
            )
    return rows


def _ordered(rows: Sequence[Rejected]) -> list[Rejected]:
    order = {"rule": 0, "search": 1, "dominated": 2, "answers": 3}
    return sorted(rows, key=lambda each: (order[each.kind], each.candidate))


def _nothing_allowed(rejected: Sequence[Rejected], context: Context) -> Finding:
    reasons = sorted({each.rule for each in rejected if each.kind == "answers"}) or ["the size"]
    searched = [each for each in rejected if each.kind == "search"]
    because = searched[0].because if searched else f"the answers exclude every node type, by {', '.join(reasons)}"
    homeless = _in_no_server(context)
    told = "describe your own server with it, its number of GPUs, its adapters and its power too"
    remedies = tuple(Remedy("own_server.gpu", each, told) for each in homeless[:1])
    if homeless:
        because = f"no server of the catalog carries {' or '.join(homeless)}, which preferences.gpus asks for"
    return Finding("proposals.nothing_allowed", Stage.VRAM, Kind.REJECT, Strength.HARD, because, ("G4.1",), remedies=remedies)


def _in_no_server(context: Context) -> list[str]:
    """Return the GPUs that were asked for, where no server of the catalog carries any of them."""
    catalog = context.catalog
    named = [catalog.gpus[name] for name in context.answers.names("preferences.gpus")]
    carried = {node.gpu for node in catalog.nodes}
    return [] if any(gpu.id in carried for gpu in named) else [gpu.name for gpu in named]


def _notices(candidate: Candidate, context: Context) -> list[str]:
    """Return what must stand at the top: answers without effect, unverified values and unknown prices that the design rests on."""
    rows = [str(each) for each in unused_answers(context.answers, context.workload)]
    rows += doubtful_answers(context.answers, context.workload)
    rows += left_aside(candidate.node, context.answers)
    rows += implausible(candidate.node, candidate.gpu, context)
    if not size_follows_limits(context):
        rows.append(
            "nothing bounds how fast it may be: give a budget, a power limit or a number of nodes; until then it is sized by the deadline "
            "and ranked by cost"
        )
    if not (candidate.gpu.verified and candidate.node.verified):
        rows.append("this design rests on catalog values that were not read at their source")
    if candidate.cost and candidate.cost.missing:
        names = "; ".join(candidate.cost.missing[:MOST_UNPRICED])
        more = len(candidate.cost.missing) - MOST_UNPRICED
        rows.append(
            f"no price is known for {names}" + (f"; and {more} more kinds of parts" if more > 0 else "") + ": totals leave them out"
        )
    if candidate.cost is not None:
        unused = (*uncounted(candidate.cost.bom, context.answers, context.catalog), *never_counted(context.catalog))
        rows += [f"{NOT_COUNTED}{each}" for each in unused]
    return rows
