"""What surely refuses a candidate before its network is sized: for questions that only ask whether anything fits.

Network and storage only add power, racks and cost, so a limit that the servers alone exceed is exceeded by the whole; the stages and
rules that say so here are those that judge every candidate. A candidate of which nothing is said here may be refused all the same.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.budget_size import size_is_what_limits_allow
from rules.findings import Kind, Strength
from rules.guidance.declare import CANDIDATE
from rules.guidance.power import RULES
from rules.judging import limits
from rules.sizing.facility import size_facility
from rules.sizing.lookup import threshold_number
from rules.sizing.ownership import once_factor
from rules.sizing.prices import server_quote
from rules.sizing.reliability import job_mtbf, restart_seconds
from rules.stages import power_facts

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.guidance.declare import Rule

NOT_ALONE = ("power.equipment_refused",)
"""Rules on what the racks take beside the servers."""
ROUNDED = 1 + 1e-9
"""What a sum may be larger by than the same in another order."""


def surely_refused(candidate: Candidate, context: Context) -> bool:
    """Return whether a candidate meets the answers in no case, whatever network and storage it gets: it has no plan, it alone costs or
    draws too much, or nobody knows its price beside a budget.

    Where the size is as large as the limits allow nothing is said, since a smaller one is taken then.
    """
    if size_is_what_limits_allow(context):
        return False
    return (
        candidate.choice is None
        or _costs_too_much(candidate, context)
        or _fails_too_often(candidate, context)
        or _is_too_much_for_the_hall(candidate, context)
    )


def _costs_too_much(candidate: Candidate, context: Context) -> bool:
    """Return whether the servers alone cost more than the budget at their lowest price, or have no price that could prove otherwise."""
    budget = context.answers.number("budget.purchase")
    if budget is None:
        return False
    server = server_quote(candidate.node, context.catalog, context.answers)
    return server is None or candidate.units * server.low * once_factor(context.answers) > budget * ROUNDED


def _fails_too_often(candidate: Candidate, context: Context) -> bool:
    """Return whether restarts alone leave less time than anybody published, were checkpoints free: exp(−restart / time between failures).

    Daly's formula, from which the stage takes the share, comes to that as interval and pause go to nothing.
    """
    _, restart_s, _ = restart_seconds(context.catalog)
    between_s = magnitude(job_mtbf(candidate.gpu, candidate.gpus, context.catalog).expected, "s")
    share = 100.0 * math.exp(-restart_s / between_s)
    return share * ROUNDED < threshold_number(context.catalog.thresholds, "rel-goodput-floor")


def _is_too_much_for_the_hall(candidate: Candidate, context: Context) -> bool:
    """Return whether a rule of the hall refuses the servers and their spares alone."""
    alone = replace(candidate, fabric=None, storage=None)
    sizing = size_facility(alone, context)
    if sizing.draw is None:
        return False
    fact: dict[str, Scalar] = {
        **power_facts.unit_facts(alone, context, sizing),
        **power_facts.total_facts(context, sizing),
        **power_facts.rack_facts(alone, context, sizing),
        **power_facts.cooling_facts(alone, context, sizing),
        **limits(RULES, context.catalog),
    }
    return any(all(each.holds(fact) for each in rule.when) for rule in _of_servers_alone(frozenset(fact)))


@lru_cache(maxsize=4)
def _of_servers_alone(fields: frozenset[str]) -> tuple[Rule, ...]:
    """Return the rules that refuse a candidate and read nothing but `fields`."""
    refusing = (rule for rule in RULES if rule.kind is Kind.REJECT and rule.strength is not Strength.ADVICE and rule.premise == CANDIDATE)
    return tuple(rule for rule in refusing if rule.id not in NOT_ALONE and fields.issuperset(rule.reads))
