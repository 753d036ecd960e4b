"""The answer in full: every pipeline stage by term with its verdict, the peaks at start and at checkpoints, and the host's memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from catalogs.quantities import magnitude
from catalogs.schema import Kind
from catalogs.sums import plain_sum
from rules.sizing.host import gpus_per_node, naive_load_memory
from rules.sizing.lookup import threshold_number
from rules.sizing.memory import verdict_of
from rules.sizing.memory_checks import gathered_checkpoint, gathers_weights, initialisation_peak
from rules.sizing.memory_post_training import rollout_host_bytes
from rules.sizing.memory_ranges import Ends, outer
from rules.sizing.memory_states import stage_layers
from rules.sizing.sampling import at_once, engine_of, least_seconds
from rules.sizing.training_bytes import BF16_BYTES, FP32_BYTES, state_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from catalogs.schema import Node
    from rules.sizing.memory_estimate import MemoryEstimate
    from rules.sizing.results import Plan, Workload

GIB = 2.0**30
STATE = ("parameters", "gradients", "optimizer")
"""The terms that a GPU keeps all the time."""
BASIS: Mapping[str, tuple[Kind, str]] = {
    "parameters": (Kind.DERIVED, "bytes of a weight × what parallelism leaves on the GPU"),
    "gradients": (Kind.DERIVED, "bytes of a gradient × what parallelism leaves on the GPU; half where software keeps 16 bits"),
    "optimizer": (Kind.DERIVED, "bytes of master weights and moments × what sharding leaves on the GPU"),
    "activations": (Kind.DERIVED, "counted tensor by tensor, × micro-batches in flight"),
    "loss_head": (Kind.DERIVED, "bytes per token and vocabulary entry of the loss that the software uses"),
    "working_set": (Kind.DERIVED, "weight gradients before they are added, weights that are gathered, parts that are recomputed"),
    "other_models": (Kind.DERIVED, "bytes of the models that post-training keeps beside the trained one, spread over all GPUs"),
    "reserved": (Kind.YOU, "what others take of the GPU, as you said"),
    "fragmentation": (Kind.ESTIMATED, "reserved over allocated memory of 43 measured runs, applied to this one"),
    "communicators": (Kind.ESTIMATED, "observed sizes and NCCL's default buffers, by kinds of groups"),
    "runtime_context": (Kind.ESTIMATED, "observed sizes of contexts and loaded kernels"),
}
"""How each term is known, and from what: nothing is a flat reserve that was measured on another configuration."""
WORKING_FACTOR = 1.5
"""Host memory over the bare bytes of offloaded state: buffers and pinned copies [DeepSpeed, additional_buffer_factor]."""
PREFETCHED_BATCHES = 2
"""Batches that each worker of a loader holds ready [PyTorch DataLoader, prefetch_factor]."""


@dataclass(frozen=True)
class StageReport:
    """One pipeline stage against the GPU's memory, GiB: (low, expected, high) of every term, their sums, and the term that binds."""

    number: int
    layers: int
    terms: Mapping[str, Ends]
    total: Ends
    verdict: str
    binding: str


class Peak(NamedTuple):
    """A peak beside the steady one, GiB on one GPU: the least, what careful software takes, and the most with why it would be."""

    name: str
    needed: Ends
    verdict: str
    most_where: str


class HostTerm(NamedTuple):
    """A part of a node's host memory in GiB, and what it is for."""

    name: str
    needed: Ends
    why: str


def stage_reports(memory: MemoryEstimate, plan: Plan, layers: int) -> tuple[StageReport, ...]:
    """Return every pipeline stage with its terms, verdict and binding term; `layers` is the number in the model."""
    capacity = magnitude(memory.capacity, "GiB")
    counts = stage_layers(layers, plan.pipeline) if layers else (0,)
    made = []
    for number, (stage, count) in enumerate(zip(memory.stages_gib, counts, strict=True), start=1):
        total = outer(stage.values())
        binding = max(stage, key=lambda name: stage[name][1])
        made.append(StageReport(number, count, stage, total, verdict_of(total, capacity), binding))
    return tuple(made)


def beside_training(memory: MemoryEstimate, workload: Workload, plan: Plan, catalog: Catalog, bandwidth: float = 0.0) -> tuple[Peak, ...]:
    """Return the peaks on the fullest GPU when the model is made, a checkpoint is saved and one is loaded, and when an engine samples.

    `bandwidth`: bytes per second of the GPU's memory, which says how long sampling takes at least; 0 where it is not known.

    Careful software builds each GPU's own part, and saves and loads shards in place. The most is what it takes to build the whole model
    in fp32 before it is sharded, to gather the whole state on one GPU, and to hold a second copy of what is read.
    """
    terms, capacity = memory.stages_gib[memory.fullest], magnitude(memory.capacity, "GiB")
    fixed = plain_sum(terms[name][1] for name in ("communicators", "runtime_context") if name in terms)
    held = {name: terms[name][1] for name in STATE if name in terms}
    state, own = plain_sum(held.values()) + fixed, held.get("parameters", 0.0) + held.get("optimizer", 0.0)
    whole = initialisation_peak(workload, catalog) / GIB if gathers_weights(plan) else own * FP32_BYTES / BF16_BYTES
    gathered = gathered_checkpoint(workload, catalog) / GIB if _gathers(plan) else 0.0
    rows = (
        ("initialisation", (own + fixed, own + fixed, max(own, whole) + fixed), "the model is built in fp32 before it is sharded"),
        ("checkpoint save", (state, state, state + gathered), "the whole state is gathered on one GPU"),
        ("checkpoint load", (own + fixed, own + fixed, 2 * own + fixed), "what is read is held beside what it is copied into"),
    )
    sampled = _sampling(workload, plan, held, fixed, capacity, bandwidth)
    return tuple(Peak(name, needed, verdict_of(needed, capacity), where) for name, needed, where in (*rows, *sampled))


def _sampling(
    workload: Workload, plan: Plan, held: Mapping[str, float], fixed: float, capacity: float, bandwidth: float
) -> tuple[tuple[str, Ends, str], ...]:
    """Return the peak while an engine that slept samples: its weights and one sequence at least, and what the trainer leaves there.

    Low: the trainer's state is away on the host. Expected: weights and optimizer stay, gradients are freed. High: all state stays.
    """
    engine = engine_of(workload, plan)
    if engine is None or workload.rollout != "sleeping":
        return ()
    least, state = fixed + (engine.weights + engine.sequence) / GIB, plain_sum(held.values())
    kept = state - held.get("gradients", 0.0)
    together = at_once(engine, (capacity - fixed - kept) * GIB - engine.weights)
    told = f"all of the trainer's state stays; beside its weights and optimizer {together:,} of {engine.sequences:,} sequences fit at once"
    if bandwidth and together:
        told += f", which takes {least_seconds(engine, together, bandwidth):,.3g} s of a step at least"
    return (("sampling", (least, least + kept, least + state), told),)


def _gathers(plan: Plan) -> bool:
    return plan.zero_stage >= 1 and (plan.shard_group or plan.data * plan.context) > 1


def offloaded_bytes(workload: Workload, plan: Plan) -> Ends:
    """Return (low, expected, high) bytes of host memory, of all nodes together, that the plan's offload takes.

    Gradients, master weights and moments of every trained parameter [ZeRO-Offload, arXiv:2101.06840 §4], its weight too where parameters
    leave the GPU; bare, and with the working factor of buffers and pinned copies. With drives the gradients alone stay in memory, and the
    least is nothing. Without sharding every data-parallel rank keeps a whole copy, of experts every group of expert-parallel ranks.
    """
    if plan.offload == "none":
        return 0.0, 0.0, 0.0
    state = state_bytes(workload.precision, workload.optimizer)
    copies = 1 if plan.zero_stage else max(1, plan.data * plan.context // plan.expert)
    parameters = copies * workload.trainable_parameters
    if plan.offload == "nvme":
        held = state.gradient * parameters
        return 0.0, held, WORKING_FACTOR * held
    each = state.total - (0.0 if plan.offload == "parameters" else state.weight)
    bare = each * parameters
    return bare, WORKING_FACTOR * bare, WORKING_FACTOR * bare


def host_terms(workload: Workload, plan: Plan, node: Node, nodes: int, catalog: Catalog) -> tuple[HostTerm, ...]:
    """Return the parts of one node's host memory.

    Offloaded state, the node's share of a checkpoint that is written in the background, batches that loaders hold ready, and the
    weights on their way to the GPUs: the node's shards, and at most a whole fp32 copy for each GPU.
    """
    gpus = gpus_per_node(node)
    offloaded = offloaded_bytes(workload, plan)
    vision = workload.unit == "image"
    workers = threshold_number(catalog.thresholds, "cpu-cores", "workers_vision" if vision else "workers_text")
    sample = magnitude(workload.sample_bytes, "byte") * workload.sequence_length if workload.sample_bytes is not None else 0.0
    loader = gpus * workers * PREFETCHED_BATCHES * plan.micro_batch * sample
    share = magnitude(workload.checkpoint, "byte") / nodes
    weights = BF16_BYTES * workload.parameters.total
    loading = (weights / nodes, weights / nodes, naive_load_memory(workload.parameters.total, gpus))
    asleep = rollout_host_bytes(workload) * max(1, gpus // plan.tensor)
    rows = (
        ("sleeping_engine", (asleep, asleep, asleep), "weights of the engine that samples, one copy for each tensor-parallel group"),
        ("offloaded_state", (offloaded[0] / nodes, offloaded[1] / nodes, offloaded[2] / nodes), "state that the plan keeps on the host"),
        ("pinned_checkpoint", (0.0, share, share), "the node's share of a checkpoint that is written in the background"),
        ("data_loader", (loader, loader, loader), "batches that the workers hold ready"),
        ("model_loading", loading, "weights on their way to the GPUs; the most where every rank loads the whole model in fp32"),
    )
    return tuple(HostTerm(name, (low / GIB, expected / GIB, high / GIB), why) for name, (low, expected, high), why in rows)
