"""How the ports of a switch are numbered and which cage each one leaves through."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.sizing.fabric.counts import Cages
    from rules.sizing.fabric.inputs import FabricInput
    from rules.sizing.fabric.wiring import Plane


@dataclass(frozen=True)
class Zone:
    """A run of ports of one kind: `ports` logical ports, `per_cage` to a cage, from cage `first_cage` and port number `first_number` on.

    `skipped` links of the first cage belong to the zone before: where both zones of a switch are odd, they share the cage between them.
    """

    ports: int
    per_cage: int
    first_cage: int = 1
    first_number: int = 1
    skipped: int = 0

    @property
    def cages(self) -> int:
        """Return the cages that the zone touches."""
        return ceil((self.ports + self.skipped) / self.per_cage)

    def port(self, index: int) -> tuple[str, int, int, int, int]:
        """Return (name, number, cage, lane, links per cage) of the port `index`, from 0; the last four count from 1."""
        cage, lane = divmod(index + self.skipped, self.per_cage)
        number = self.first_cage + cage
        name = f"{number}/{lane + 1}" if self.per_cage > 1 else str(number)
        return name, self.first_number + index, number, lane + 1, self.per_cage


def switch_cages(spec: FabricInput, cages: Cages) -> int:
    """Return the cages of one switch that all its ports leave through."""
    return ceil(spec.switch_ports / cages.leaf_down)


def leaf_zones(spec: FabricInput, plane: Plane, cages: Cages) -> tuple[Zone, Zone]:
    """Return the zones of a leaf: downlinks from the first cage on, uplinks in the last cages.

    Both keep to their own cages where there are enough; where equal halves of a twin-port switch are odd, one cage serves both.
    """
    down = Zone(plane.leaf_down or spec.switch_ports, cages.leaf_down)
    total, up, alike = switch_cages(spec, cages), plane.leaf_up, cages.leaf_down == cages.uplink
    first = total - ceil(up / cages.uplink) + 1
    if first > down.cages:
        return down, Zone(up, cages.uplink, first, ((first - 1) if alike else down.cages) * cages.leaf_down + 1)
    skipped = down.ports % cages.leaf_down if alike else 0
    return down, Zone(up, cages.uplink, down.cages if skipped else down.cages + 1, down.ports + 1, skipped)


def whole_switch(spec: FabricInput, cages: Cages) -> Zone:
    """Return the ports of a spine or core, all of which run at the uplinks' speed."""
    return Zone(spec.spine_ports, cages.uplink)
