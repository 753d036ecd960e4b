"""Judgement of stage money on owning: rent or buy by utilisation, value at the end, colocation, own prices, purchases in phases."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

AROUND_THE_CLOCK = 100.0
"""Percent of the hours of a year: no utilisation is higher."""

OWNERSHIP_RULES: tuple[Rule, ...] = (
    Rule(
        id="money.colocation_published",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.colocation_assumed == True,),
        guidance=("G7.5",),
        because="Colocation is counted at {colocation_words}: {colocation_year_usd} a year for the power that must be reserved.",
    ),
    Rule(
        id="money.crossing",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.crossing_known == True, F.crossing_percent <= AROUND_THE_CLOCK),
        guidance=("G7.5",),
        decides=("cost.crossing_utilisation", "{crossing_percent}"),
        because=(
            "An owned GPU-hour costs {per_gpu_hour}, used or not; clouds ask {rent_low_usd} to {rent_high_usd} for one that is used. Both "
            "cost the same where GPUs are busy {crossing_percent} of their hours (between {crossing_low_percent} and "
            "{crossing_high_percent}, by the prices): below that renting is cheaper, above it owning. The totals leave out {left_out}."
        ),
    ),
    Rule(
        id="money.crossing_never",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.crossing_known == True, F.crossing_percent > AROUND_THE_CLOCK),
        guidance=("G7.5",),
        because=(
            "An owned GPU-hour costs {per_gpu_hour}, clouds ask {rent_low_usd} to {rent_high_usd}: renting is cheaper "
            "for {ownership_years}, unless the servers are used longer, bought cheaper, or fetch something in the end."
        ),
        fix=(Fix("budget.years", "use the cluster longer"),),
        ask=Ask(
            to="cloud provider",
            ask="What do {gpu_count} × {gpu_name} with this fabric cost for {ownership_years}, reserved?",
            good_answer="less than {per_gpu_hour}, with the date until which the offer holds",
        ),
    ),
    Rule(
        id="money.own_prices",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.own_price_count > 0,),
        guidance=("G7.5",),
        because="The design ranks by {own_price_count} price(s) of your own, before those of the catalog.",
    ),
    Rule(
        id="money.phased",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.phase_count > 1,),
        guidance=("G7.5",),
        decides=("cost.phases", "{phase_count}"),
        because=(
            "Bought in {phase_count} phases over {last_phase_months} months: the first costs {first_phase_usd} and gives "
            "{first_phase_gpus} GPUs in {first_phase_racks} racks at {first_phase_kw}, with storage and cooling for all{unpriced_words}. "
            "Spines and units are planned for the full size, so that nothing is rewired; later prices and generations are not known."
        ),
    ),
    Rule(
        id="money.phased_run",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.phased_days > F.deadline_days, F.deadline_days > 0.0),
        guidance=("G7.5",),
        because=(
            "Started on the {first_phase_gpus} GPUs of the first purchase, the run takes {phased_days}, and not the {deadline_days} of the "
            "deadline, which count on all {gpu_count} GPUs from the first day."
        ),
        fix=(Fix("budget.phases", "buy it at once", "1"), Fix("scale.deadline", "give the run more time", "{phased_days}")),
    ),
    Rule(
        id="money.residual",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.residual_known == True, F.residual_given == False),
        guidance=("G7.5",),
        because=(
            "After {ownership_years} the servers may fetch {residual_usd} ({residual_low_usd} to {residual_high_usd}), as H100 sold second "
            "hand did; no total takes that off, and a new generation may halve it within months."
        ),
    ),
    Rule(
        id="money.schedule",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.ready_open == True, F.node_count > 1, F.own_server == False),
        guidance=("G7.6",),
        because=(
            "By what is published, training starts {ready_low_weeks} to {ready_high_weeks} after the order at the earliest; "
            "{critical_words} decide. No time is published for {ready_unknown}."
        ),
        ask=Ask(
            to="server vendor",
            ask="Who mounts and cables {unit_count} × {node}, in how many days per rack, and what must stand ready before they come?",
            good_answer="a plan with a date for every step, and one party that answers for the whole",
        ),
    ),
    Rule(
        id="money.utilisation_high",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.crossing_known == True, F.utilisation_given == True, F.utilisation_percent >= F.crossing_percent),
        guidance=("G7.5",),
        decides=("cost.rent_or_buy", "buy"),
        because=(
            "At {utilisation_percent} of the hours in use owning is cheaper than renting: both cross at {crossing_percent} (between "
            "{crossing_low_percent} and {crossing_high_percent})."
        ),
    ),
    Rule(
        id="money.utilisation_low",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.crossing_known == True, F.utilisation_given == True, F.utilisation_percent < F.crossing_percent),
        guidance=("G7.5",),
        because=(
            "At {utilisation_percent} of the hours in use renting is cheaper than owning: both cross at {crossing_percent} (between "
            "{crossing_low_percent} and {crossing_high_percent}), and clouds ask {rent_low_usd} to {rent_high_usd} per GPU-hour."
        ),
        fix=(Fix("budget.utilisation", "fill the cluster with other work", "{crossing_percent}"),),
        ask=Ask(
            to="cloud provider",
            ask="What do {gpu_count} × {gpu_name} with this fabric cost when they are used {utilisation_percent} of the time?",
            good_answer="less than {per_gpu_hour} for every hour of the year, used or not",
        ),
    ),
)
