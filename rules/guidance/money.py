"""Judgement of stage money: what a total rests on and leaves out, and which prices to ask for."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.budget import BUDGET_RULES
from rules.guidance.declare import Ask, F, Fix, Rule, limit
from rules.guidance.delivery import DELIVERY_RULES
from rules.guidance.ownership import OWNERSHIP_RULES

STALE_MONTHS = 3
"""A quarter: since the memory shortage that began late in 2025, older hardware prices do not hold (notes of the price catalog)."""

_PRICE_RULES: tuple[Rule, ...] = (
    Rule(
        id="money.announced",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.product_status == "announced",),
        guidance=("G7.5",),
        because=(
            "{node} or its {gpu_name} is announced, not for sale: price and date are press reports, and it is here because it was "
            "asked for."
        ),
        fix=(Fix("preferences.announced_products", "leave announced products out", "exclude"),),
        ask=Ask(
            to="server vendor",
            ask="When can {unit_count} × {node} be delivered, with which penalty for delay, and at what price?",
            good_answer="a firm date and price in writing",
        ),
    ),
    Rule(
        id="money.electricity_assumed",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.energy_known == True, F.electricity_given == False),
        guidance=("G7.5",),
        because=(
            "No price of electricity was given: {electricity_usd_per_kwh} is counted, {electricity_range} as the range; "
            "{electricity_basis}. A year's energy is {energy_year_usd}."
        ),
    ),
    Rule(
        id="money.electricity_tariff",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.energy_known == True, F.has_region == True, F.electricity_of_place == False),
        guidance=("G7.5",),
        because="The price of electricity in {region} is not in the catalog; {electricity_range} is a range of other places.",
        ask=Ask(
            to="electricity supplier or datacenter",
            ask="What does a kilowatt-hour cost in {region}, with grid fees, taxes and levies, and for how long is the price fixed?",
            good_answer="a price per kWh with its date; enter it as the price of electricity",
        ),
    ),
    Rule(
        id="money.end_of_life",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.product_status == "end_of_life",),
        guidance=("G7.5",),
        because="{node} or its {gpu_name} is no longer sold new: spares and support end first.",
        fix=(Fix("preferences.gpus", "choose a current GPU"),),
        ask=Ask(
            to="server vendor",
            ask="Until when are spare parts, firmware and support of the {node} guaranteed?",
            good_answer="for the {ownership_years} of use, in writing",
        ),
    ),
    Rule(
        id="money.energy_basis",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.energy_known == True,),
        guidance=("G5.7",),
        thresholds=("cost-energy-a100",),
        because=(
            "Energy is counted at {energy_per_gpu_hour} kWh per GPU-hour, from typical power and the PUE around the clock; BLOOM's "
            "run took {limit_cost_energy_a100} on A100, GPUs of 400 W."
        ),
    ),
    Rule(
        id="money.low_confidence",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.price_known == True, F.server_confidence == "low"),
        guidance=("G7.5",),
        because=(
            "The price of {node}, {server_price_usd} of {server_price_date}, is trusted little ({server_price_note}) and carries the total."
        ),
        ask=Ask(
            to="server vendor",
            ask="What do {unit_count} × {node} cost, with warranty, support and delivery?",
            good_answer="about {server_price_usd} each; the total of {purchase_usd} rests on it",
        ),
    ),
    Rule(
        id="money.newer_not_worth",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(
            F.architecture == "Blackwell",
            F.language_model == True,
            F.price_over_h200 > limit("cost-h200-b200", "short_gain"),
            F.sequence_length < limit("cost-h200-b200", "sequence_tokens"),
        ),
        guidance=("G1b.3", "G7.5"),
        thresholds=("cost-h200-b200",),
        because=(
            "A {gpu_name} costs {price_over_h200} times an H200 here and trains sequences of {sequence_length} tokens about "
            "{limit_cost_h200_b200_short_gain} times as fast; twice the price pays from {limit_cost_h200_b200_sequence_tokens} "
            "tokens on."
        ),
        fix=(Fix("preferences.gpus", "compare with H200", "nvidia-h200-sxm-141gb"),),
    ),
    Rule(
        id="money.network_in_price",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.server_covers_network == True,),
        guidance=("G7.5",),
        because="No price of {node} is known. It is counted at {server_price_usd}: {server_price_note}.",
    ),
    Rule(
        id="money.ownership_scope",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.price_known == True,),
        guidance=("G7.5",),
        thresholds=("cost-tco-cover",),
        because=(
            "Over {ownership_years} {included} are {ownership_usd}; left out are {left_out}. In one report GPU hardware was "
            "{limit_cost_tco_cover} % of five years' cost."
        ),
    ),
    Rule(
        id="money.parts_unpriced",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.price_known == True, F.has_missing_network == True),
        guidance=("G7.5",),
        because="{missing_network_words} no price, so no total holds {missing_network}.",
        ask=Ask(
            to="network vendor",
            ask="What do these cost, delivered: {missing_network}?",
            good_answer="a price for every line, with its date",
        ),
    ),
    Rule(
        id="money.price_stale",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.price_known == True, F.has_dated_price == True, F.price_age_months > STALE_MONTHS),
        guidance=("G7.5",),
        because=(
            "The oldest price used ({oldest_price}) is up to {price_age_months} months older than the newest in the catalog; since the "
            "memory shortage prices older than a quarter do not hold."
        ),
        ask=Ask(
            to="server vendor",
            ask="Until when does the quote for {unit_count} × {node} hold?",
            good_answer="until the order is placed",
        ),
        judgement="a quarter: prices older than the memory shortage of late 2025 do not hold",
    ),
    Rule(
        id="money.price_unknown",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.HARD,
        when=(F.price_known == False,),
        guidance=("G7.5",),
        because="No public price of {node} is known, so the design has no total and cannot be ranked by cost.",
        ask=Ask(
            to="server vendor",
            ask="What do {unit_count} × {node} cost, with warranty, support and delivery?",
            good_answer="a price with its date; enter it as a price of the catalog or of your own server",
        ),
    ),
    Rule(
        id="money.product_notes",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.has_product_notes == True,),
        guidance=("G7.5",),
        because="The catalog notes of {node}: {product_notes}.",
        ask=Ask(
            to="server vendor",
            ask="Does this hold for the {node} as offered: {product_notes}?",
            good_answer="yes, or what differs, in writing",
        ),
    ),
    Rule(
        id="money.region_unknown",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_region == True, F.region_known == False),
        guidance=("G7.5",),
        because="The catalog knows no region called {region}: neither the price of electricity nor the carbon of its grid can be told.",
        fix=(Fix("facility.region", "name a country, or a state of the United States"),),
    ),
    Rule(
        id="money.server_parts_unpriced",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.price_known == True, F.has_missing_server == True),
        guidance=("G7.5",),
        because="{missing_server_words} no price, so no total holds {missing_server}.",
        ask=Ask(
            to="server vendor",
            ask="What do these cost, delivered: {missing_server}?",
            good_answer="a price for every line, with its date",
        ),
    ),
    Rule(
        id="money.service_levels",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.unit_count > 1,),
        guidance=("G7.5",),
        thresholds=("cost-sla-numbers",),
        because="A contract without numbers is best effort; {unit_count} × {node} are worth as much as they run.",
        ask=Ask(
            to="server vendor",
            ask=(
                "Which availability of nodes, network and storage is guaranteed per month, how fast are parts replaced, and what is"
                " paid when it is missed?"
            ),
            good_answer="{limit_cost_sla_numbers} % or more per month, with penalties",
        ),
    ),
    Rule(
        id="money.site_unpriced",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.price_known == True, F.has_missing_site == True),
        guidance=("G7.5",),
        because="{missing_site_words} no price, so no total holds {missing_site}.",
        ask=Ask(
            to="datacenter",
            ask="What do these cost, delivered: {missing_site}?",
            good_answer="a price for every line, with its date",
        ),
    ),
    Rule(
        id="money.storage_by_class",
        stage=Stage.MONEY,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.storage_by_class == True,),
        guidance=("G7.5",),
        because=(
            "No price of {storage_by_class_names} is published; {storage_by_class_words} are counted, by the class of the system and its "
            "usable capacity. The product was not chosen by it."
        ),
        ask=Ask(
            to="storage vendor",
            ask="What does this cost, delivered, with software and support: {storage_by_class_names}?",
            good_answer="a price per usable terabyte without data reduction, with its date",
        ),
    ),
    Rule(
        id="money.storage_unpriced",
        stage=Stage.MONEY,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.price_known == True, F.has_missing_storage == True),
        guidance=("G7.5",),
        because="{missing_storage_words} no price, so no total holds {missing_storage}.",
        ask=Ask(
            to="storage vendor",
            ask="What do these cost, delivered: {missing_storage}?",
            good_answer="a price for every line, with its date",
        ),
    ),
    Rule(
        id="money.unverified",
        stage=Stage.MONEY,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.verified == False,),
        guidance=("G7.5",),
        because="Values of {node} or its {gpu_name} were not read at their source; a purchase should not rest on them.",
        fix=(Fix("preferences.unverified_products", "leave unverified products out", "exclude"),),
        ask=Ask(
            to="server vendor",
            ask="What are power, memory, bandwidth and price of the {node}, in writing?",
            good_answer="a datasheet with its date",
        ),
    ),
)

RULES: tuple[Rule, ...] = tuple(sorted((*BUDGET_RULES, *DELIVERY_RULES, *OWNERSHIP_RULES, *_PRICE_RULES), key=lambda rule: rule.id))
"""All rules of the stage, by id."""
