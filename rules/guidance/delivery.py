"""Judgement of stage money on delivery: lead times, and what export rules say."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

_WHEN = Ask(
    to="server vendor",
    ask=(
        "When are all {unit_count} × {node} delivered, in which lots, and when are switches, adapters and cables there? What is paid when "
        "a date is missed?"
    ),
    good_answer="dates in the contract for every lot, the network no later than the first lot",
)

DELIVERY_RULES: tuple[Rule, ...] = (
    Rule(
        id="money.export_rules",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_export_note == True,),
        guidance=("G7.5",),
        because="{gpu_name}: {export_note}. Whether it may be bought and used where the cluster stands is a question of law, not of price.",
        fix=(Fix("preferences.gpus", "name a GPU that export rules leave alone"),),
        ask=Ask(
            to="server vendor",
            ask="Which export licence covers {gpu_name} at the site, and who holds it?",
            good_answer="a licence number, or a written statement that none is needed",
        ),
    ),
    Rule(
        id="money.lead_time_published",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.lead_known == True, F.own_server == False),
        guidance=("G7.6",),
        because=(
            "Delivery of {gpu_name} took {lead_words}; network parts take {network_lead_low_weeks} to {network_lead_high_weeks}. The "
            "slowest part decides when training starts.{allocation_words}"
        ),
        ask=_WHEN,
    ),
    Rule(
        id="money.lead_time_unknown",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.lead_known == False, F.own_server == False),
        guidance=("G7.6",),
        because=(
            "No lead time of {node} is published; network parts take {network_lead_low_weeks} to {network_lead_high_weeks}. "
            "The slowest part decides when training starts.{allocation_words}"
        ),
        ask=_WHEN,
    ),
)
