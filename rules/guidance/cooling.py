"""Judgement of stage power on cooling: what air takes, which hall a node needs, and the temperatures at which clocks hold."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

MORE_LIQUID = Fix(
    "facility.cooling", "plan direct liquid cooling", "{hall_with_liquid}", when=(F.sold_with_liquid == True, F.cooling != "liquid")
)
"""Offered where the node exists with liquid cooling; on one that takes air alone it changes nothing."""
REAR_DOORS = Fix("facility.cooling", "plan rear doors at the racks", "{hall_with_doors}", when=(F.cooling == "air",))

COOLING_RULES: tuple[Rule, ...] = (
    Rule(
        id="power.air_density_exceeded",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.nodes_per_rack < 1, F.rack_binding == "cooling", F.node_power_kw > limit("pow-air-limit", "reject")),
        guidance=("G1f.1", "G1f.2"),
        thresholds=("pow-air-limit",),
        because="One {node} draws {node_power_kw}; {cooling_words} takes {limit_pow_air_limit_reject} kW from a rack at the very most.",
        fix=(MORE_LIQUID, REAR_DOORS, Fix("preferences.gpus", "look at GPUs whose servers are cooled by liquid")),
        priority=20,
        judgement="no source prints 45 kW: 41 kW were built by the vendor's design, other sources end at 30 kW",
    ),
    Rule(
        id="power.air_density_strained",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.cooling == "air", F.is_rack == False, F.rack_air_kw > limit("pow-air-limit", "warn")),
        guidance=("G1f.1", "G4.6"),
        thresholds=("pow-air-limit", "pow-b200-rack", "pow-node-b300"),
        because=(
            "A rack gives {rack_air_kw} of heat to the air. Sources disagree on what air takes: {limit_pow_air_limit_warn} kW is "
            "comfortable, four air-cooled DGX H100 come to {limit_pow_air_limit_reference} kW, NVIDIA's B300 racks to "
            "{limit_pow_node_b300_rack_kw} in special rooms."
        ),
        fix=(
            Fix(
                "facility.rack_power",
                "spread the nodes over more racks",
                "30 kW",
                when=(F.nodes_per_rack > 1, F.node_power_kw <= limit("pow-air-limit", "warn")),
            ),
            MORE_LIQUID,
            REAR_DOORS,
        ),
        ask=Ask(
            to="datacenter",
            ask="How much heat does the room take from one air-cooled rack, at which inlet temperature, and with how much air?",
            good_answer="at least {rack_air_kw} per rack at {inlet_celsius} or less, {airflow_cfm} in total",
        ),
        writes=("air_density_strained",),
    ),
    Rule(
        id="power.air_missing",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.cooling_matches == False, F.needs_liquid == False),
        guidance=("G1f.2", "G4.6"),
        because="One {node} needs {cooling_required}; the hall offers {hall_cooling}, and neither air nor rear doors among it.",
        fix=(
            Fix("facility.cooling", "say that the hall cools by air as well, if it does", "{hall_with_air}"),
            Fix(
                "facility.immersion_released", "name the server, if its vendor releases it for tanks", when=(F.hall_has_immersion == True,)
            ),
            Fix("preferences.gpus", "look at GPUs whose servers are cooled by liquid", when=(F.hall_has_liquid == True,)),
        ),
        priority=20,
    ),
    Rule(
        id="power.clocks_in_warm_air",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.clocks_low_percent < 100,),
        guidance=("G1f.1", "G5.7"),
        thresholds=("pow-throttle",),
        because=(
            "Air of {inlet_celsius} at {altitude_m} cools like air of {air_counts_as_celsius} at sea level, above the "
            "{inlet_recommended_celsius} that ASHRAE recommends. The step time counts on {clocks_expected_percent} of the GPUs' clocks, "
            "{clocks_low_percent} to 100 %, an estimate. A GPU that sits at {limit_pow_throttle_target_high} °C in air of "
            "{inlet_recommended_celsius} reaches its throttle of {limit_pow_throttle} °C in air that counts as {throttle_inlet_celsius}."
        ),
        ask=Ask(
            to="server vendor",
            ask="Which clocks do the GPUs of {node} hold over an hour of training in air of {inlet_celsius} at {altitude_m}?",
            good_answer="no clock lower than at {inlet_recommended_celsius} at sea level, in writing; no GPU above {limit_pow_throttle} °C",
        ),
    ),
    Rule(
        id="power.cooling_decided",
        stage=Stage.POWER,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.cooling_matches == True),
        guidance=("G1f.2", "G4.6"),
        decides=("facility.cooling", "{cooling_words}"),
        because=(
            "One {node} needs {cooling_required}, the hall offers {hall_cooling}; {heat_kw} of heat ({heat_btu}, {heat_tons} tons of "
            "refrigeration) leave with {airflow_cfm} of air ({airflow_words}); coolant or water of doors: {water_flow}. The "
            "room's air keeps {room_heat_kw}; {air_words}."
        ),
    ),
    Rule(
        id="power.facility_water",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.cooling == "liquid", F.cooling_matches == True, F.liquid_heat_kw > 0),
        guidance=("G1f.2", "G4.6"),
        because=(
            "Coolant takes up to {liquid_heat_kw} and {water_flow}; {coolant_units} are counted, one of them spare. Units of this kind are "
            "rated for {facility_water}; {water_words}."
        ),
        ask=Ask(
            to="datacenter",
            ask=(
                "Which water reaches the coolant units: supply and return temperature, flow, pressure, quality, on how many paths; and who "
                "supplies units, manifolds, piping and leak detection?"
            ),
            good_answer="water for {liquid_heat_kw} with one unit, pump or path lost; {water_flow} on the racks' side",
        ),
    ),
    Rule(
        id="power.inlet_above_recommended",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.inlet_celsius > F.inlet_recommended_celsius, F.cooling != "liquid", F.cooling != "immersion"),
        guidance=("G1f.1",),
        thresholds=("pow-throttle",),
        because=(
            "Air of {inlet_celsius} enters the nodes (class {inlet_class}), above the {inlet_recommended_celsius} that ASHRAE recommends; "
            "GPUs throttle from {limit_pow_throttle} °C and hold lower clocks before that."
        ),
        fix=(Fix("facility.inlet_temperature", "cool the aisle to the recommended range", "{inlet_recommended_celsius}", lower=True),),
        ask=Ask(
            to="server vendor",
            ask="Is one {node} released for air of {inlet_celsius}, in which rack and with how much air?",
            good_answer="released, in writing, for a full rack",
        ),
    ),
    Rule(
        id="power.inlet_beyond_classes",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.inlet_celsius > F.inlet_highest_celsius,),
        guidance=("G1f.1", "G1f.2"),
        because=(
            "Air of {inlet_celsius} reaches the equipment; the warmest class of ASHRAE ends at {inlet_highest_celsius}: neither nodes nor "
            "switches and storage are built for it."
        ),
        fix=(Fix("facility.inlet_temperature", "cool the aisle to the recommended range", "{inlet_recommended_celsius}", lower=True),),
    ),
    Rule(
        id="power.inlet_too_warm",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.has_inlet_maximum == True, F.cooling != "immersion", F.inlet_celsius > F.inlet_maximum_celsius),
        guidance=("G1f.2",),
        because="Air of {inlet_celsius} enters the nodes; at {altitude_m} one {node} may run at up to {inlet_maximum_celsius}.",
        fix=(Fix("facility.inlet_temperature", "cool the aisle to what the node allows", "{inlet_maximum_celsius}", lower=True),),
    ),
    Rule(
        id="power.liquid_acceptance",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.cooling == "liquid", F.cooling_matches == True),
        guidance=("G1f.2", "G5.7"),
        thresholds=("pow-water-capture",),
        because=(
            "The share of heat that water takes decides how much the room's air must still take; here {liquid_share_percent} at "
            "most are counted, and {rack_air_kw} of the fullest rack stay with the room's air."
        ),
        ask=Ask(
            to="server vendor",
            ask="What share of the heat of one {node} goes to water, at which supply temperature and flow, and what is left for the air?",
            good_answer="{limit_pow_water_capture} % or more at the temperature of the loop; the design needs {water_flow} in total",
        ),
    ),
    Rule(
        id="power.liquid_missing",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.needs_liquid == True, F.hall_has_liquid == False),
        guidance=("G1f.2", "G4.6"),
        thresholds=("pow-nvl72",),
        because="One {node} is cooled by direct liquid only; the hall offers {hall_cooling}.",
        fix=(Fix("facility.cooling", "plan direct liquid cooling", "{hall_with_liquid}"),),
        priority=20,
    ),
    Rule(
        id="power.room_air_missing",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.cooling_matches == True, F.hall_has_air == False, F.in_racks == True),
        guidance=("G1f.2", "G4.6"),
        because=(
            "The hall offers {hall_cooling} and no air cooling; {room_heat_kw} stay with the room's air: what liquid does not take from "
            "the nodes, and all of the switches and the storage."
        ),
        ask=Ask(
            to="datacenter",
            ask="What takes the heat that stays with the room's air, and how much of it?",
            good_answer="{room_heat_kw} or more, by coolers in the rows or rear doors",
        ),
    ),
    Rule(
        id="power.sustained_clocks",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.power_known == True,),
        premise="air_density_strained",
        writes=("asked_sustained_clocks",),
        guidance=("G1f.1", "G5.7"),
        thresholds=("pow-throttle",),
        because=(
            "In a dense air-cooled rack the upper nodes breathe warmer air; GPUs aim at {limit_pow_throttle_target_low} to "
            "{limit_pow_throttle_target_high} °C and throttle from {limit_pow_throttle}."
        ),
        ask=Ask(
            to="server vendor",
            ask=(
                "Which GPU clocks and temperatures does a full rack of {nodes_words} of {node} hold after an hour of training at "
                "{inlet_celsius}?"
            ),
            good_answer="no throttling; every GPU below {limit_pow_throttle} °C",
        ),
    ),
    Rule(
        id="power.water_beyond_rating",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.cooling == "liquid", F.water_known == True, F.water_at_racks_celsius > F.coolant_highest_celsius),
        guidance=("G1f.2",),
        because=(
            "Water of {water_celsius} makes coolant of {water_at_racks_celsius} at the racks; coolant units and couplings are rated up to "
            "{coolant_highest_celsius}."
        ),
        fix=(Fix("facility.water_temperature", "supply cooler water", "45 °C", lower=True),),
    ),
    Rule(
        id="power.water_too_warm",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.cooling == "liquid", F.water_known == True, F.water_celsius > limit("pow-water-class")),
        guidance=("G1f.1", "G1f.2"),
        thresholds=("pow-water-class",),
        because=(
            "The loop has {water_words}: warmer than {limit_pow_water_class} °C, where the last class with a number ends (W45). No server "
            "of the catalog states that it holds its clocks with it."
        ),
        ask=Ask(
            to="server vendor",
            ask="Up to which temperature of coolant does {node} hold its clocks, and what does it do above?",
            good_answer="{water_at_racks_celsius} or more at full load, in writing",
        ),
        fix=(Fix("facility.water_temperature", "supply cooler water", "45 °C", lower=True),),
    ),
    Rule(
        id="power.water_warmer_than_air",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.cooling == "rear_door", F.water_known == True, F.water_celsius >= F.inlet_celsius),
        guidance=("G1f.2",),
        because=(
            "Water of {water_celsius} in rear doors cannot bring the air back to {inlet_celsius}, at which it enters the nodes: heat flows "
            "to what is cooler."
        ),
        fix=(Fix("facility.water_temperature", "supply water that is cooler than the air", lower=True),),
    ),
)
