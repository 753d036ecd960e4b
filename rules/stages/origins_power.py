"""Where the facts and sections of stage power come from."""

from __future__ import annotations

from rules.origins import Origin, arithmetic, computed, for_each, taken

_P = "sizing.power"
_DRAW = computed(
    f"{_P}.node_draw",
    "node.power.maximum",
    "node.power.typical",
    "gpu_power_w",
    "node.gpu_count",
    "own_server.power",
    "fact.node-power-factor",
)
_TOTAL = (
    "unit_count",
    "spare_count",
    "node_power_kw",
    "fabric:switches",
    "switch.power_maximum",
    "storage_cpu:system_units",
    "storage.power",
)
_SIZED = "sizing.facility.size_facility"
_COOLING = computed("sizing.cooling.match_cooling", "node.cooling", "facility.cooling")
_FILL = computed(
    "sizing.racks.fill_rack",
    "node_power_kw",
    "node_height_u",
    "rack_power_limit_kw",
    "rack_height_u",
    "node.weight",
    "cooling",
    "threshold.pow-air-limit",
    "rack.load",
    "facility.altitude",
    "facility.rack_airflow",
    "facility.floor_load",
    "facility.circuits_per_rack",
    "facility.circuit_current",
    "facility.outlets_per_rack",
)
_PLACED = computed(
    "sizing.racks.place_nodes", "unit_count", "spare_count", "nodes_per_rack", "node_power_kw", "node.is_rack", "node.desktop"
)
_FULLEST = computed(
    "sizing.racks.free_in_last_rack",
    "rack_nodes_kw",
    "node_power_kw",
    "node_height_u",
    "rack_power_limit_kw",
    "fabric:switches",
    "switch.power_maximum",
    "storage.power",
    "pdu.usable",
)
_SUPPLIES = computed(f"{_P}.supplies_of", "node.supplies.count", "node.supplies.rating", "node.supplies.redundancy", "node.supplies.usable")
_INPUT = computed(f"{_P}.supply_input", "node.supplies.input_low", "node.supplies.input_high", "node.supplies.rating", "fact.supply-input")
_FEED = computed(
    "sizing.feeds.choose_feed",
    "rack_power_kw",
    "facility.feed",
    "facility.circuit_current",
    "facility.circuits_per_rack",
    "facility.feed_redundancy",
    "facility.continuous_load",
    "facility.power_factor",
    "facility.region",
    "pdu.usable",
    "node.desktop",
)
_PUE = computed("sizing.pue.pue_of", "facility.pue", "facility.climate", "cooling", "fact.free-cooling")
_CAP = computed("sizing.power_cap.cap_of", "facility.gpu_power_cap", "gpu_power_w", "node.gpu_power_limit")
_FITTING = computed(
    "sizing.power_cap.cap_that_fits",
    "gpu_power_w",
    "node_power_kw",
    "circuit_usable_kw",
    "rack_power_limit_kw",
    "total_power_limit_kw",
    "pue",
)
_OUTLETS = computed("sizing.feeds.choose_feed", "feed", "nodes_per_rack", "supply_count", "outlet_kind")
_UPS = computed("sizing.backup.size_ups", "facility.ups", "it_power_kw", "fact.power-chain.ups_power_factor")
_GENERATOR = computed("sizing.backup.size_generator", "facility.generator", "total_power_kw", "fact.power-chain.generator_power_factor")
_SWING = computed("sizing.backup.swing_kw", "gpu_power_w", "unit_count", "power_cap_w", "fact.power-chain.gpu_idle_share")
_WAY_IN = computed(
    "sizing.moving_in.obstacles",
    "facility.delivery_weight",
    "facility.delivery_height",
    "facility.delivery_width",
    "facility.delivery_depth",
    "loaded_rack_kg",
    "rack.height",
)
_WATER = computed("sizing.cooling.water_share", "heat_kw", "cooling", "fact.heat-capture", "node.liquid_share")
_FLOW = ("heat_kw", "cooling", "node.airflow", "liquid_share_percent")

ORIGINS: dict[str, Origin] = {
    "node": taken("node.name"),
    "unit_count": taken("size.units"),
    "spare_count": computed("sizing.facility.spare_units", "reliability:spare_nodes", "node.is_rack"),
    "units_words": taken("unit_count", "spare_count", "node.name"),
    "is_rack": taken("node.is_rack"),
    "is_desktop": taken("node.desktop"),
    "in_racks": computed(
        "stages.power_sections.needs_cabinet", "node.desktop", "node.topology", "own_server.height", "facility.racks", "facility.rack_power"
    ),
    "is_own_server": computed("own_server.own_server", "own_server.gpu"),
    "gpu_count_per_unit": taken("node.gpu_count"),
    "gpu_power_w": taken("gpu.power.maximum"),
    **for_each("has_factory_limit factory_limit_w", taken("node.factory_power_limit", "gpu.power.maximum")),
    **for_each("gpu_sum_kw gpu_sum_known", computed(f"{_P}.gpu_sum_w", "gpu.power.maximum", "node.gpu_count", "node.gpu_power_limit")),
    **for_each("power_known node_power_kw node_power_typical_kw node_power_kind node_power_basis", _DRAW),
    "node_heat_kw": computed("sizing.cooling.node_heat_kw", "node_power_kw", "node.heat"),
    "it_power_kw": computed(_SIZED, *_TOTAL),
    "total_power_kw": arithmetic("it_power_kw * pue", formula=_SIZED),
    **for_each("pue pue_basis pue_estimated", _PUE),
    "pue_given": taken("facility.pue"),
    "limit_is_soft": taken("facility.power_limit"),
    **for_each("has_total_limit total_power_limit_kw", taken("facility.total_power")),
    "total_share_percent": arithmetic("100 * total_power_kw / total_power_limit_kw"),
    **for_each(
        "has_unknown_power unknown_power",
        computed(f"{_P}.network_draw", "switch.power_maximum", "switch.power_typical", "storage.power", "fabric:switches"),
    ),
    **for_each("has_rack_limit rack_power_limit_kw", taken("facility.rack_power")),
    "rack_power_kw": _FULLEST,
    "rack_nodes_kw": _PLACED,
    "rack_air_kw": computed(_SIZED, "rack_power_kw", "cooling", "node.liquid_share", "fact.heat-capture"),
    "nodes_per_rack": _FILL,
    "nodes_words": taken("nodes_per_rack"),
    "nodes_per_rack_by_height": arithmetic(
        "floor(rack_height_u / node_height_u)", "nodes_per_rack", note="of pre-integrated racks and unknown heights: the units in the rack"
    ),
    **for_each("rack_binding rack_binding_words", _FILL),
    **for_each("rack_refuses refusing_limit refusing_words", _FILL),
    "circuits_kw": computed(
        "sizing.facility.rack_limits", "facility.circuit_current", "facility.circuits_per_rack", "facility.feed_redundancy", "pdu.usable"
    ),
    "rack_airflow_cfm": taken("facility.rack_airflow"),
    "node_airflow_cfm": computed("sizing.cooling.node_airflow_cfm", "node.airflow", "node_heat_kw", "altitude_m"),
    "node_weight_kg": taken("node.weight"),
    "rack_height_u": taken("facility.rack_units"),
    "node_height_u": taken("node.height"),
    "rack_count": computed(
        "sizing.racks.place_equipment",
        "unit_count",
        "spare_count",
        "nodes_per_rack",
        "fabric:switches",
        "storage_cpu:system_units",
        "node.is_rack",
        "node.desktop",
    ),
    "racks_words": taken("rack_count"),
    **for_each("has_rack_count_limit rack_count_limit", taken("facility.racks")),
    **for_each("rack_weight_known rack_weight_kg rack_weight", taken("node.weight", "nodes_per_rack")),
    "loaded_rack_kg": taken("rack_weight_kg", "rack.weight"),
    **for_each("has_floor_limit floor_limit_kpa", taken("facility.floor_load")),
    "rack_floor_kpa": computed("sizing.moving_in.floor_load_kpa", "loaded_rack_kg", "rack.width", "fact.floor-load"),
    **for_each("way_in_blocked way_in_obstacles way_in_given", _WAY_IN),
    "cabinet_height_m": computed("sizing.moving_in.cabinet_of", "node.height", "node.is_rack", "rack.height", "rack_height_u"),
    **for_each("cooling cooling_words cooling_required cooling_matches", _COOLING),
    **for_each("needs_liquid sold_with_liquid", taken("node.cooling")),
    **for_each(
        "hall_cooling hall_has_liquid hall_has_air hall_with_air hall_with_doors hall_with_liquid cooling_given", taken("facility.cooling")
    ),
    "inlet_celsius": taken("facility.inlet_temperature"),
    "inlet_recommended_celsius": taken("fact.ashrae-recommended.inlet_high"),
    "inlet_class": computed("sizing.cooling.air_class", "inlet_celsius", "altitude_m"),
    "altitude_m": taken("facility.altitude"),
    "air_pressure_percent": computed("sizing.cooling.pressure_ratio", "altitude_m"),
    **for_each("has_inlet_maximum inlet_stated_celsius", taken("node.inlet_maximum")),
    "inlet_maximum_celsius": computed("sizing.cooling.inlet_limit_celsius", "inlet_stated_celsius", "altitude_m", "fact.ashrae-altitude"),
    "heat_kw": computed(_SIZED, "unit_count", "spare_count", "node_heat_kw", "fabric:switches", "storage_cpu:system_units"),
    "heat_btu": computed("sizing.cooling.heat_btu_per_hour", "heat_kw"),
    "airflow_cfm": computed("sizing.cooling.airflow_cfm", *_FLOW),
    "water_flow": computed("sizing.cooling.water_litres_per_minute", *_FLOW),
    "liquid_heat_kw": computed(_SIZED, "unit_count", "spare_count", "node_heat_kw", "liquid_share_percent"),
    "coolant_units": computed("sizing.cooling.size_coolant_units", "liquid_heat_kw", "cooling.capacity"),
    "facility_water": computed("sizing.cooling.coolant_rating_words", "fact.cdu-rating"),
    "heat_tons": computed("sizing.cooling.heat_tons", "heat_kw"),
    **for_each("water_heat_kw room_heat_kw", _WATER),
    "water_known": taken("facility.water_temperature"),
    "water_words": computed("sizing.cooling.water_class", "facility.water_temperature", "cooling.approach"),
    "hall_has_immersion": taken("facility.cooling"),
    "tank_kw": computed("sizing.cooling.rack_limit_kw", "cooling.capacity"),
    "units_per_tank": arithmetic("floor(tank_kw / node_power_kw)"),
    "liquid_share_percent": computed("sizing.cooling.liquid_share", "cooling", "node.liquid_share", "node.is_rack", "fact.heat-capture"),
    **for_each("supplies_known supplies_redundant supply_count supply_installed_kw supply_usable_kw", _SUPPLIES),
    "supply_load_percent": arithmetic("100 * node_power_kw / supply_installed_kw"),
    "supply_rating_kw": taken("node.supplies.rating"),
    "supplies_carrying": _SUPPLIES,
    **for_each("feed_paths supplies_left", _FEED),
    "supplies_needed": computed(f"{_P}.supplies_of", "node_power_kw", "supply_rating_kw", "node.supplies.redundancy"),
    "unit_survives_path": taken("supplies_left", "supplies_needed"),
    "paths_needed": computed("sizing.feeds.paths_needed", "supply_count", "supplies_needed"),
    "supply_a": arithmetic("1000 * node_power_kw / supplies_carrying / outlet_v"),
    **for_each("outlet_kind outlet_limit_a", taken("supply_rating_kw", "outlet_v")),
    **for_each("outlets_known outlets_needed outlets_offered", _OUTLETS),
    **for_each("ups_said ups_none ups_words ups_kva", _UPS),
    **for_each("generator_said generator_none generator_words generator_kva", _GENERATOR),
    "inrush_a": computed("sizing.backup.inrush_a", "nodes_per_rack", "supply_count", "fact.power-chain.inrush_per_supply"),
    "breaker_trip_a": computed("sizing.backup.inrush_limit_a", "feed", "pdu.current", "fact.power-chain.breaker_trip_low"),
    **for_each("units_at_once switch_on_in_turn", computed("sizing.backup.units_at_once", "feed", "supply_count", "breaker_trip_a")),
    **for_each("swing_known swing_kw", _SWING),
    "swing_percent": arithmetic("100 * swing_kw / it_power_kw"),
    **for_each("has_power_cap power_cap_w cap_saves_kw", _CAP),
    "power_cap_percent": _CAP,
    **for_each(
        "capped_speed_percent capped_speed_low_percent capped_speed_high_percent",
        computed("sizing.power_cap.speed_share", "power_cap_percent"),
    ),
    **for_each("can_be_capped fitting_cap_w", _FITTING),
    "fitting_speed_percent": computed("sizing.power_cap.speed_share", "fitting_cap_w", "gpu_power_w"),
    **for_each("feed_known feed feed_usable_kw", _FEED),
    "feed_given": taken("facility.feed"),
    "circuit_usable_kw": taken("pdu.usable", "feed", "facility.continuous_load", "facility.power_factor"),
    "circuits_per_unit": arithmetic("ceil(node_power_kw / circuit_usable_kw)"),
    **for_each("feed_survives feed_loss_words", computed("sizing.feeds.choose_feed", "feed", "circuit_usable_kw", "rack_power_kw")),
    "breaker_words": taken("feed"),
    "cords_per_unit": taken("supply_count", "node.supplies.redundancy", "node.desktop", "pdu.voltage", "circuits_per_unit"),
    "outlet_v": taken("pdu.voltage", "feed", note="line to neutral of three-phase circuits of 346 V and more"),
    **for_each("input_low_v input_high_v", _INPUT),
    "energy_per_year": computed(f"{_P}.yearly_energy", "node_power_typical_kw", "unit_count", "facility.pue", "fabric:switches"),
    "carbon_per_year": computed(f"{_P}.yearly_carbon", "energy_per_year", "facility.region", "carbon.values"),
}

SECTIONS: dict[str, str | Origin] = {
    "power.node_power": "power_known",
    "power.node_maximum": "node_power_kw",
    "power.node_typical": "node_power_typical_kw",
    "power.node_kind": "node_power_kind",
    "power.it_maximum": "it_power_kw",
    "power.it_typical": computed(_SIZED, "unit_count", "node_power_typical_kw", "fabric:switches", "switch.power_typical", "storage.power"),
    "power.total": "total_power_kw",
    "power.pue": "pue",
    "power.pue_basis": "pue_basis",
    "power.when_a_path_is_lost": "supplies_left",
    "power.ups": "ups_words",
    "power.generator": "generator_words",
    "power.inrush": "inrush_a",
    "power.load_swing": "swing_kw",
    "power.gpu_cap": "power_cap_w",
    "power.gpu_cap_speed": "capped_speed_percent",
    "power.feed": "feed",
    "power.energy_per_year": "energy_per_year",
    "power.carbon_per_year": "carbon_per_year",
    "power.notes": _DRAW,
    "facility.racks": "rack_count",
    "facility.cooling": "cooling",
    "facility.heat": "heat_kw",
    "facility.heat_imperial": "heat_btu",
    "facility.heat_tons": "heat_tons",
    "facility.heat_to_water": "water_heat_kw",
    "facility.heat_to_room": "room_heat_kw",
    "facility.loaded_rack": "loaded_rack_kg",
    "facility.load_on_floor": "rack_floor_kpa",
    "facility.binding": "rack_binding_words",
    "facility.airflow": "airflow_cfm",
    "facility.water_flow": "water_flow",
    "facility.rack": "nodes_per_rack",
    "facility.fullest_rack": "rack_power_kw",
    "facility.spare_nodes": "spare_count",
    "facility.coolant_units": "coolant_units",
}
