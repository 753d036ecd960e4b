"""The catalog records that a candidate rests on, by kind: its GPU and server, the parts of its networks, the facts that rate it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.origins import BY_ID
from rules.sizing.cooling import METHODS
from rules.sizing.prices import RENTAL_UNIT
from rules.sizing.regions import regional_fact
from rules.sizing.reliability import failure_rate
from rules.sizing.software import software_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import BaseModel

    from catalogs.loading import Shelf
    from rules.candidate import Candidate, Context
    from rules.sizing.results import FabricNetwork

    Records = list[BaseModel]

MOST_RECORDS = 8
"""So many records of one kind are shown; a bill of materials may hold dozens of cables."""


def records_of(name: str, candidate: Candidate, context: Context) -> tuple[Records, str]:
    """Return the records that the catalog value `name` means for this candidate, and the path of the value in each."""
    root, _, path = name.partition(".")
    if root in BY_ID:
        id_, _, path = path.partition(".")
        shelf: Shelf[Any] = getattr(context.catalog, f"{root}s")
        found = shelf.get(id_)
        return ([] if found is None else [found]), _path_by_id(root, path)
    return READERS[root](candidate, context)[:MOST_RECORDS], path


def _path_by_id(root: str, path: str) -> str:
    """Return the path inside a fact or threshold, whose numbers are in its `values`."""
    return f"values.{path}" if path else "value" if root == "threshold" else "values"


def _known(ids: Iterable[str], shelf: Shelf[Any]) -> Records:
    return [found for id_ in dict.fromkeys(ids) if (found := shelf.get(id_)) is not None]


def _networks(candidate: Candidate) -> list[FabricNetwork]:
    design = candidate.fabric
    return [] if design is None else [each for each in (design.compute, design.storage, design.out_of_band) if each is not None]


def _nics(candidate: Candidate, context: Context) -> Records:
    nics = candidate.node.nics
    return _known((part.id for part in (*nics.compute, *nics.storage)), context.catalog.nics)


def _cpus(candidate: Candidate, context: Context) -> Records:
    return _known((part.id for part in candidate.node.cpus), context.catalog.cpus)


def _switches(candidate: Candidate, context: Context) -> Records:
    return _known((id_ for network in _networks(candidate) for id_ in network.switches), context.catalog.switches)


def _compute_switches(candidate: Candidate, context: Context) -> Records:
    compute = candidate.fabric.compute if candidate.fabric else None
    return _known(compute.switches if compute else (), context.catalog.switches)


def _front_switches(candidate: Candidate, context: Context) -> Records:
    design = candidate.fabric
    networks = [each for each in (design.storage, design.out_of_band) if each is not None] if design else []
    return _known((id_ for network in networks for id_ in network.switches), context.catalog.switches)


def _cables(candidate: Candidate, context: Context) -> Records:
    return _known((id_ for network in _networks(candidate) for id_ in network.cables), context.catalog.cables)


def _storage(candidate: Candidate, context: Context) -> Records:
    return _known(candidate.storage.systems if candidate.storage else (), context.catalog.storage)


def _pdus(candidate: Candidate, context: Context) -> Records:
    feed = candidate.facility.feed if candidate.facility else ""
    return [pdu for pdu in context.catalog.pdus if feed.endswith(f"× {pdu.name}")]


def _racks(candidate: Candidate, context: Context) -> Records:
    return _known((line.item for line in candidate.bom if line.category == "rack"), context.catalog.racks)


def _cooling(candidate: Candidate, context: Context) -> Records:
    kind = candidate.facility.cooling if candidate.facility else ""
    return _known((METHODS.get(kind, kind),), context.catalog.cooling)


def _support(candidate: Candidate, context: Context) -> Records:
    framework, precision = context.answers.text("software.framework"), context.workload.precision
    stack = software_stack(candidate.gpu, framework, precision, context.catalog)
    rows = [*stack.framework.rows, *stack.toolkit.rows, *stack.collectives.rows, *(row.id for row in stack.problems)]
    return _known(rows, context.catalog.software)


def _preset(candidate: Candidate, context: Context) -> Records:
    del candidate
    return _known((context.answers.text("model.preset") or context.workload.model.name,), context.catalog.models)


def _rentals(candidate: Candidate, context: Context) -> Records:
    return [row for row in context.catalog.prices if row.item == candidate.gpu.id and row.unit == RENTAL_UNIT and row.low is not None]


def _failures(candidate: Candidate, context: Context) -> Records:
    return _known(failure_rate(candidate.gpu, candidate.gpus, context.catalog).sources, context.catalog.facts)


def _regional(topic: str, otherwise: str = "") -> Callable[[Candidate, Context], Records]:
    def read(candidate: Candidate, context: Context) -> Records:
        del candidate
        found = regional_fact(context.catalog, topic, context.answers.text("facility.region"))
        return [found] if found is not None else _known((otherwise,), context.catalog.facts)

    return read


READERS: dict[str, Callable[[Candidate, Context], Records]] = {
    "gpu": lambda candidate, _: [candidate.gpu],
    "node": lambda candidate, _: [candidate.node],
    "cpu": _cpus,
    "nic": _nics,
    "switch": _switches,
    "compute_switch": _compute_switches,
    "front_switch": _front_switches,
    "cable": _cables,
    "storage": _storage,
    "pdu": _pdus,
    "rack": _racks,
    "cooling": _cooling,
    "support": _support,
    "preset": _preset,
    "rental": _rentals,
    "failures": _failures,
    "carbon": _regional("carbon"),
    "electricity": _regional("electricity", "electricity-default"),
}
"""How the records of each kind of `rules.origins.CATALOG_ROOTS` are found; prices are read off the bill."""
