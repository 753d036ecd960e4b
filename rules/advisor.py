"""`advise(answers, catalog) -> Design`: propose, size, judge, choose. One deterministic function of both.

It runs from scratch every time. What a stage sized before from the very same is taken over (`rules.remembered`), which changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.assembly import assemble
from rules.candidate import Context
from rules.choice import rank
from rules.early_refusal import surely_refused
from rules.judging import judge
from rules.proposals import propose
from rules.pruning import prune
from rules.remembered import same_workload
from rules.sizing.workload import describe_workload
from rules.watching import design_begins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from catalogs import Catalog
    from rules.answers import Answers
    from rules.candidate import Candidate
    from rules.choice import Ranked, Ranking
    from rules.design import Design, Rejected
    from rules.judging import Judged


@dataclass(frozen=True)
class Considered:
    """Everything that was weighed for a design: the judged candidates, their ranking, and what fell out before."""

    context: Context
    judged: Sequence[Judged]
    ranking: Ranking
    rejected: Sequence[Rejected]


def advise(answers: Answers, catalog: Catalog, *, exhaustive: bool = False, strict: bool = False) -> Design:
    """Return the design that follows from the answers and the catalog.

    Parameters
    ----------
    answers
        Any subset of the answers; what is missing is assumed, and the design says so.
    catalog
        The products, prices, models and thresholds.
    exhaustive
        Search all plans and judge all candidates, in seconds instead of milliseconds.
    strict
        Raise when a rule fails, instead of reporting the failure in the design.

    Raises
    ------
    AnswerError
        Where an answer names something that does not exist, or answers contradict each other.
    """
    considered = consider(answers, catalog, exhaustive=exhaustive, strict=strict)
    return assemble(considered.context, considered.judged, considered.ranking, considered.rejected)


def consider(answers: Answers, catalog: Catalog, *, exhaustive: bool = False, strict: bool = False) -> Considered:
    """Propose, size and judge; `advise` puts the design together from the result. Parameters and errors as there."""
    context = _begun(answers, catalog)
    proposals = propose(context, exhaustive=exhaustive)
    kept, dominated = prune(proposals.candidates, context, everything=exhaustive)
    judged = [judge(candidate, context, strict=strict) for candidate in kept]
    ranking = rank([each.candidate for each in judged], context)
    return Considered(context, judged, ranking, [*proposals.rejected, *dominated])


def _begun(answers: Answers, catalog: Catalog) -> Context:
    """Return what the candidates of a design that begins now share."""
    design_begins()
    return Context(answers, catalog, same_workload(describe_workload(answers, catalog)))


def fitting(answers: Answers, catalog: Catalog, wanted: Callable[[Candidate], bool] = lambda _: True) -> Iterator[Ranked]:
    """Yield the candidates that meet every answer, those of `consider(…).ranking.good`, in the order in which they are judged.

    Only what is `wanted` is judged, and nothing to the end that the servers alone exceed already or that a rule has refused.
    """
    context = _begun(answers, catalog)
    kept, _ = prune(propose(context).candidates, context)
    for candidate in kept:
        if not surely_refused(candidate, context) and wanted(candidate):
            yield from rank([judge(candidate, context, until_refused=True).candidate], context).good


def feasible(answers: Answers, catalog: Catalog) -> bool:
    """Return whether some candidate meets every answer: as `advise(…).fits`, but the first that does ends the search."""
    return next(fitting(answers, catalog), None) is not None
