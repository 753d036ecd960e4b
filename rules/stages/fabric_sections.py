"""What the stage fabric writes into a design: its sections and its lines of the bill of materials."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity
from rules.sizing.fabric.adapters import compute_adapters, front_end_adapters
from rules.sizing.fabric.networks import MANAGERS_PER_FABRIC
from rules.sizing.fabric.switching import boxes
from rules.sizing.results import BomLine
from rules.stages.fabric_outlook import outlook_sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from rules.candidate import Candidate, Context
    from rules.sizing.results import FabricNetwork

MANAGER_ITEM = "nvidia-ufm-appliance"
SERVER_ITEM = "management-server"


def fabric_sections(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections of the design that the stage fabric writes, with TOML-ready values."""
    design, catalog = candidate.fabric, context.catalog
    if design is None:
        return {}
    compute: dict[str, object] = {"network": "none: all GPUs share one scale-up domain or one server"}
    if design.compute is not None:
        adapters = compute_adapters(candidate.node, candidate.gpu, catalog, context.answers)
        compute = {
            "adapters_per_node": f"{adapters.count} × {adapters.speed_gbps:g} Gb/s",
            "adapter": adapters.name,
            **_network(design.compute, catalog),
            "rate_per_gpu": f"{design.compute.speed_gbps:.4g} Gb/s",
        }
    storage: dict[str, object] = {"network": "none: a single node"}
    if design.storage is not None:
        adapters = front_end_adapters(candidate.node, catalog)
        storage = {"shared_with": "in-band", "adapter": adapters.name, **_network(design.storage, catalog)}
    management: dict[str, object] = {"network": "none: a single node"}
    if design.out_of_band is not None:
        management = {"in_band": "shared with storage", **_network(design.out_of_band, catalog)}
    sections = {"fabric.compute": compute, "fabric.storage": storage, "fabric.management": management}
    return sections | outlook_sections(candidate, context)


def _network(network: FabricNetwork, catalog: Catalog) -> dict[str, object]:
    """Return one network as a table; what it does not have is left out."""
    row: dict[str, object] = {
        "technology": network.technology,
        "layout": network.layout,
        "tiers": network.tiers,
        "planes": network.planes,
        "leaf": network.leaf,
        "spine": network.spine,
        "core": network.core,
        "oversubscription": f"{network.oversubscription:.3g}:1",
        "switches": _named(network.switches, catalog),
        "links": {name: number for name, number in network.links.items() if number},
        "cables": _named(network.cables, catalog),
        "modules": {name: number for name, number in network.modules.items() if number},
        "longest_run": {tier: f"{length:.3g} m" for tier, length in network.longest.items()},
        "media": dict(network.media),
        "manager_links": network.manager_links,
        "power_typical": format_quantity(network.power_typical, "kW") if network.power_typical is not None else "unknown",
        "power_maximum": format_quantity(network.power_maximum, "kW") if network.power_maximum is not None else "unknown",
        "notes": list(network.notes),
    }
    return {name: value for name, value in row.items() if value not in (0, {}, [], None) or name in ("tiers", "spine")}


def _named(parts: Mapping[str, int], catalog: Catalog) -> dict[str, object]:
    return {_name(item, catalog): number for item, number in sorted(parts.items())}


def _name(item: str, catalog: Catalog) -> str:
    record = catalog.switches.get(item) or catalog.cables.get(item)
    return record.name if record is not None else item


def fabric_bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the stage's lines of the bill of materials; a network that serves two roles is counted once."""
    design, catalog = candidate.fabric, context.catalog
    if design is None:
        return []
    networks = [each for each in (design.compute, design.storage, design.out_of_band) if each is not None]
    if design.in_band is not None and design.in_band is not design.storage:
        networks.append(design.in_band)
    lines: dict[str, BomLine] = {}
    for network in networks:
        for switch, number in network.switches.items():
            record = catalog.switches.get(switch)
            _add(lines, switch, record.name if record else switch, "switch", boxes(record, number) if record else number)
        for item, number in network.cables.items():
            cable = catalog.cables.get(item)
            is_module = cable.is_transceiver if cable is not None else "module" in item
            _add(lines, cable.id if cable else _slug(item), cable.name if cable else item, "transceiver" if is_module else "cable", number)
        if network.manager_links:
            _add(lines, MANAGER_ITEM, "UFM fabric manager appliance", "fabric manager", MANAGERS_PER_FABRIC)
    if design.management_servers:
        described = catalog.facts["management-nodes"].note.rstrip(".")
        name = f"Management server, such as {described}"
        lines[SERVER_ITEM] = BomLine(SERVER_ITEM, name, "management", design.management_servers, note="product open: ask server vendors")
    return list(lines.values())


def _add(lines: dict[str, BomLine], item: str, name: str, category: str, number: int) -> None:
    if number:
        before = lines[item].quantity if item in lines else 0
        lines[item] = BomLine(item, name, category, before + number)


def _slug(text: str) -> str:
    """Return an item id for a part that no catalog record describes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
