"""Judgement of stage power on racks: what fits in one, how many there are, and how a loaded one gets in."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.building import CAP
from rules.guidance.cooling import MORE_LIQUID, REAR_DOORS
from rules.guidance.declare import Ask, F, Fix, Rule, limit

DENSER = Fix("facility.rack_power", "ask for racks of more power", when=(F.rack_binding == "power",))
"""Offered where the rack's power binds; more of it does not help what cooling, height or load keeps out."""

RACK_RULES: tuple[Rule, ...] = (
    Rule(
        id="power.delivery_path",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.is_rack == True, F.way_in_blocked == False),
        guidance=("G1f.2",),
        thresholds=("pow-delivery",),
        because=("One {node} comes as a loaded rack; doors, lift and floor must take it. One tender allowed {limit_pow_delivery} kg."),
        ask=Ask(
            to="datacenter",
            ask="What may a rack weigh and measure on every part of the way in: dock, doors, lift, raised floor?",
            good_answer=(
                "the loaded rack's weight and size as its vendor states them; weight in the catalog: {rack_weight}, height at least "
                "{cabinet_height_m}"
            ),
        ),
    ),
    Rule(
        id="power.delivery_weight",
        stage=Stage.POWER,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.is_rack == False, F.rack_weight_kg > limit("pow-delivery")),
        guidance=("G1f.2",),
        thresholds=("pow-delivery",),
        because=(
            "{nodes_words} weigh {rack_weight_kg} without what holds them, {loaded_rack_kg} with it, more than the "
            "{limit_pow_delivery} kg of one tender; {rack_floor_kpa} of floor load with its share of the aisles."
        ),
        ask=Ask(
            to="datacenter",
            ask="Does the floor carry {place_word}s of {loaded_rack_kg} in all, on the tiles that they stand on too?",
            good_answer="at least {rack_floor_kpa} on average and {loaded_rack_kg} per {place_word}",
        ),
    ),
    Rule(
        id="power.density_lengthens_cables",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(
            F.power_known == True,
            F.unit_count > F.nodes_per_rack,
            F.nodes_per_rack >= 1,
            F.nodes_per_rack < F.nodes_per_rack_by_height * 0.5,
        ),
        guidance=("G1f.1", "G4.6"),
        thresholds=("pow-density-network",),
        because=(
            "A {place_word} takes {nodes_words} where it has room for {nodes_per_rack_by_height}, since {rack_binding_words} binds first: "
            "{racks_words}, and longer cables between them."
        ),
        fix=(DENSER, MORE_LIQUID, REAR_DOORS),
        writes=("racks_thinned",),
        judgement="where racks are more than half empty there are more than twice as many",
    ),
    Rule(
        id="power.equipment_refused",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.in_racks == True, F.equipment_refused == True, F.nodes_per_rack >= 1),
        guidance=("G1f.2", "G4.6"),
        because=("The racks take {nodes_words} each, and of the network and the storage not even one box: {refused_words}."),
        fix=(
            Fix("facility.rack_power", "ask for racks of more power", when=(F.has_rack_limit == True,)),
            Fix("facility.rack_units", "use higher racks", when=(F.has_rack_limit == False,)),
        ),
    ),
    Rule(
        id="power.rack_count_exceeded",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.has_rack_count_limit == True, F.rack_count > F.rack_count_limit),
        guidance=("G1f.1", "G4.6"),
        because=(
            "{units_words} with network and storage take {racks_words}; the hall has room for {rack_count_limit}. First to bind in a "
            "{place_word} of {nodes_words}: {rack_binding_words}."
        ),
        fix=(
            Fix("facility.racks", "use as many racks as the design needs", "{rack_count}"),
            DENSER,
        ),
    ),
    Rule(
        id="power.rack_filled",
        stage=Stage.POWER,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.power_known == True, F.nodes_per_rack >= 1),
        guidance=("G1f.1", "G4.6"),
        thresholds=("pow-nodes-per-rack",),
        decides=("facility.nodes_per_rack", "{nodes_per_rack}"),
        because=(
            "A full {place_word} of {nodes_words} draws {rack_nodes_kw}; first to bind: {rack_binding_words}. {units_words}, the network "
            "and the storage take {racks_words}, the fullest of which draws {rack_power_kw}."
        ),
    ),
    Rule(
        id="power.rack_height_exceeded",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.nodes_per_rack < 1, F.rack_binding == "units"),
        guidance=("G1f.2",),
        because="One {node} is {node_height_u} high and the racks are {rack_height_u}.",
        fix=(Fix("facility.rack_units", "use higher racks", "{node_height_u}"),),
    ),
    Rule(
        id="power.rack_power_exceeded",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.has_rack_limit == True, F.node_power_kw > F.rack_power_limit_kw),
        guidance=("G1f.1", "G1f.2", "G4.6"),
        thresholds=("pow-nodes-per-rack",),
        because="One {node} draws {node_power_kw}; a rack of the hall gives {rack_power_limit_kw}.",
        fix=(
            Fix("facility.rack_power", "give each rack what one unit draws", "{node_power_kw}"),
            CAP,
        ),
        writes=("power_binds",),
        priority=20,
    ),
    Rule(
        id="power.rack_refuses",
        stage=Stage.POWER,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.power_known == True, F.in_racks == True, F.rack_refuses == True),
        guidance=("G1f.1", "G1f.2"),
        because=(
            "Not one {node} goes into a {place_word}: first to bind is {refusing_words}. It draws {node_power_kw} and needs "
            "{node_airflow_cfm} of air; weight: {node_weight}."
        ),
        fix=(
            Fix(
                "facility.circuits_per_rack",
                "bring more circuits to each rack",
                "{circuits_wanted}",
                when=(F.refusing_limit == "circuits",),
            ),
            Fix(
                "facility.outlets_per_rack",
                "fit distribution units with more outlets",
                "{supply_count}",
                when=(F.refusing_limit == "outlets",),
            ),
            Fix("facility.rack_airflow", "bring more air to each rack", "{node_airflow_cfm}", when=(F.refusing_limit == "airflow",)),
            Fix("facility.floor_load", "strengthen the floor, or stand elsewhere", when=(F.refusing_limit == "floor",)),
        ),
    ),
    Rule(
        id="power.reference_rack",
        stage=Stage.POWER,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(
            F.is_rack == True,
            F.gpu_count_per_unit >= limit("pow-nvl72", "rack_gpus"),
            F.has_rack_limit == True,
            F.rack_power_limit_kw >= F.node_power_kw,
            F.rack_power_limit_kw < limit("pow-nvl72"),
        ),
        guidance=("G4.6",),
        thresholds=("pow-nvl72",),
        because=(
            "{rack_power_limit_kw} carry one {node} of {node_power_kw} with little to spare: NVIDIA plans {limit_pow_nvl72} kW per "
            "rack on average over a unit of {limit_pow_nvl72_unit_racks}, network and management included."
        ),
        fix=(Fix("facility.rack_power", "plan what the reference of NVIDIA plans", "150 kW"),),
    ),
)
