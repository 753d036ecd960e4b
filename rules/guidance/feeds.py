"""Judgement of stage power on what feeds the racks: supplies and paths, outlets, switching on, UPS and generator, swings of the load."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.building import CAP
from rules.guidance.declare import Ask, F, Fix, Rule, limit

FEED_RULES: tuple[Rule, ...] = (
    Rule(
        id="power.backup_derated",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.backup_there == True, F.altitude_m > limit("pow-altitude-ups")),
        guidance=("G4.6", "G1f.2"),
        thresholds=("pow-altitude-ups", "pow-altitude-generator"),
        because=(
            "At {altitude_m} a UPS gives about {ups_left_percent} of its rating ({limit_pow_altitude_ups_percent} less for each "
            "{limit_pow_altitude_ups_step_m} above {limit_pow_altitude_ups_from_m}) and a generator about {generator_left_percent} "
            "({limit_pow_altitude_generator_percent} less for each {limit_pow_altitude_generator_step_m} above "
            "{limit_pow_altitude_generator_from_m}). Counted for it, at sea level: UPS {ups_words}, generator {generator_words}."
        ),
        ask=Ask(
            to="datacenter",
            ask="What do UPS and generator give at {altitude_m} in summer, by their makers' derating curves?",
            good_answer="{it_power_kw} behind the UPS and {total_power_kw} behind the generator at {altitude_m}, in writing",
        ),
    ),
    Rule(
        id="power.backup_missing",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.power_known == True, F.ups_none == True, F.in_racks == True),
        guidance=("G4.6", "G1f.2"),
        because=(
            "There is no UPS: every dip of the utility stops all {units_words} and costs the work since the last checkpoint. Storage, "
            "switches and management servers need one least of all to be large, and most of all to be there."
        ),
        ask=Ask(
            to="datacenter",
            ask="How often did the supply dip in the last years, and is there a UPS for storage, network and management alone?",
            good_answer="a UPS for what must not lose data; for the GPUs at least clean power and a shutdown in order",
        ),
    ),
    Rule(
        id="power.backup_sized",
        stage=Stage.POWER,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.ups_said == True, F.ups_none == False),
        guidance=("G4.6", "G1f.2"),
        decides=("power.ups", "{ups_words}"),
        because=(
            "The UPS carries all equipment, {it_power_kw}: {ups_words}. Generator: {generator_words}; it carries cooling as well, "
            "{total_power_kw}."
        ),
    ),
    Rule(
        id="power.backup_unknown",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.power_known == True, F.ups_said == False, F.in_racks == True),
        guidance=("G4.6", "G1f.2"),
        because="Whether a UPS and a generator stand behind the racks was not said; {it_power_kw} of equipment hang on them.",
        ask=Ask(
            to="datacenter",
            ask="What stands between the utility and these racks: UPS and generator, their ratings, redundancy and time on battery?",
            good_answer="{it_power_kw} behind a UPS, {total_power_kw} behind a generator, or an accepted stop when the utility fails",
        ),
    ),
    Rule(
        id="power.load_swings",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.swing_known == True, F.in_racks == True, F.swing_kw >= limit("pow-load-swing")),
        guidance=("G4.6", "G5.7"),
        thresholds=("pow-load-swing",),
        because=(
            "Synchronous training makes all GPUs compute and wait in step: the load falls and rises by up to {swing_kw}, "
            "{swing_percent} of {it_power_kw}, often and within milliseconds. Swings of that order strained the grid while Llama 3 was "
            "trained; NVIDIA's power shelves with storage take up to {limit_pow_load_swing_smoothed_percent} off the peak."
        ),
        ask=Ask(
            to="datacenter",
            ask="Which steps of load and which rates of change does the utility allow, at which frequencies, and who pays for smoothing?",
            good_answer="steps of {swing_kw} within milliseconds, around the clock, or smoothing in the racks",
        ),
        judgement="the paper says tens of megawatts; 10 MW is the least that is called so",
    ),
    Rule(
        id="power.outlet_overloaded",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.supplies_known == True, F.is_rack == False, F.feed_given == True, F.supply_a > F.outlet_limit_a),
        guidance=("G1f.2",),
        because=(
            "One supply of {node} draws {supply_a} at {outlet_v} once the spare ones are gone; an outlet of kind {outlet_kind} carries "
            "{outlet_limit_a}."
        ),
        fix=(Fix("facility.feed", "use a feed of more voltage at the outlets"),),
        ask=Ask(
            to="server vendor",
            ask="Which cords and outlets do the supplies of {node} need at {outlet_v}, at full load with one supply lost?",
            good_answer="outlets that carry {supply_a}",
        ),
    ),
    Rule(
        id="power.outlets_short",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.outlets_known == True, F.outlets_needed > F.outlets_offered),
        guidance=("G1f.2",),
        because=(
            "The nodes of a full {place_word} have {outlets_needed} cords; the units of {feed} have {outlets_offered} {outlet_kind} "
            "outlets: more units, or ones with other outlets, are needed."
        ),
        ask=Ask(
            to="datacenter",
            ask="Which distribution units serve a {place_word}, with how many {outlet_kind} outlets on how many paths and banks?",
            good_answer="at least {outlets_needed} {outlet_kind} outlets, spread over the paths and over the banks of each unit",
        ),
    ),
    Rule(
        id="power.path_lost",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(
            F.power_known == True,
            F.supplies_known == True,
            F.in_racks == True,
            F.is_rack == False,
            F.feed_paths >= 2,
            F.unit_survives_path == False,
            F.paths_needed >= 2,
        ),
        guidance=("G1f.2", "G4.6"),
        thresholds=("pow-psu-redundancy",),
        because=(
            "With its {supply_count} cords on {feed_paths} paths, one {node} keeps {supplies_left} supplies when a path is lost and needs "
            "{supplies_needed} for {node_power_kw}: it throttles or stops. Spread over {paths_needed} paths it runs on."
        ),
        ask=Ask(
            to="datacenter",
            ask="Can {paths_needed} independent paths reach each {place_word}, each with its share of the cords?",
            good_answer="{paths_needed} paths, or an accepted stop of the {place_word} when one is lost",
        ),
    ),
    Rule(
        id="power.supplies_not_redundant",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.supplies_redundant == True, F.supply_usable_kw < F.node_power_kw),
        guidance=("G1f.2",),
        thresholds=("pow-psu-redundancy",),
        because=(
            "With its spare supplies gone one {node} has {supply_usable_kw} for a peak of {node_power_kw}: it throttles or stops when"
            " a feed is lost."
        ),
        ask=Ask(
            to="server vendor",
            ask="What does one {node} do at full load when one feed fails: run on, throttle, or stop?",
            good_answer="run on, with supplies that carry {node_power_kw}",
        ),
    ),
    Rule(
        id="power.supply_exhausted",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.is_own_server == True, F.supplies_known == True, F.supply_load_percent > limit("pow-psu-load", "reject")),
        guidance=("G1f.2",),
        thresholds=("pow-psu-load",),
        because=(
            "One {node} draws {node_power_kw}, {supply_load_percent} of what its supplies are rated at, {supply_installed_kw}: nothing is "
            "left for the peaks of its GPUs. {limit_pow_psu_load} % is the usual ceiling."
        ),
        fix=(Fix("own_server.supply_rating", "use larger supplies"), CAP),
        judgement="no source prints 95 %: a supply of 1,600 W under 1,717 W had no margin left, one at 95 % has nearly none",
    ),
    Rule(
        id="power.supply_overloaded",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.supplies_known == True, F.supplies_redundant == False, F.supply_load_percent > limit("pow-psu-load")),
        guidance=("G1f.2",),
        thresholds=("pow-psu-load",),
        because=(
            "One {node} loads its supplies to {supply_load_percent} of {supply_installed_kw}; {limit_pow_psu_load} % is the usual "
            "ceiling, since GPUs peak above their rating for milliseconds."
        ),
        ask=Ask(
            to="server vendor",
            ask="Which supplies carry {node_power_kw} and the GPUs' peaks?",
            good_answer="supplies that {node_power_kw} load to 80 % or less",
        ),
    ),
    Rule(
        id="power.swings_on_backup",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.swing_known == True, F.in_racks == True, F.backup_there == True),
        guidance=("G4.6", "G5.7"),
        because=(
            "Synchronous training makes all GPUs compute and wait in step: behind the UPS ({ups_words}) and the generator "
            "({generator_words}) the load falls and rises by up to {swing_kw}, {swing_percent} of {it_power_kw}, in every step."
        ),
        ask=Ask(
            to="datacenter",
            ask="How large a step of load, how often, do UPS and generator take without changing to battery or leaving their frequency?",
            good_answer="steps of {swing_kw} within milliseconds, around the clock, or smoothing in the racks",
        ),
    ),
    Rule(
        id="power.switch_on_in_turn",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.power_known == True, F.feed_given == True, F.in_racks == True, F.switch_on_in_turn == True),
        guidance=("G1f.2",),
        because=(
            "Switched on at once, the supplies of a full {place_word} draw up to {inrush_a} for milliseconds; breakers of {feed} may trip "
            "from {breaker_trip_a} each: about {units_at_once} of {nodes_per_rack} nodes at a time."
        ),
        ask=Ask(
            to="server vendor",
            ask="What inrush current does one supply of {node} draw, and can nodes be set to switch on one after the other?",
            good_answer="a delay per node after the power returns, set in its management controller",
        ),
    ),
)
