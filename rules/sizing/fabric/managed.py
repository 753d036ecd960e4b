"""How many switches the power units of a floor ask for once racks are planned, counted without cables so that racks can be filled again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rules.sizing.fabric.front_end import size_front_end
from rules.sizing.fabric.networks import MANAGERS_PER_FABRIC

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.results import FabricDesign, FabricNetwork


def managed_at(floor: Floor, candidate: Candidate, context: Context) -> FabricDesign | None:
    """Return the fabric of a candidate that was designed before, with as many switches beside the GPUs' own as a floor's power units need.

    Cables stay those of the candidate; each management switch draws what those that there were did.
    """
    fabric, choice = candidate.fabric, candidate.network
    if fabric is None or fabric.storage is None or fabric.out_of_band is None or choice is None:
        return fabric
    placed, chosen = candidate.varied(floor=floor), choice.chosen
    built = (chosen.counts.switches, chosen.height_u) if chosen else (0, 0.0)
    managers = MANAGERS_PER_FABRIC if chosen and chosen.counts.manager_links else 0
    front = size_front_end(placed, context, *built, floor.racks, managers)
    if front.network is None or front.management is None:
        return fabric
    counts, storage = front.network.counts, fabric.storage
    switches = {front.network.option.switch.id: counts.switches}
    if switches != storage.switches:
        storage = replace(storage, leaf=counts.leaf, spine=counts.spine, core=counts.core, switches=switches)
    return replace(fabric, storage=storage, in_band=storage, out_of_band=_managing(fabric.out_of_band, front.management.switches))


def _managing(network: FabricNetwork, switches: int) -> FabricNetwork:
    """Return the out-of-band network with so many switches."""
    if switches == network.leaf:
        return network
    share = switches / network.leaf
    typical, highest = network.power_typical, network.power_maximum
    return replace(
        network,
        leaf=switches,
        switches=dict.fromkeys(network.switches, switches),
        power_typical=typical * share if typical is not None else None,
        power_maximum=highest * share if highest is not None else None,
    )
