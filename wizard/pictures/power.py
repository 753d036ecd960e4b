"""Where the power goes: GPUs, the rest of the nodes, network, storage, cooling and losses; at most, and in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.facility import size_facility
from rules.sizing.power import gpu_sum_w, network_draw
from wizard.pictures.bars import Bars, both_ways, shown

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.candidate import Candidate, Context
    from rules.sizing.results import FacilityDesign

TITLE = "Where the power goes"
NOTHING = "Power is not known: the vendor publishes neither the system's nor the GPUs' power."
SPARES, COOLING = "spare nodes", "cooling and losses"


def _bars(considered: Considered) -> Bars:
    chosen = considered.ranking.chosen
    design = chosen.candidate.facility if chosen is not None else None
    if chosen is None or design is None:
        return Bars(TITLE, "kW", (), notes=(NOTHING,))
    highest = _parts(chosen.candidate, considered.context, design, highest=True)
    usual = _parts(chosen.candidate, considered.context, design, highest=False)
    limit = considered.context.answers.number("facility.total_power")
    notes = [note for note in design.notes if note.startswith(("no published power", "power of one"))]
    energy = f"{magnitude(design.energy_per_year, 'MWh'):,.0f} MWh a year at a PUE of {shown(design.pue)}"
    rows = (("at most", highest), ("in training", usual))
    return Bars(TITLE, "kW", rows, limit, "limit" if limit else "", (energy, *notes))


def _parts(candidate: Candidate, context: Context, design: FacilityDesign, *, highest: bool) -> dict[str, float]:
    """Return the kW of each part; spare nodes stand by in training and are counted at most."""
    sizing, catalog = size_facility(candidate, context), context.catalog
    unit_kw = magnitude(design.node_power_maximum if highest else design.node_power_typical, "kW")
    it_kw = magnitude(design.it_power_maximum if highest else design.it_power_typical, "kW")
    rating_w = gpu_sum_w(candidate.node, candidate.gpu)
    full_kw = magnitude(design.node_power_maximum, "kW")
    gpus_kw = min(unit_kw, (rating_w or 0.0) / 1000.0 * unit_kw / full_kw)
    if sizing.cap is not None:
        gpus_kw *= sizing.cap.share
    fabric = network_draw(candidate.fabric, catalog)
    network_kw = fabric.maximum_kw if highest else fabric.typical_kw
    nodes_kw = candidate.units * unit_kw
    spares_kw = design.spare_units * unit_kw if highest else 0.0
    parts = {
        "GPUs": candidate.units * gpus_kw,
        "rest of the nodes": nodes_kw - candidate.units * gpus_kw,
        SPARES: spares_kw,
        "network and management": network_kw,
        "storage": max(0.0, it_kw - nodes_kw - spares_kw - network_kw),
        COOLING: it_kw * (design.pue - 1.0),
    }
    return {name: amount for name, amount in parts.items() if amount > 1e-6}


text, svg = both_ways(_bars)
"""What is drawn at most, and in training."""
