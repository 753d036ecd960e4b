"""Where the facts and sections of stage money come from."""

from __future__ import annotations

from rules.origins import Origin, arithmetic, computed, for_each, taken

_QUOTE = computed("sizing.prices.server_quote", "node", "own_server.price", "budget.own_prices", "server_price.low")
_PURCHASE = computed(
    "sizing.cost.purchase_of", "bill.lines", "price.low", "price_known", "budget.tax", "budget.installation",
    note="the sum of the bill, with taxes and installation as far as they were said",
)  # fmt: skip
_ENERGY = computed("sizing.cost.cost_of", "power:node_power_typical_kw", "power:energy_per_year", "electricity_usd_per_kwh")
_ELECTRICITY = computed(
    "sizing.electricity.electricity_price", "fact.electricity-default", "budget.electricity_price", "facility.region", "electricity.values"
)
_NETWORK_LEAD = computed("sizing.delivery.network_lead_weeks", "fact.lead-time-switch", "fact.lead-time-nic")
_OLDEST = computed("sizing.prices.newest_month", "price.date")
_MISSING = computed("sizing.cost.cost_of", "bill.lines", "price.low")
_RUN = computed("sizing.cost.run_gpu_hours", "reliability:run_days", "gpu_count")
_RENT = computed("sizing.prices.rental_range", "gpu_name", "rental.low", "rental.high")

_CHARGES = (
    "budget.tax", "budget.installation", "budget.support", "budget.staff", "facility.hosting", "budget.colocation",
    "budget.licences", "budget.interest",
)  # fmt: skip
_CROSSING = computed("sizing.renting.crossing_of", "per_gpu_hour_usd", "rent_low_usd", "rent_high_usd", note="owned hour over rented hour")
_SCHEDULE = computed(
    "sizing.schedule.placed", "lead_words", "fact.lead-time-switch", "fact.lead-time-nic", "fact.lead-time-cooling-unit",
    "threshold.rel-burn-in",
)  # fmt: skip
_RESIDUAL = computed(
    "sizing.ownership.residual_value", "server_price_usd", "ownership_years", "fact.residual-gpu-server", "budget.residual"
)
_PHASES = computed("sizing.schedule.phases_of", "unit_count", "purchase_usd", "budget.phases", "budget.phase_interval")

ORIGINS: dict[str, Origin] = {
    "node": taken("node.name"),
    "gpu_name": taken("gpu.name"),
    "architecture": taken("gpu.architecture"),
    "unit_count": taken("size.units"),
    "node_count": taken("size.nodes"),
    "gpu_count": taken("size.gpus"),
    "own_server": computed("own_server.own_server", "own_server.gpu"),
    "objective": taken("budget.objective"),
    "scale_mode": taken("scale.mode"),
    **for_each("has_budget budget_usd", taken("budget.purchase")),
    "kept_free_words": computed("budget_size.kept_free", "budget.purchase", "budget.reserve", "missing"),
    **for_each("price_known server_confidence server_price_note server_price_usd server_price_date server_covers_network", _QUOTE),
    **for_each("purchase_floor_usd floor_words", computed("sizing.cost.purchase_floor_usd", "bill.lines", "price.low", "purchase_low_usd")),
    "size_given": taken("scale.nodes", "scale.gpus"),
    "time_binds": computed("proposals.ladder", "scale.mode", "scale.deadline", "reliability:run_days", "unit_count"),
    **for_each("purchase_low_usd purchase_usd purchase_high_usd", _PURCHASE),
    "price_over_h200": computed("sizing.prices.quote_of", "server_price_usd", "node.gpu_count"),
    **for_each("price_age_months oldest_price has_dated_price", _OLDEST),
    **for_each("has_missing missing_count missing", _MISSING),
    **for_each("has_missing_network missing_network missing_network_words", _MISSING),
    **for_each("has_missing_storage missing_storage missing_storage_words", _MISSING),
    **for_each("has_missing_site missing_site missing_site_words", _MISSING),
    **for_each("has_missing_server missing_server missing_server_words", _MISSING),
    **for_each(
        "storage_by_class storage_by_class_names storage_by_class_words",
        computed(
            "sizing.storage_price.class_quote", "bill.lines", "price.low", "fact.storage-class-flash", "storage_cpu:capacity_needed_tb"
        ),
    ),
    "unpriced_words": computed("sizing.cost.cost_of", "missing"),
    "left_out": Origin(_CHARGES, note="no sourced figure of these is in the catalog, and nobody said one"),
    "ownership_years": taken("budget.years"),
    **for_each("energy_known energy_year_usd", _ENERGY),
    "electricity_given": taken("budget.electricity_price"),
    **for_each("electricity_usd_per_kwh electricity_range electricity_basis electricity_of_place", _ELECTRICITY),
    **for_each("has_region region", taken("facility.region")),
    "region_known": computed("sizing.regions.is_known", "facility.region", "electricity.values", "carbon.values"),
    "energy_per_gpu_hour": computed("sizing.cost.energy_per_gpu_hour_kwh", "power:energy_per_year", "gpu_count"),
    "ownership_usd": computed(
        "sizing.cost.cost_of",
        "purchase_usd",
        "energy_year_usd",
        "ownership_years",
        "price_known",
        "included",
        note="purchase with taxes and installation, and every yearly cost times the years; 0 where no price of the servers is known",
    ),
    "per_gpu_hour_usd": arithmetic("ownership_usd / (ownership_years * 8766 * gpu_count)", formula="sizing.cost.cost_of"),
    "per_gpu_hour": taken("per_gpu_hour_usd"),
    "per_million": computed("sizing.cost.cost_of", "per_gpu_hour_usd", "gpu_count", "step.rate", "reliability:goodput_percent"),
    **for_each("run_known run_gpu_hours", _RUN),
    "run_share_percent": arithmetic("100 * run_gpu_hours / (ownership_years * 8766 * gpu_count)"),
    "run_usd": arithmetic("run_gpu_hours * per_gpu_hour_usd"),
    **for_each("rent_known rent_low_usd rent_high_usd", _RENT),
    "rent_run_low_usd": arithmetic("run_gpu_hours * rent_low_usd"),
    "rent_good_answer": taken("run_usd", "per_gpu_hour_usd"),
    "rental_band_applies": taken("gpu_name", note="the GPU that the source of the band means"),
    **for_each("rental_band_low_usd rental_band_high_usd", taken("threshold.cost-cluster-3y", "gpu_count", "ownership_years")),
    "full_training": taken("workload.kind"),
    "gigaflop_per_unit": taken("work.flops_per_unit"),
    **for_each("has_product_notes product_notes", taken("node.notes", "node.desktop")),
    **for_each("lead_known lead_high_weeks lead_words", computed("sizing.delivery.lead_time", "node.name", "gpu.name")),
    "allocation_words": computed("sizing.delivery.allocation", "gpu.name"),
    **for_each("network_lead_low_weeks network_lead_high_weeks", _NETWORK_LEAD),
    **for_each("has_export_note export_note", taken("gpu.export_note")),
    "product_status": taken("node.status", "gpu.status"),
    "verified": taken("node.verified", "gpu.verified"),
    "sequence_length": taken("work.sequence_length"),
    "language_model": taken("work.unit"),
    **for_each("ready_low_weeks ready_high_weeks critical_words ready_unknown ready_open", _SCHEDULE),
    **for_each("crossing_known crossing_low_percent crossing_percent crossing_high_percent", _CROSSING),
    **for_each("utilisation_given utilisation_percent", taken("budget.utilisation")),
    "included": computed("sizing.ownership.charges", *_CHARGES),
    **for_each("residual_known residual_low_usd residual_usd residual_high_usd residual_given", _RESIDUAL),
    **for_each(
        "colocation_assumed colocation_year_usd colocation_words",
        computed("sizing.ownership.colocation_price", "facility.hosting", "budget.colocation", "power:it_power_kw"),
    ),
    "own_price_count": computed("sizing.own_prices.own_prices", "budget.own_prices", "budget.exchange_rates"),
    **for_each("phase_count first_phase_usd first_phase_gpus first_phase_racks first_phase_kw last_phase_months", _PHASES),
    "deadline_days": taken("scale.deadline"),
    "phased_days": computed("sizing.schedule.run_days_in_phases", "reliability:run_days", "phase_count", "last_phase_months", "gpu_count"),
}

SECTIONS: dict[str, str | Origin] = {
    "cost.years": "ownership_years",
    "cost.purchase": computed("sizing.cost.purchase_of", "bill.lines", "price.low", "price_known", note="without taxes and installation"),
    "cost.energy_per_year": "energy_year_usd",
    "cost.ownership": "ownership_usd",
    "cost.per_gpu_hour": "per_gpu_hour_usd",
    "cost.per_million_units": "per_million",
    "cost.per_run": "run_usd",
    "cost.missing": "missing",
    "cost.notes": "left_out",
    "cost.outlay.low": "purchase_low_usd",
    "cost.outlay.high": "purchase_high_usd",
    "cost.outlay": "purchase_usd",
    "cost.part": "included",
    "cost.sensitivity": computed("sizing.sensitivity.sensitivities", "ownership_usd", "price.low", "electricity_range", *_CHARGES),
    "cost.phase": _PHASES,
    "cost.run_in_phases": "phased_days",
    "cost.at_the_end": computed(
        "sizing.ownership.residual_shares", "ownership_years", "fact.residual-gpu-server", "fact.depreciation-gpu-server"
    ),
    "cost.rent": _CROSSING,
    "delivery.task": _SCHEDULE,
    "summary.fits": computed("choice.rank", "choice.name"),
    "summary.chosen": taken("choice.name"),
    "summary.name": taken("choice.name"),
    "summary.plan": taken("plan.label", "size.gpus"),
    "summary.gpus": taken("size.gpus"),
    "summary.nodes": taken("size.nodes"),
    "summary.units": taken("size.units"),
    "summary.days": computed("choice.figures_of", "reliability:run_days"),
    "summary.step_s": taken("step.expected"),
    "summary.mfu": taken("step.utilization"),
    "summary.memory_gib": taken("vram:memory_needed_gib"),
    "summary.memory_capacity_gib": taken("vram:memory_capacity_gib"),
    "summary.purchase_usd": "purchase_usd",
    "summary.purchase_low_usd": "purchase_low_usd",
    "summary.purchase_high_usd": "purchase_high_usd",
    "summary.ownership_usd": "ownership_usd",
    "summary.purchase_open": _MISSING,
    "summary.usd_per_million_units": "per_million",
    "summary.it_power_kw": taken("power:it_power_kw"),
    "summary.total_power_kw": taken("power:total_power_kw"),
    "summary.racks": taken("power:rack_count"),
    "summary.cable_m": computed(
        "sizing.fabric.cabling.cable_network",
        "fabric:nodes",
        "fabric:layout",
        "power:rack_count",
        "cable.reach",
        note="networks for compute and storage; each cable as long as the run that decided on it",
    ),
}
