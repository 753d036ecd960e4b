"""Electric power: of a node, of the network and storage, and over a year.

A node's power is the vendor's system maximum where it is published, else a component model; never the sum of the GPUs' ratings,
which leaves out processors, fans and losses (a GB300 NVL72 rack takes 135 kW, its GPUs alone 100.8 kW).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind
from catalogs.sums import plain_sum
from rules.own_server import OWN_SERVER_ID
from rules.sizing.equipment import SERVER, networks_of
from rules.sizing.lookup import fact_value
from rules.sizing.power_cap import cap_of, saved_kw
from rules.sizing.regions import regional_fact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from catalogs.schema import Gpu, Node
    from rules.answers import Answers
    from rules.sizing.results import FabricDesign

HOURS_PER_YEAR = 8766.0
"""Hours of a mean year of 365.25 days."""
UNSTATED_CPU_W = 350.0
"""Power of a processor that the catalog does not name: the rating in the systems on which the component model is calibrated
(DGX H100, B200 and B300: two processors of 350 W; NVIDIA user guides)."""
UNSTATED_CPUS_PER_GPUS = 4
"""GPUs per processor where the number of processors is not known: eight GPUs and two processors in every calibrating system."""
WORKSTATION_CPU_W, WORKSTATION_CPUS = 280.0, 1
"""Processor of a machine built around cards with fans of their own: one of 280 W, as in public builds of four and seven cards
[jbarrow.ai, GPU workstation; mov-axbx.com, WOPR]."""
CARD_FANS = ("active", "blower")
"""Words in the form of a card that has fans of its own, whose power is in its rating."""
RACK_SCALE_DOMAIN = 16
"""A scale-up domain of more GPUs than this spans several boxes: rack-scale systems, whose overhead per GPU is smaller."""
FACTOR_FACT = "node-power-factor"
INPUT_FACT = "supply-input"
LOW_LINE_KW = 1.8
"""What a North American outlet of 120 V and 15 A gives at its rating: a supply of more takes 200 V and above."""

THRESHOLDS_IN_FORMULAS = {
    "pow-gpu-table": "rules.sizing.power.gpu_sum_w",
    "pow-gb200-tray": "rules.sizing.power.node_draw",
    "pow-node-b200": "rules.sizing.power.node_draw",
    "pow-node-b300": "rules.sizing.power.node_draw",
    "pow-node-h100": "rules.sizing.power.node_draw",
}
"""Thresholds of stage power that formulas meet instead of rules: published figures that the tests hold these functions to."""


@dataclass(frozen=True)
class NodeDraw:
    """What one purchased unit (server or pre-integrated rack) draws at its inlet; `basis` says in words where the figure is from."""

    maximum: Quantity
    typical: Quantity
    kind: Kind
    basis: str


@dataclass(frozen=True)
class Supplies:
    """The power supplies of a unit: all of them, those that carry it when the spare ones fail, and what those give."""

    count: int
    carrying: int
    installed: Quantity
    usable: Quantity
    redundant: bool


@dataclass(frozen=True)
class EquipmentDraw:
    """Power of switches and modules, or of storage; `unknown` names what has no published power and is not in the sums."""

    typical_kw: float = 0.0
    maximum_kw: float = 0.0
    unknown: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------------------------ node


def node_draw(node: Node, gpu: Gpu, catalog: Catalog, answers: Answers, *, liquid: bool = False) -> NodeDraw | None:
    """Return the power of one unit of `node`, or None where neither its maximum nor its GPUs' power is published.

    In order: what the person said of their own server, the vendor's maximum, the component model. `liquid` picks the model's
    factor for a node that is sold with either cooling. A cap on the GPUs (`facility.gpu_power_cap`) comes off the maximum:
    watt for watt, and with what fans and losses save in the component model.
    """
    full = _uncapped_draw(node, gpu, catalog, answers, liquid=liquid)
    saved = saved_kw(node, cap_of(node, gpu, answers))
    if full is None or saved <= 0:
        return full
    if full.kind is Kind.ESTIMATED and node.power.maximum is None:
        saved *= fact_value(catalog.facts, FACTOR_FACT, _factor_name(node, gpu, liquid=liquid)).to("")
    full_kw = magnitude(full.maximum, "kW")
    left = max(0.0, full_kw - saved)
    basis = f"{full.basis}, less {saved:.3g} kW by the cap on its GPUs"
    return NodeDraw(quantity(left, "kW"), full.typical * (left / full_kw), Kind.DERIVED, basis)


def _uncapped_draw(node: Node, gpu: Gpu, catalog: Catalog, answers: Answers, *, liquid: bool) -> NodeDraw | None:
    if node.id == OWN_SERVER_ID and answers.given("own_server.power"):
        said = answers.quantity("own_server.power")
        assert said is not None
        return NodeDraw(said, said * _typical_share(catalog), Kind.YOU, "stated by you")
    stated = node.power.maximum
    if stated is not None:
        typical = node.power.typical
        maximum = quantity(stated.to("kW"), "kW")
        usual = quantity(typical.to("kW"), "kW") if typical is not None else maximum * _typical_share(catalog)
        basis = "the vendor's system maximum" if stated.kind is Kind.DATASHEET else "the catalog's figure"
        return NodeDraw(maximum, usual, stated.kind, basis)
    modelled = component_maximum_kw(node, gpu, catalog, liquid=liquid)
    if modelled is None:
        return None
    maximum = quantity(modelled, "kW")
    return NodeDraw(maximum, maximum * _typical_share(catalog), Kind.ESTIMATED, "a component model; the vendor publishes no maximum")


def component_maximum_kw(node: Node, gpu: Gpu, catalog: Catalog, *, liquid: bool = False) -> float | None:
    """Return factor × (GPUs × GPU power + processors × processor power) in kW; None where the GPU's power is not published.

    The factors are calibrated on vendors' system figures (catalog fact `node-power-factor`): 1.62 for air-cooled boxes of eight,
    1.31 for rack-scale systems; those for liquid (1.3) and PCIe boxes (1.35) are assumptions. Machines of cards with fans of their own
    are calibrated on a reading at the wall: 1.16 [Puget Systems, four RTX 3090 at 300 W, 1,717 W].
    """
    gpus_w = gpu_sum_w(node, gpu)
    if gpus_w is None:
        return None
    factor = fact_value(catalog.facts, FACTOR_FACT, _factor_name(node, gpu, liquid=liquid)).to("")
    return factor * (gpus_w + _processors_w(node, gpu, catalog)) / 1000.0


def gpu_sum_w(node: Node, gpu: Gpu) -> float | None:
    """Return the sum of the GPUs' ratings in watts, each no more than the chassis allows; None where unpublished."""
    if gpu.power.maximum is None:
        return None
    each = gpu.power.maximum.to("W")
    if node.gpu_power_limit is not None:
        each = min(each, node.gpu_power_limit.to("W"))
    return each * node.gpu_count


def _has_card_fans(gpu: Gpu) -> bool:
    return any(word in gpu.form_factor for word in CARD_FANS)


def _factor_name(node: Node, gpu: Gpu, *, liquid: bool) -> str:
    if node.scale_up_domain > RACK_SCALE_DOMAIN:
        return "nvl72_rack"
    if node.topology not in ("nvswitch", "full_mesh", "ethernet_mesh"):
        return "workstation" if _has_card_fans(gpu) else "pcie_server"
    return "liquid_8gpu" if liquid or node.cooling == "liquid" else "air_8gpu"


def _processors_w(node: Node, gpu: Gpu, catalog: Catalog) -> float:
    named = [(part.count, catalog.cpus.get(part.id)) for part in node.cpus]
    if named:
        each_w = [(count, cpu.power.to("W") if cpu is not None and cpu.power is not None else UNSTATED_CPU_W) for count, cpu in named]
        return plain_sum(count * watts for count, watts in each_w)
    if _has_card_fans(gpu):
        return (int(node.cpu_count.to("")) if node.cpu_count is not None else WORKSTATION_CPUS) * WORKSTATION_CPU_W
    count = int(node.cpu_count.to("")) if node.cpu_count is not None else math.ceil(node.gpu_count / UNSTATED_CPUS_PER_GPUS)
    return count * UNSTATED_CPU_W


def _typical_share(catalog: Catalog) -> float:
    return fact_value(catalog.facts, FACTOR_FACT, "typical_over_maximum").to("")


def supplies_of(node: Node) -> Supplies | None:
    """Return the node's power supplies, None where their number or rating is not known.

    Redundancy is written n+k: n carry the load, k are spare. A supply set without one ("none") is not redundant.
    """
    count, rating, usable = node.supplies.count, node.supplies.rating, node.supplies.usable
    if count is None or rating is None:
        return None
    number, each_kw = int(count.to("")), rating.to("kW")
    carrying = _carrying(str(node.supplies.redundancy.value)) if node.supplies.redundancy is not None else None
    usable_kw = usable.to("kW") if usable is not None else each_kw * (carrying if carrying else number)
    needed = carrying if carrying else min(number, math.ceil(usable_kw / each_kw - 1e-9))
    return Supplies(number, needed, quantity(number * each_kw, "kW"), quantity(usable_kw, "kW"), usable_kw < number * each_kw)


def _carrying(redundancy: str) -> int | None:
    first = redundancy.partition("+")[0].strip()
    return int(first) if "+" in redundancy and first.isdigit() else None


def supply_input(node: Node, catalog: Catalog) -> tuple[float, float]:
    """Return (lowest, highest) voltage in V that the node's supplies take; the lowest is 0 where nothing speaks against an outlet.

    What the node does not state is that of the catalog's DGX systems, where a supply is too large for an outlet of 120 V.
    """
    low, high = node.supplies.input_low, node.supplies.input_high
    usual_low, usual_high = (fact_value(catalog.facts, INPUT_FACT, end).to("V") for end in ("low", "high"))
    rating = node.supplies.rating
    large = rating is not None and rating.to("kW") > LOW_LINE_KW
    return (low.to("V") if low is not None else usual_low if large else 0.0), (high.to("V") if high is not None else usual_high)


# ------------------------------------------------------------------------------------------------------- other equipment


def network_draw(fabric: FabricDesign | None, catalog: Catalog) -> EquipmentDraw:
    """Return the power of all switches with their modules, each network once, and that of the management servers."""
    parts = [(f"{each.role} network", each.power_typical, each.power_maximum) for each in networks_of(fabric)]
    servers = fabric.management_servers if fabric is not None else 0
    if servers:
        each_kw = fact_value(catalog.facts, SERVER, "power").to("kW")
        parts.append(("management servers", quantity(servers * each_kw * _typical_share(catalog), "kW"), quantity(servers * each_kw, "kW")))
    return _sum_of(parts)


def _sum_of(parts: Iterable[tuple[str, Quantity | None, Quantity | None]]) -> EquipmentDraw:
    typical_kw = maximum_kw = 0.0
    unknown: list[str] = []
    for name, typical, maximum in parts:
        highest = maximum if maximum is not None else typical
        if highest is None:
            unknown.append(name)
            continue
        maximum_kw += magnitude(highest, "kW")
        typical_kw += magnitude(typical if typical is not None else highest, "kW")
    return EquipmentDraw(typical_kw, maximum_kw, tuple(unknown))


# ----------------------------------------------------------------------------------------------------------------- year


def yearly_energy(typical_kw: float, pue: float) -> Quantity:
    """Return the energy of a year in MWh: typical IT power around the clock, times the facility's PUE."""
    return quantity(typical_kw * pue * HOURS_PER_YEAR / 1000.0, "MWh")


def yearly_carbon(energy: Quantity, region: str, catalog: Catalog) -> Quantity | None:
    """Return the tonnes of CO2 of `energy` at the region's grid average; None where the region is not in the catalog."""
    fact = regional_fact(catalog, "carbon", region)
    value = None if fact is None else next(iter(fact.values.values()), None)
    if value is None:
        return None
    return quantity(magnitude(energy, "kWh") * value.to("g/kWh") / 1e6, "t")
