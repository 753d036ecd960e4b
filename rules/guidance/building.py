"""Judgement of stage power on the building: the way in, the floor, the height above the sea, tanks, the PUE, and the cap as a lever."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

CAP = Fix(
    "facility.gpu_power_cap",
    "cap the GPUs, at about {fitting_speed_percent} of their speed",
    "{fitting_cap_w}",
    when=(F.can_be_capped == True,),
    lower=True,
)
"""Offered where power binds and a cap that drivers accept would make the design fit."""

BUILDING_RULES: tuple[Rule, ...] = (
    Rule(
        id="power.altitude_derates",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(
            F.has_inlet_maximum == True,
            F.cooling != "immersion",
            F.inlet_maximum_celsius < F.inlet_stated_celsius,
            F.inlet_celsius <= F.inlet_maximum_celsius,
        ),
        guidance=("G1f.1", "G1f.2"),
        because=(
            "At {altitude_m} the air has {air_pressure_percent} of its pressure: one {node} may run at up to {inlet_maximum_celsius}, not "
            "{inlet_stated_celsius}, and fans move more air for the same heat, {airflow_cfm} in total."
        ),
        ask=Ask(
            to="server vendor",
            ask="Up to which inlet temperature is one {node} released at {altitude_m}, with its supplies?",
            good_answer="released at {inlet_celsius} and {altitude_m}",
        ),
    ),
    Rule(
        id="power.altitude_too_high",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.altitude_m > F.altitude_limit_m,),
        guidance=("G1f.1", "G1f.2"),
        because=(
            "At {altitude_m} the air has {air_pressure_percent} of its pressure; classes of equipment end at {altitude_limit_m}, and so do "
            "most data sheets."
        ),
        ask=Ask(
            to="server vendor",
            ask="Is one {node} released at {altitude_m}, in writing, with its supplies and drives?",
            good_answer="released at {altitude_m} and {inlet_celsius}",
        ),
    ),
    Rule(
        id="power.cap_applied",
        stage=Stage.POWER,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_power_cap == True, F.power_known == True),
        guidance=("G1f.1", "G5.7"),
        thresholds=("pow-cap-3090", "pow-cap-h100"),
        decides=("power.gpu_cap", "{power_cap_w} per GPU"),
        because=(
            "Each GPU is capped at {power_cap_w}, {power_cap_percent} of its rating: {cap_saves_kw} less per {node}, and about "
            "{capped_speed_percent} of its arithmetic speed, {capped_speed_low_percent} to {capped_speed_high_percent} by readings: "
            "an RTX 3090 kept {limit_pow_cap_3090} at {limit_pow_cap_3090_limit_w} of {limit_pow_cap_3090_maximum_w}, an H100 lost "
            "{limit_pow_cap_h100_lost_low_percent} to {limit_pow_cap_h100_lost_high_percent} at {limit_pow_cap_h100} of "
            "{limit_pow_cap_h100_maximum_w}."
        ),
    ),
    Rule(
        id="power.cap_unmeasured",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.has_power_cap == True,),
        guidance=("G5.7",),
        because=(
            "The step time counts on {capped_speed_percent} of the arithmetic speed at {power_cap_w} per GPU, read off a curve of H100 in "
            "training and no reading of this system."
        ),
        ask=Ask(
            to="server vendor",
            ask="How fast does one {node} train with its GPUs capped at {power_cap_w}, and does the cap hold through a restart?",
            good_answer="a measured share of full speed of {capped_speed_percent} or more",
        ),
    ),
    Rule(
        id="power.desk_heat",
        stage=Stage.POWER,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.in_racks == False, F.power_known == True, F.pue_given == False),
        guidance=("G4.6",),
        because=(
            "No cooling plant is counted for {pue_basis}: {heat_kw} ({heat_btu}) warm the room, and an air conditioner that carries them "
            "away draws power of its own, best on another circuit."
        ),
    ),
    Rule(
        id="power.floor_exceeded",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.has_floor_limit == True, F.in_racks == True, F.rack_floor_kpa > F.floor_limit_kpa),
        guidance=("G1f.2",),
        because=(
            "A loaded {place_word} of {loaded_rack_kg} puts {rack_floor_kpa} on the floor, spread over its share of the aisles; the floor "
            "carries {floor_limit_kpa}."
        ),
        fix=(Fix("facility.floor_load", "strengthen the floor, or stand elsewhere", "{rack_floor_kpa}"),),
    ),
    Rule(
        id="power.immersion_open",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.cooling == "immersion", F.power_known == True),
        guidance=("G1f.2", "G5.7"),
        because=(
            "{tank_words} are planned on data sheets; no data sheet says whether the chassis of {node} is short enough for the tank, what "
            "it draws without fans ({node_power_kw} with them are counted), or which optics and cables bear the fluid. Each: "
            "{tank_litres_words}; {tank_under_words}."
        ),
        ask=Ask(
            to="cooling vendor",
            ask=(
                "Does {node} fit into the tank with its cables, in which fluid; which flow and water does {tank_heat_kw} in a tank need; "
                "what does a full tank weigh, what lifts a server out, and who takes the fluid back?"
            ),
            good_answer="fit, fluid, {fluid_flow} in all at a rise of 10 K, floor load and lifting gear in writing, for this server",
        ),
    ),
    Rule(
        id="power.immersion_sized",
        stage=Stage.POWER,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.cooling == "immersion", F.power_known == True, F.units_per_tank >= 1),
        guidance=("G1f.2", "G4.6"),
        decides=("facility.tanks", "{tank_words}"),
        because=(
            "Each tank takes {units_per_tank} × {node}, {tank_heat_kw} of its {tank_kw}; first to bind: {rack_binding_words}. A litre of "
            "fluid per minute carries {litre_carries_w} at a rise of 10 K: {fluid_flow} in all tanks. Water takes {water_heat_kw} "
            "({water_flow}); switches and storage stay in air, {room_heat_kw} with what the tanks give off."
        ),
    ),
    Rule(
        id="power.immersion_unreleased",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.hall_has_immersion == True, F.power_known == True, F.is_rack == False, F.cooling != "immersion"),
        guidance=("G1f.2",),
        because=(
            "The hall has immersion tanks of up to {tank_kw}, the heat of {units_per_tank} × {node}; neither the catalog nor an answer "
            "says that it is released for them, so none is planned into one."
        ),
        ask=Ask(
            to="server vendor",
            ask="Is {node} released for immersion, in which fluid, without fans, and what becomes of warranty and optics?",
            good_answer="released in writing, with the fluid, its temperature and flow, and the power without fans",
        ),
    ),
    Rule(
        id="power.pue_modelled",
        stage=Stage.POWER,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.pue_estimated == True,),
        guidance=("G4.6",),
        thresholds=("pow-pue",),
        because=(
            "A PUE of {pue} is counted, for {pue_basis}; the largest operators reach {limit_pow_pue_hyperscale_low}, the average is "
            "{limit_pow_pue_average_low} to {limit_pow_pue_average_high}."
        ),
    ),
    Rule(
        id="power.total_over_soft",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.has_total_limit == True, F.limit_is_soft == True, F.total_power_kw > F.total_power_limit_kw),
        guidance=("G1f.1", "G4.6"),
        because=(
            "{total_power_kw} exceed the {total_power_limit_kw} that were wished for, by the factor by which the design counts as worse "
            "beside others: {total_share_percent} of the limit."
        ),
        fix=(
            CAP,
            Fix("facility.total_power", "plan what the design draws", "{total_power_kw}"),
        ),
        writes=("power_binds",),
        priority=20,
    ),
    Rule(
        id="power.way_in_blocked",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.way_in_blocked == True,),
        guidance=("G1f.2",),
        thresholds=("pow-delivery",),
        because="A {place_word} for {node} does not get in: {way_in_obstacles}.",
        fix=tuple(
            Fix(f"facility.delivery_{name}", "find a way in that lets it pass", "{way_in_needed}", when=(F.way_in_first == name,))
            for name in ("height", "width", "depth", "weight")
        ),
    ),
)
