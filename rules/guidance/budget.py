"""Judgement of stage money on the budget and the objective: what fits, what wins, and whether to rent instead."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

MORE_TIME = Fix("scale.deadline", "give it more time, so that fewer nodes do", when=(F.time_binds == True,))
"""Offered where the deadline sets the size; where memory or an answer sets it, more time changes nothing."""
FEWER_NODES = Fix("scale.nodes", "take fewer nodes", when=(F.size_given == True, F.unit_count > 1))
OTHER_GPUS = Fix("preferences.gpus", "look at other GPUs")
UNPRICED_ON_TOP = "what has no price comes on top"

BUDGET_RULES: tuple[Rule, ...] = (
    Rule(
        id="money.budget_buys",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.scale_mode == "budget", F.price_known == True, F.has_budget == True, F.purchase_low_usd <= F.budget_usd),
        guidance=("G7.5",),
        decides=("design.size", "{unit_count} × {node}"),
        because=(
            "The budget of {budget_usd} sets the size: {unit_count} × {node} come to {purchase_usd} ({purchase_low_usd} to "
            "{purchase_high_usd}) with everything that has a price{kept_free_words}."
        ),
    ),
    Rule(
        id="money.budget_close",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.has_budget == True, F.price_known == True, F.purchase_usd <= F.budget_usd, F.purchase_high_usd > F.budget_usd),
        guidance=("G7.5",),
        because="{purchase_usd} fit the budget of {budget_usd}, but at the high end of the prices it is {purchase_high_usd}.",
        fix=(Fix("budget.purchase", "have the high end of the prices at hand", "{purchase_high_usd}"),),
        writes=("budget_tight",),
    ),
    Rule(
        id="money.budget_exceeded",
        stage=Stage.MONEY,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.has_budget == True, F.price_known == True, F.purchase_low_usd > F.budget_usd),
        guidance=("G7.5",),
        because=(
            "Even at the lowest prices the design costs {purchase_low_usd} (expected {purchase_usd}); the budget is {budget_usd}. "
            "Without a price and not counted: {missing}."
        ),
        fix=(
            Fix("budget.purchase", f"raise the budget to the expected price; {UNPRICED_ON_TOP}: {{missing}}", "{purchase_usd}"),
            MORE_TIME,
            FEWER_NODES,
            OTHER_GPUS,
        ),
        priority=20,
    ),
    Rule(
        id="money.budget_floor_exceeded",
        stage=Stage.MONEY,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.has_budget == True, F.price_known == False, F.purchase_floor_usd > F.budget_usd),
        guidance=("G7.5",),
        because=(
            "No price of {node} is known, but {unit_count} of it cost at least {purchase_floor_usd} ({floor_words}); the budget is "
            "{budget_usd}."
        ),
        fix=(
            Fix("budget.purchase", "raise the budget above {purchase_floor_usd} by what the rest of the servers costs"),
            MORE_TIME,
            FEWER_NODES,
            OTHER_GPUS,
        ),
        ask=Ask(
            to="server vendor",
            ask="What do {unit_count} × {node} cost, with warranty, support and delivery?",
            good_answer="a price with its date; more than {purchase_floor_usd} is expected",
        ),
        priority=20,
    ),
    Rule(
        id="money.budget_held",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_budget == True, F.price_known == True, F.purchase_high_usd <= F.budget_usd),
        guidance=("G7.5",),
        decides=("cost.outlay", "{purchase_usd}"),
        because=(
            "Even at the high end of the prices, {purchase_high_usd}, the design stays within {budget_usd}. Without a price and not"
            " counted: {missing}."
        ),
    ),
    Rule(
        id="money.budget_overrun",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_budget == True, F.price_known == True, F.purchase_low_usd <= F.budget_usd, F.purchase_usd > F.budget_usd),
        guidance=("G7.5",),
        because="{purchase_usd} are expected and {budget_usd} are there; only the low end of the prices, {purchase_low_usd}, fits.",
        fix=(
            Fix("budget.purchase", f"raise the budget to the expected price; {UNPRICED_ON_TOP}: {{missing}}", "{purchase_usd}"),
            MORE_TIME,
            FEWER_NODES,
        ),
        writes=("budget_tight",),
    ),
    Rule(
        id="money.budget_unpriced",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_budget == True, F.price_known == False, F.purchase_floor_usd <= F.budget_usd),
        guidance=("G7.5",),
        because=(
            "Budget unproven: no price of {node} is known. {unit_count} of it cost {purchase_floor_usd} or more ({floor_words}); whether "
            "{budget_usd} are enough cannot be told."
        ),
        ask=Ask(
            to="server vendor",
            ask="Can {unit_count} × {node} with network and storage be had for {budget_usd}?",
            good_answer="a quote below {budget_usd}, network and storage included",
        ),
        writes=("budget_unproven",),
    ),
    Rule(
        id="money.buying_decided",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(
            F.price_known == True,
            F.run_known == True,
            F.run_share_percent >= limit("cost-utilization"),
            F.ownership_years >= limit("cost-buy-vs-rent", "low"),
        ),
        guidance=("G7.5",),
        thresholds=("cost-utilization", "cost-buy-vs-rent"),
        decides=("cost.buy_or_rent", "buy"),
        because=(
            "The run fills {run_share_percent} of {ownership_years}; above {limit_cost_utilization} % of sustained use over "
            "{limit_cost_utilization_years} buying tends to win over renting, with people, spares and a hall of one's own. A "
            "GPU-hour costs {per_gpu_hour}."
        ),
    ),
    Rule(
        id="money.cheapest_decided",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.objective == "cheapest", F.price_known == True),
        guidance=("G7.5",),
        decides=("cost.ownership", "{ownership_usd}"),
        because=(
            "The objective is cost, not speed: owning {unit_count} × {node} for {ownership_years} costs {ownership_usd}, {per_gpu_hour}; "
            "it leaves out {left_out}."
        ),
    ),
    Rule(
        id="money.performance_first",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.objective == "fastest",),
        guidance=("G7.6",),
        decides=("design.objective", "fastest"),
        because="The objective is speed, money second: {gpu_count} × {gpu_name}; a GPU-hour costs {per_gpu_hour}.",
    ),
    Rule(
        id="money.rent_instead",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.run_known == True, F.rent_known == True, F.run_share_percent < limit("cost-utilization")),
        guidance=("G7.5",),
        thresholds=("cost-utilization", "cost-buy-vs-rent"),
        because=(
            "The run fills {run_share_percent} of {ownership_years} of ownership; below {limit_cost_utilization} % renting tends to win. "
            "Clouds ask {rent_low_usd} to {rent_high_usd} per GPU-hour, at least {rent_run_low_usd} for the run."
        ),
        ask=Ask(
            to="cloud provider",
            ask="What do {gpu_count} × {gpu_name} with this fabric cost for {run_gpu_hours} GPU-hours, reserved?",
            good_answer="{rent_good_answer}",
        ),
    ),
    Rule(
        id="money.rented_magnitude",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.rental_band_applies == True, F.node_count > 1),
        guidance=("G7.5",),
        thresholds=("cost-cluster-3y",),
        because=(
            "{limit_cost_cluster_3y_nodes} rented nodes cost {limit_cost_cluster_3y_low} to {limit_cost_cluster_3y_high} million "
            "USD over {limit_cost_cluster_3y_years}; {gpu_count} × {gpu_name} for {ownership_years} are {rental_band_low_usd} to "
            "{rental_band_high_usd} at that rate."
        ),
        ask=Ask(
            to="cloud provider",
            ask="What do {gpu_count} × {gpu_name} cost for {ownership_years}, network and storage included?",
            good_answer="within {rental_band_low_usd} to {rental_band_high_usd}, with its date",
        ),
    ),
    Rule(
        id="money.run_cost",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.price_known == True, F.run_known == True, F.full_training == True),
        guidance=("G7.5",),
        thresholds=("cost-flops",),
        decides=("cost.run", "{run_usd}"),
        because=(
            "The run takes {run_gpu_hours} GPU-hours at {gigaflop_per_unit}, {limit_cost_flops} FLOP per active parameter and token and "
            "the attention ({limit_cost_flops_full_recompute} with full recompute); at {per_gpu_hour} that is {run_usd}, or "
            "{per_million}{unpriced_words}."
        ),
    ),
    Rule(
        id="money.run_cost_in_part",
        stage=Stage.MONEY,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.price_known == True, F.run_known == True, F.full_training == False),
        guidance=("G7.5",),
        decides=("cost.run", "{run_usd}"),
        because=(
            "The run takes {run_gpu_hours} GPU-hours at {gigaflop_per_unit}; at {per_gpu_hour} that is {run_usd}, or "
            "{per_million}{unpriced_words}."
        ),
    ),
)
