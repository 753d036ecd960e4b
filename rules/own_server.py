"""The person's own server, described in the answers, as a catalog record like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalogs.schema import HostMemory, Kind, Node, NodeNics, NodePower, PowerSupplies, Sourced
from rules.answers import AnswerError

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Gpu
    from rules.answers import Answers

OWN_SERVER_ID = "own-server"
ON_BOARDS = ("SXM", "OAM")
BASELINE_GBPS = 100.0
"""The rate of the adapter that a server has at least: 100 GbE is the common baseline (guidance G2a.1)."""


def own_server(answers: Answers, catalog: Catalog) -> Node | None:
    """Return the server that the answers describe, or None where they name no GPU for it.

    What the person did not say is absent, as in the catalog. Raises AnswerError for a GPU that the catalog does not know.
    """
    name = answers.text("own_server.gpu")
    if not name:
        return None
    gpu = catalog.gpus.get(name)
    if gpu is None:
        near = catalog.gpus.nearest(name)
        raise AnswerError("own_server.gpu", f"no GPU is called {name!r}" + (f"; the nearest is {near!r}" if near else ""))
    count = answers.count("own_server.gpus") or _usual_count(gpu)
    return Node(
        id=OWN_SERVER_ID,
        name=f"own server with {count} × {gpu.name}",
        vendor="own",
        gpu=gpu.id,
        gpu_count=count,
        topology=answers.text("own_server.topology") or _usual_topology(gpu),
        scale_up_domain=min(count, answers.count("own_server.scale_up_domain") or _usual_domain(gpu, count)),
        memory=HostMemory(installed=_said(answers, "own_server.memory")),
        cpu_count=None,
        nics=NodeNics(compute_speed=_per_gpu(answers, count)),
        height=_said(answers, "own_server.height"),
        weight=_said(answers, "own_server.weight"),
        supplies=PowerSupplies(count=_counted(answers, "own_server.supplies"), rating=_said(answers, "own_server.supply_rating")),
        power=NodePower(maximum=_said(answers, "own_server.power")),
        cooling="air",
    )


def _usual_topology(gpu: Gpu) -> str:
    return (
        {"nvlink": "nvswitch", "xgmi": "full_mesh", "ethernet": "ethernet_mesh"}.get(gpu.scale_up.technology, "pcie")
        if gpu.scale_up.domain.to("") > 2
        else "pcie"
    )


def _usual_count(gpu: Gpu) -> int:
    """Return how many GPUs a server has where it is not said: modules come on boards of as many as their links join, cards alone."""
    return int(gpu.scale_up.domain.to("")) if gpu.form_factor.startswith(ON_BOARDS) else 1


def _usual_domain(gpu: Gpu, count: int) -> int:
    return max(1, min(count, int(gpu.scale_up.domain.to(""))))


def _per_gpu(answers: Answers, gpus: int) -> Sourced:
    """Return the adapter rate that one GPU has: all adapters of the server shared among its GPUs; what was not said is the baseline."""
    speed, adapters = answers.number("own_server.nic_speed"), answers.count("own_server.nics")
    share = (speed or BASELINE_GBPS) * (1 if adapters is None else max(1, adapters)) / gpus
    said = speed is not None and adapters is not None
    note = "adapters shared among the GPUs" if said else f"one adapter of {BASELINE_GBPS:g} Gb/s per server where nothing was said"
    return Sourced(value=f"{share:g} Gb/s", source="you", kind=Kind.YOU if said else Kind.ASSUMED, note=note)


def _counted(answers: Answers, key: str) -> Any:
    return Sourced(value=answers.count(key) or 1, source="you", kind=Kind.YOU) if answers.given(key) else None


def _said(answers: Answers, key: str) -> Any:
    return Sourced(value=answers.text(key), source="you", kind=Kind.YOU) if answers.given(key) else None
