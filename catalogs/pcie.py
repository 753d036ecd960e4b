"""What hangs on which port of which processor inside a server: the records of a node's PCIe map."""

from __future__ import annotations

import re
from itertools import chain

from pydantic import Field, model_validator

from catalogs.values import Pieces, Record, Text

DEVICE = re.compile(r"^(gpu|compute|storage|in_band|compute\+storage):[A-Za-z0-9_]+$")
"""A device as a map names it: what it is or which network it carries, and its name, as in "gpu:0" and "compute:mlx5_3"."""


class PciePort(Record):
    """One port of a processor with the devices below it, any two of which see each other by `path`: PIX through one PCIe switch, PXB
    through several switches in a row, PHB through the processor's own bridge where there is no switch.

    `numa` is the memory domain that the port belongs to where a socket has several. `generation` and `lanes` are of the port, those of
    the slots of its adapters the same unless `slot_generation` and `slot_lanes` say otherwise.
    """

    socket: int = Field(ge=0, le=63)
    numa: int | None = Field(default=None, ge=0, le=1023)
    path: str = Field(pattern=r"^(PIX|PXB|PHB)$")
    generation: int | None = Field(default=None, ge=1, le=7)
    lanes: Pieces | None = None
    slot_generation: int | None = Field(default=None, ge=1, le=7)
    slot_lanes: Pieces | None = None
    devices: tuple[str, ...]


class PcieMap(Record):
    """The map of one scale-out node: `layout` says it in words and where it was read; `generation` and `lanes` hold for every port that
    says nothing else. A device that no port names is somewhere: the source does not say where.
    """

    layout: Text
    generation: int = Field(ge=1, le=7)
    lanes: Pieces = 16
    port: tuple[PciePort, ...]

    @model_validator(mode="after")
    def _devices_are_named_once(self) -> PcieMap:
        names = list(chain.from_iterable(each.devices for each in self.port))
        for name in names:
            if not DEVICE.match(name):
                raise ValueError(f"{name!r} is no device; expected gpu:0, compute:mlx5_0, storage:… or compute+storage:…")
            if names.count(name) > 1:
                raise ValueError(f"{name!r} hangs on two ports; a device has one place")
        return self

    def gpus(self) -> list[str]:
        """Return the GPUs that the map names, as "0", "1" and so on."""
        return [name.partition(":")[2] for port in self.port for name in port.devices if name.startswith("gpu:")]
