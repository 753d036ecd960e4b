"""Software: toolkit, framework, collectives and precision of the GPU, and what the plan asks of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rules.facts import FactField
from rules.findings import Stage
from rules.guidance.software import RULES
from rules.sizing.hardware import hardware_of
from rules.sizing.lookup import threshold_number
from rules.sizing.memory import MemoryModel
from rules.sizing.memory_checks import gathers_weights, shares_states
from rules.sizing.pipeline import idle_passes
from rules.sizing.software import HARD_TO_USE, SoftwareStack, precision_hardware, software_stack
from rules.sizing.step import is_transformer

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.results import BomLine, Plan

STAGE = Stage.SOFTWARE
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

GIB = 2.0**30
FAST_NETWORK_GBPS = 200.0
"""A network between nodes is called fast from this rate per GPU on: 200 and 400 GbE or InfiniBand are what serious scaling uses (G2a.1)."""

THIRD = 1 / 3
"""What forward pass, gradients of inputs and gradients of weights take of a pass each, as schedules are compared [arXiv:2401.10241 §2]."""

CALLERS = {
    "pytorch": "PyTorch, Megatron, DeepSpeed and FSDP call",
    "jax": "JAX calls through XLA",
    "tensorflow": "TensorFlow's distribution strategies call",
}
"""Who calls the collectives library, by framework."""
SHARDINGS = {
    "pytorch": "FSDP or ZeRO",
    "jax": "sharding by annotation (pjit)",
    "tensorflow": "sharding",
}
"""What sharded data parallelism is called in each framework."""

_STATUSES = "supported, limitation, rough_edge, frozen, dropped, missing or broken; unknown where nothing"

FACTS: tuple[FactField, ...] = (
    FactField("has_plan", "whether a parallel plan was found"),
    FactField("gpu", "name of the GPU"),
    FactField("stack", "vendor's software stack: CUDA, ROCm, Gaudi or oneAPI"),
    FactField("stack_is_common", "whether the stack is CUDA or ROCm"),
    FactField("gpu_was_named", "whether the person preferred this GPU, its vendor or the server by name"),
    FactField("toolkit_status", f"what the catalog says of the toolkit on this GPU: {_STATUSES}"),
    FactField("toolkit_version", "versions of the toolkit that run"),
    FactField("toolkit_fact", "the catalog's sentence on the toolkit"),
    FactField("toolkit_basis", "its sentence on the lowest version"),
    FactField("framework", "the framework asked for"),
    FactField("framework_status", f"what the catalog says of the framework on this GPU: {_STATUSES}"),
    FactField("framework_version", "versions of the framework that run"),
    FactField("framework_fact", "the catalog's sentence on the framework"),
    FactField("collectives", "the collectives library"),
    FactField("collectives_status", f"what the catalog says of the collectives library on this GPU: {_STATUSES}"),
    FactField("collectives_version", "versions of the library that run"),
    FactField("collectives_fact", "the catalog's sentence on the library"),
    FactField("collectives_callers", "who calls it, in the framework asked for"),
    FactField("sharding_name", "what the framework calls sharded data parallelism"),
    FactField("precision", "the training precision"),
    FactField("precision_in_gpu", "whether the matrix units compute in it"),
    FactField("precision_in_software", "whether training software has kernels for it"),
    FactField("bf16_in_gpu", "whether the matrix units compute in BF16"),
    FactField("precision_low", "whether it is FP8 or narrower"),
    FactField("precision_fact", "the catalog's sentence on the precision"),
    FactField("gpu_precisions", "the formats of the matrix units"),
    FactField("problems", "how many things of this stack cost work"),
    FactField("problem_list", "what they are"),
    FactField("gpus", "number of GPUs"),
    FactField("quarter_gpus", "a quarter of them, to compare a rate with"),
    FactField("nodes", "number of scale-out nodes"),
    FactField("multi_node", "whether there is more than one node"),
    FactField("acceptance_words", "the sets of nodes that an acceptance test runs on, in words"),
    FactField("rail_fabric", "whether the compute fabric is wired by rails"),
    FactField("separate_fabrics", "number of separate compute networks (planes)"),
    FactField("network_gbps", "network rate per GPU between nodes, 0 where there is none"),
    FactField("network_fast", "whether that is at least 200 Gb/s"),
    FactField("plan", "the parallel plan in shorthand, none without"),
    FactField("model_parallel", "whether the plan splits the model: tensor, pipeline, context or expert parallelism"),
    FactField("shards_data_only", "whether the plan of a transformer shards states over data-parallel ranks and splits nothing else"),
    FactField("splits_state", "whether a GPU holds less than the whole model and its state, or would have to where no plan fits"),
    FactField("shards_beyond_domain", "whether weights are shared over more ranks than the fast links join"),
    FactField("domain_shard_gib", "high end of the peak where they were shared inside the scale-up domain only, 0 where they are not"),
    FactField("domain_shard_fits", "whether that fits the GPU"),
    FactField("zero_stage", "sharding stage of the plan, 0 without a plan"),
    FactField("pipeline_stages", "pipeline stages of the plan, 1 without a plan"),
    FactField("micro_batches", "micro-batches per step and pipeline, 0 without a plan"),
    FactField("bubble_percent", "idle share of the pipeline"),
    FactField("utilization", "model FLOPs utilisation of dense peak that the plan expects, 0 to 1"),
    FactField("sequence_length", "tokens per sequence, 1 where samples have none"),
)


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Read the support catalog for the candidate's GPU and state what the software rules compare."""
    answers, workload = context.answers, context.workload
    stack = software_stack(candidate.gpu, answers.text("software.framework"), workload.precision, context.catalog)
    hard = [row for row in stack.problems if row.status in HARD_TO_USE]
    named = any(answers.given(key) for key in ("preferences.gpus", "preferences.nodes", "preferences.vendors", "own_server.gpu"))
    return {
        **_stack_facts(stack),
        **_plan_facts(candidate, context),
        "gpu": candidate.gpu.name,
        "gpu_was_named": named,
        "precision": workload.precision,
        "bf16_in_gpu": precision_hardware("bf16", candidate.gpu),
        "precision_low": workload.precision in ("fp8", "mxfp8", "nvfp4"),
        "gpu_precisions": ", ".join(candidate.gpu.precisions),
        "problems": len(hard),
        "problem_list": " ".join(f"{row.scope.replace('_', ' ')}: {row.fact}" for row in hard)[:900] or "none",
        "collectives_callers": CALLERS[answers.text("software.framework")],
        "sharding_name": SHARDINGS[answers.text("software.framework")],
        "gpus": candidate.gpus,
        "quarter_gpus": max(1, candidate.gpus // 4),
        "nodes": candidate.nodes,
        "multi_node": candidate.nodes > 1,
        "acceptance_words": _acceptance_words(candidate.nodes, context),
        "sequence_length": workload.sequence_length,
    }


def _acceptance_words(nodes: int, context: Context) -> str:
    """Return the sets of nodes to accept: one, the published 4 to 16 as far as the cluster has more nodes than that, and all."""
    low, high = (int(threshold_number(context.catalog.thresholds, "sw-accept-nccl", key)) for key in ("nodes_low", "nodes_high"))
    if nodes <= low:
        return "one node" + (f" and on all {nodes} nodes" if nodes > 1 else "")
    some = f"{low}" if nodes <= high else f"{low} to {high} nodes"
    return f"one node, on {some} and on all {nodes} nodes"


def _stack_facts(stack: SoftwareStack) -> dict[str, Scalar]:
    return {
        "stack": stack.stack,
        "stack_is_common": stack.stack in ("CUDA", "ROCm"),
        "toolkit_status": stack.toolkit.status,
        "toolkit_version": stack.toolkit.version,
        "toolkit_fact": stack.toolkit.fact,
        "toolkit_basis": stack.toolkit.basis,
        "framework": stack.framework.name,
        "framework_status": stack.framework.status,
        "framework_version": stack.framework.version,
        "framework_fact": stack.framework.fact,
        "collectives": stack.collectives.name,
        "collectives_status": stack.collectives.status,
        "collectives_version": stack.collectives.version,
        "collectives_fact": stack.collectives.fact,
        "precision_in_gpu": stack.precision_in_gpu,
        "precision_in_software": stack.precision_in_software,
        "precision_fact": stack.precision_fact or "no format-specific software is needed",
    }


def _plan_facts(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State what the plan asks of the software; neutral values where there is no plan."""
    choice, workload = candidate.choice, context.workload
    network = candidate.fabric.compute if candidate.fabric else None
    rate = network.speed_gbps / network.oversubscription if network is not None else 0.0
    facts: dict[str, Scalar] = {
        "has_plan": choice is not None,
        "rail_fabric": network is not None and network.layout.startswith("rail"),
        "separate_fabrics": network.planes if network is not None else 1,
        "network_gbps": rate,
        "network_fast": rate >= FAST_NETWORK_GBPS,
        "plan": "none",
        "model_parallel": False,
        "shards_data_only": False,
        "splits_state": choice is None and "memory_short" in candidate.flags,
        "shards_beyond_domain": False,
        "domain_shard_gib": 0.0,
        "domain_shard_fits": False,
        "zero_stage": 0,
        "pipeline_stages": 1,
        "micro_batches": 0,
        "bubble_percent": 0.0,
        "utilization": 0.0,
    }
    if choice is None:
        return facts
    plan = choice.plan
    batches = max(1, workload.global_batch // max(1, plan.data * plan.micro_batch))
    stages = plan.pipeline
    facts["zero_stage"], facts["pipeline_stages"], facts["micro_batches"] = plan.zero_stage, stages, batches
    idle = idle_passes(plan.schedule, stages, plan.virtual_stages, THIRD, THIRD)
    facts["bubble_percent"] = 100.0 * idle / (batches + idle)
    facts["utilization"] = choice.step.model_flops_utilization
    return facts | _sharing_facts(plan, candidate, context)


def _sharing_facts(plan: Plan, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State what the plan splits, and what a GPU would hold if weights were shared inside the scale-up domain only."""
    split = max(plan.tensor, plan.pipeline, plan.context, plan.expert) > 1
    shared = is_transformer(context.workload.model) and shares_states(plan)
    facts: dict[str, Scalar] = {
        "plan": plan.label,
        "model_parallel": split,
        "shards_data_only": shared and not split,
        "splits_state": split or shared,
    }
    hardware = hardware_of(candidate.node, candidate.gpu, context.catalog)
    inside = hardware.domain // (plan.tensor * plan.context)
    if not (gathers_weights(plan) and shared and 1 < inside < plan.data and plan.data % inside == 0):
        return facts
    high = MemoryModel(context.workload).peak_bytes(replace(plan, shard_group=inside * plan.context))[2]
    return facts | {
        "shards_beyond_domain": not plan.shard_group,
        "domain_shard_gib": high / GIB,
        "domain_shard_fits": high <= hardware.memory_bytes,
    }


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the section "software" of the design."""
    stack = software_stack(candidate.gpu, context.answers.text("software.framework"), context.workload.precision, context.catalog)
    return {
        "software": {
            "stack": stack.stack,
            "toolkit": f"{stack.toolkit.name}: {stack.toolkit.version}",
            "framework": f"{stack.framework.name}: {stack.framework.version}",
            "framework_status": stack.framework.status,
            "collectives": f"{stack.collectives.name}: {stack.collectives.version}",
            "precision": context.workload.precision,
            "notes": [row.fact for row in stack.problems],
        }
    }


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return no lines: the software that trains is free; what support contracts cost is a vendor question."""
    del candidate, context
    return []
