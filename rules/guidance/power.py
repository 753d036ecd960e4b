"""Judgement of stage power: what the building must give, where the design is tight, and what to ask about it."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.building import BUILDING_RULES, CAP
from rules.guidance.cooling import COOLING_RULES
from rules.guidance.declare import Ask, F, Fix, Rule, limit
from rules.guidance.feeds import FEED_RULES
from rules.guidance.racks import RACK_RULES

_POWER_RULES: tuple[Rule, ...] = (
    Rule(
        # An A100 module in a tower with one supply of 1,400 W ran at 240 of its 400 W [l4rz, reverse-engineering-dell-idrac, issue 3].
        id="power.chassis_qualified",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.is_own_server == True, F.gpu_sum_known == True),
        writes=("asked_load",),
        guidance=("G5.7", "G1f.2"),
        because=(
            "No catalog record vouches for {node}: a chassis caps GPUs that its maker has not qualified; {gpu_power_w} each are counted."
        ),
        ask=Ask(
            to="server vendor",
            ask=(
                "Are these {gpu_count_per_unit} GPUs on the chassis vendor's list of qualified GPUs, and do its supplies, cables and air "
                "hold {gpu_power_w} for each?"
            ),
            good_answer="listed, with {gpu_power_w} per GPU held without a power cap over an hour of training",
        ),
    ),
    Rule(
        id="power.circuit_overloaded",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.feed_given == True, F.circuits_per_unit > F.cords_per_unit),
        guidance=("G1f.2", "G4.6"),
        thresholds=("pow-circuit-80",),
        because=(
            "One {node} draws {node_power_kw} and needs {circuits_per_unit} circuit(s) of {circuit_usable_kw} ({limit_pow_circuit_80} % of "
            "the breaker); it can hang on {cords_per_unit}: as many as supplies that carry it (one where these are not stated) and as "
            "circuits that reach it."
        ),
        fix=(
            Fix("facility.feed", "use a feed of more voltage or phases"),
            Fix(
                "facility.circuits_per_rack",
                "bring another circuit to the machine",
                "{circuits_wanted}",
                when=(F.circuits_kw > 0.0, F.circuits_per_unit <= F.supplies_carrying),
            ),
            CAP,
        ),
        writes=("power_binds",),
        priority=20,
    ),
    Rule(
        id="power.factory_set_point",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_factory_limit == True,),
        guidance=("G5.7", "G1f.1"),
        because=(
            "The GPUs of {node} are shipped with a set point of {factory_limit_w} of their {gpu_power_w}: until it is raised they reach "
            "neither the speed nor the power that is counted here."
        ),
        ask=Ask(
            to="server vendor",
            ask="Will the GPUs of {node} be delivered with their power set point at {gpu_power_w}, and does the system hold it?",
            good_answer="{gpu_power_w} for every GPU, held over an hour of training; {node_power_kw} at the inlet",
        ),
    ),
    Rule(
        id="power.feed_decided",
        stage=Stage.POWER,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.feed_known == True, F.feed_given == True, F.circuits_per_unit <= F.cords_per_unit),
        guidance=("G1f.2",),
        thresholds=("pow-circuit-80",),
        decides=("power.feed", "{feed}"),
        because=(
            "The {fullest_word} draws {rack_power_kw}; these circuits carry {feed_usable_kw} continuously, {limit_pow_circuit_80} % "
            "{breaker_words}. Of these, {feed_loss_words}."
        ),
    ),
    Rule(
        id="power.feed_not_redundant",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.power_known == True, F.feed_given == True, F.in_racks == True, F.feed_survives == False),
        guidance=("G1f.2", "G4.6"),
        because=(
            "{feed} give {feed_usable_kw} together; the {fullest_word} draws {rack_power_kw}, more than is left when one circuit is lost."
        ),
        ask=Ask(
            to="datacenter",
            ask="Can each {place_word} have a second path of circuits that carries {rack_power_kw} alone, and what does it cost?",
            good_answer="two independent paths of {rack_power_kw} each, or an accepted stop of the {place_word}",
        ),
    ),
    Rule(
        id="power.feed_unknown",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.feed_given == False),
        guidance=("G1f.2", "G4.6"),
        thresholds=("pow-circuit-80",),
        because="No feed was given; {feed} are assumed, which carry {feed_usable_kw} at {limit_pow_circuit_80} % {breaker_words}.",
        ask=Ask(
            to="datacenter",
            ask="Which circuits reach a {place_word}: voltage, phases, breaker, how many, and on how many independent paths?",
            good_answer="at least {rack_power_kw} of continuous load for the {fullest_word}{paths_wished}",
        ),
    ),
    Rule(
        id="power.full_load",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.is_own_server == False),
        writes=("asked_load",),
        guidance=("G5.7",),
        because=(
            "The design counts {node_power_kw} and {node_heat_kw} of heat per {node} ({node_power_basis}), {rack_power_kw} in the "
            "{fullest_word}."
        ),
        ask=Ask(
            to="server vendor",
            ask=(
                "What does one {node} draw at its inlet and give off as heat at full training load, with how much air or coolant, "
                "at {inlet_celsius}?"
            ),
            good_answer="at most {node_power_kw} and {node_heat_kw} of heat each, measured over an hour of training",
        ),
    ),
    Rule(
        id="power.node_below_gpus",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.HARD,
        when=(F.power_known == True, F.gpu_sum_known == True, F.node_power_kw < F.gpu_sum_kw),
        guidance=("G1f.2",),
        thresholds=("pow-not-tdp-sum",),
        because=(
            "{node_power_kw} for one {node} is less than its {gpu_count_per_unit} GPUs may draw alone, {gpu_sum_kw}: they would have "
            "to be capped, or the figure is wrong."
        ),
        fix=(Fix("own_server.power", "enter the power of the whole server at full load", when=(F.is_own_server == True,)),),
        ask=Ask(
            to="server vendor",
            ask="What does one {node} draw with all GPUs at their rating of {gpu_power_w}?",
            good_answer="more than {gpu_sum_kw}",
        ),
    ),
    Rule(
        id="power.node_estimated",
        stage=Stage.POWER,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.node_power_kind == "estimated",),
        guidance=("G1f.2",),
        thresholds=("pow-overhead-factor",),
        because=(
            "One {node} is counted at {node_power_kw}, from {node_power_basis}; published systems of eight air-cooled GPUs draw "
            "{limit_pow_overhead_factor_air_8gpu_low} to {limit_pow_overhead_factor_air_8gpu_high} times the sum of their GPUs, "
            "here {gpu_sum_kw}."
        ),
    ),
    Rule(
        id="power.node_maximum",
        stage=Stage.POWER,
        kind=Kind.DECISION,
        strength=Strength.HARD,
        when=(F.power_known == True, F.gpu_sum_known == True, F.node_power_kw >= F.gpu_sum_kw),
        guidance=("G1f.2", "G4.6"),
        thresholds=("pow-not-tdp-sum",),
        decides=("power.node_maximum", "{node_power_kw}"),
        because=(
            "Feeds and places are planned for {node_power_kw} per {node} ({node_power_basis}), not for the {gpu_sum_kw} of its GPUs:"
            " processors, memory, fans and losses are the rest."
        ),
    ),
    Rule(
        id="power.power_cap",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.power_known == True,),
        premise="power_binds",
        guidance=("G1f.1",),
        thresholds=("pow-cap-3090", "pow-cap-h100"),
        because=(
            "Where power binds, a cap on the GPUs costs less speed than it saves: an RTX 3090 kept {limit_pow_cap_3090} of its "
            "speed at {limit_pow_cap_3090_limit_w} of {limit_pow_cap_3090_maximum_w}; an H100 lost "
            "{limit_pow_cap_h100_lost_low_percent} to {limit_pow_cap_h100_lost_high_percent} at {limit_pow_cap_h100} of "
            "{limit_pow_cap_h100_maximum_w}. Other GPUs must be measured."
        ),
        fix=(Fix("own_server.power", "enter the power of the server with its GPUs capped", when=(F.is_own_server == True,)),),
        ask=Ask(
            to="server vendor",
            ask="How fast does one {node} train with its GPUs capped to three quarters of their rating?",
            good_answer="a measured share of full speed",
        ),
    ),
    Rule(
        id="power.pue_optimistic",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.pue_given == True, F.pue < limit("pow-pue", "hyperscale_low")),
        guidance=("G4.6",),
        thresholds=("pow-pue",),
        because=(
            "A PUE of {pue} is below the {limit_pow_pue_hyperscale_low} that the largest operators reach; {total_power_kw} in total"
            " rest on it."
        ),
        fix=(Fix("facility.pue", "use the measured yearly average of the hall"),),
    ),
    Rule(
        id="power.total_exceeded",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.has_total_limit == True, F.limit_is_soft == False, F.total_power_kw > F.total_power_limit_kw),
        guidance=("G1f.1", "G4.6"),
        because="{it_power_kw} for {units_words} and the rest, at a PUE of {pue}, draw {total_power_kw}; {total_power_limit_kw} are there.",
        fix=(Fix("facility.total_power", "get the power that the design draws", "{total_power_kw}"), CAP),
        writes=("power_binds",),
        priority=20,
    ),
    Rule(
        id="power.total_tight",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(
            F.power_known == True,
            F.has_total_limit == True,
            F.total_power_kw <= F.total_power_limit_kw,
            F.total_share_percent > limit("pow-circuit-80"),
        ),
        guidance=("G4.6",),
        thresholds=("pow-circuit-80",),
        because=(
            "{total_power_kw} are {total_share_percent} of the {total_power_limit_kw} that are there; breakers carry "
            "{limit_pow_circuit_80} % of their rating continuously, and spares, storage growth and start-up need room."
        ),
        fix=(Fix("facility.total_power", "plan with headroom"),),
    ),
    Rule(
        id="power.total_unknown",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.has_total_limit == False, F.in_racks == True),
        guidance=("G1f.2", "G4.6"),
        thresholds=("pow-pue",),
        because="The design draws {total_power_kw} with a PUE of {pue}; whether the building gives that was not answered.",
        ask=Ask(
            to="datacenter",
            ask="How much power and cooling is free for this cluster, and when?",
            good_answer="at least {it_power_kw} of IT load and {heat_kw} of cooling, {total_power_kw} in total",
        ),
    ),
    Rule(
        id="power.unknown",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.HARD,
        when=(F.power_known == False,),
        writes=("asked_unknown_power",),
        guidance=("G5.7", "G1f.2"),
        because="Neither the power of one {node} nor that of its GPUs is published, so racks, feeds and cooling cannot be planned.",
        ask=Ask(
            to="server vendor",
            ask="What is the maximum power of one {node} and of its GPUs, and how is it cooled?",
            good_answer="a maximum in kW at the inlet",
        ),
    ),
    Rule(
        id="power.unknown_equipment",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.has_unknown_power == True,),
        guidance=("G5.7",),
        because="No power is published for the {unknown_power}; {it_power_kw} of IT load leave it out.",
        ask=Ask(
            to="network and storage vendors",
            ask="What do the switches and storage systems draw at full load, optics included?",
            good_answer="a maximum in kW for each",
        ),
    ),
    Rule(
        id="power.voltage_too_high",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.feed_given == True, F.is_rack == False, F.outlet_v > F.input_high_v),
        guidance=("G1f.2", "G4.6"),
        because=(
            "{feed} give {outlet_v} at an outlet; server supplies take up to {input_high_v}. Without a transformer to 415 V between lines, "
            "240 V to neutral, nothing may be plugged in."
        ),
        fix=(Fix("facility.feed", "plan the circuits behind the transformer", "415v_three_phase"),),
        ask=Ask(
            to="datacenter",
            ask="At which voltage do the outlets of a rack arrive, and who supplies the transformers where it is above {input_high_v}?",
            good_answer="{input_high_v} or less to neutral at the rack",
        ),
    ),
    Rule(
        id="power.voltage_too_low",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.feed_given == True, F.outlet_v < F.input_low_v),
        guidance=("G1f.2", "G4.6"),
        because="{feed} give {outlet_v} at an outlet; the supplies of one {node} start at {input_low_v}.",
        fix=(Fix("facility.feed", "use a feed of {input_low_v} or more"),),
        priority=20,
    ),
    Rule(
        id="power.workstation_plugs",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.is_desktop == True, F.gpu_power_w > limit("pow-pcie-plugs")),
        guidance=("G1f.2",),
        thresholds=("pow-pcie-plugs",),
        because="A card of {gpu_power_w} draws more than one 8-pin plug carries, {limit_pow_pcie_plugs} W.",
        ask=Ask(
            to="server vendor",
            ask=("Has every card its own cables, one per {limit_pow_pcie_plugs} W or a 12-pin plug, and which supply feeds which card?"),
            good_answer="no shared or daisy-chained cable",
        ),
    ),
)

RULES: tuple[Rule, ...] = tuple(
    sorted((*BUILDING_RULES, *COOLING_RULES, *FEED_RULES, *RACK_RULES, *_POWER_RULES), key=lambda rule: rule.id)
)
"""All rules of the stage, by id."""
