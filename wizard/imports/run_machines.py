"""The hardware of a run that names only its GPU: the server that usually carries it, or a plain one where the catalog has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.schema import Node
from rules.sizing.hardware import Hardware, hardware_of

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Gpu

USUAL_GPUS_PER_SERVER = 8
"""GPUs of the usual training server, from DGX-1 to HGX B300."""
_SWITCHED_FROM = 3
"""Links among three or more GPUs are switched or a full mesh; among two they are a bridge, which a plain server is not assumed to have."""


class Machines:
    """Finds the hardware by a GPU's id or alias, and keeps it."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._found: dict[tuple[str, int | None], Hardware | None] = {}

    def get(self, name: str, network_gbps: int | None = None) -> Hardware | None:
        """Return the hardware with the GPU called `name`, or None where the catalog does not know it or states no peak of it.

        `network_gbps`: one GPU's share of the network between servers, in place of what its usual server has.
        """
        key = name, network_gbps
        if key not in self._found:
            gpu = self.catalog.gpus.get(name)
            known = gpu is not None and gpu.peak_dense
            self._found[key] = hardware_of(self._server(gpu), gpu, self.catalog, network_gbps) if gpu is not None and known else None
        return self._found[key]

    def _server(self, gpu: Gpu) -> Node:
        """Return the server of the GPU's own vendor, else the first of others; of several the largest
        scale-up domain, then one that states its adapters.
        """
        found = [node for node in self.catalog.nodes if node.gpu == gpu.id]
        if found:
            return min(found, key=lambda node: (node.vendor != gpu.vendor, -node.scale_up_domain, not node.nics.compute, node.id))
        domain = int(gpu.scale_up.domain.to(""))
        count = max(USUAL_GPUS_PER_SERVER, 1) if domain < _SWITCHED_FROM else min(USUAL_GPUS_PER_SERVER, domain)
        switched = {"nvlink": "nvswitch", "xgmi": "full_mesh"}.get(gpu.scale_up.technology, "pcie") if domain >= _SWITCHED_FROM else "pcie"
        return Node(
            id=f"server-with-{gpu.id}",
            name=f"a server with {count} × {gpu.name}",
            vendor="any",
            gpu=gpu.id,
            gpu_count=count,
            topology=switched,
            scale_up_domain=count if switched != "pcie" else 1,
            cooling="unknown",
        )
