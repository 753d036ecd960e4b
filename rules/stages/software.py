"""Software: toolkit, framework, collectives and precision of the GPU, and what the plan asks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.facts import FactField
from rules.findings import Stage
from rules.guidance.software import RULES
from rules.sizing.host import gpus_per_node
from rules.sizing.software import HARD_TO_USE, SoftwareStack, software_stack

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.results import BomLine

STAGE = Stage.SOFTWARE
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

FAST_NETWORK_GBPS = 200.0
"""A network between nodes is called fast from this rate per GPU on: 200 and 400 GbE or InfiniBand are what serious scaling uses (G2a.1)."""

WEIGHT_BYTES, TRAINED_BYTES = 2.0, 16.0
"""Bytes per parameter: 16-bit weights; where it is trained also fp32 master, gradient and two moments (threshold vram-bytes-adam-18)."""

FACTS: tuple[FactField, ...] = (
    FactField("has_plan", "whether a parallel plan was found"),
    FactField("gpu", "name of the GPU"),
    FactField("stack", "vendor's software stack: CUDA, ROCm, Gaudi or oneAPI"),
    FactField("stack_is_common", "whether the stack is CUDA or ROCm"),
    FactField("gpu_was_named", "whether the person preferred this GPU, its vendor or the server by name"),
    FactField("toolkit_status", "what the catalog says of the toolkit on this GPU; unknown where nothing"),
    FactField("toolkit_version", "versions of the toolkit that run"),
    FactField("toolkit_fact", "the catalog's sentence on the toolkit"),
    FactField("toolkit_basis", "its sentence on the lowest version"),
    FactField("framework", "the framework asked for"),
    FactField("framework_status", "what the catalog says of the framework on this GPU"),
    FactField("framework_version", "versions of the framework that run"),
    FactField("framework_fact", "the catalog's sentence on the framework"),
    FactField("collectives", "the collectives library"),
    FactField("collectives_status", "what the catalog says of the collectives library on this GPU"),
    FactField("collectives_version", "versions of the library that run"),
    FactField("collectives_fact", "the catalog's sentence on the library"),
    FactField("precision", "the training precision"),
    FactField("precision_in_gpu", "whether the matrix units compute in it"),
    FactField("precision_in_software", "whether training software has kernels for it"),
    FactField("precision_low", "whether it is FP8 or narrower"),
    FactField("precision_fact", "the catalog's sentence on the precision"),
    FactField("gpu_precisions", "the formats of the matrix units"),
    FactField("problems", "how many things of this stack cost work"),
    FactField("problem_list", "what they are"),
    FactField("gpus", "number of GPUs"),
    FactField("nodes", "number of scale-out nodes"),
    FactField("multi_node", "whether there is more than one node"),
    FactField("rail_fabric", "whether the compute fabric is wired by rails"),
    FactField("separate_fabrics", "number of separate compute networks (planes)"),
    FactField("network_gbps", "network rate per GPU between nodes, 0 where there is none"),
    FactField("network_fast", "whether that is at least 200 Gb/s"),
    FactField("state_fits_node", "whether weights, gradients and optimizer state of all parameters fit into one node's GPU memory"),
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
        "precision_low": workload.precision in ("fp8", "mxfp8", "nvfp4"),
        "gpu_precisions": ", ".join(candidate.gpu.precisions),
        "problems": len(hard),
        "problem_list": " ".join(f"{row.scope.replace('_', ' ')}: {row.fact}" for row in hard)[:900] or "none",
        "gpus": candidate.gpus,
        "nodes": candidate.nodes,
        "multi_node": candidate.nodes > 1,
        "sequence_length": workload.sequence_length,
    }


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
    node_memory = candidate.gpu.memory.capacity.to("byte") * gpus_per_node(candidate.node)
    state = workload.parameters.total * WEIGHT_BYTES + workload.trainable_parameters * TRAINED_BYTES
    facts: dict[str, Scalar] = {
        "has_plan": choice is not None,
        "rail_fabric": network is not None and network.layout.startswith("rail"),
        "separate_fabrics": network.planes if network is not None else 1,
        "network_gbps": rate,
        "network_fast": rate >= FAST_NETWORK_GBPS,
        "state_fits_node": state <= node_memory,
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
    facts["bubble_percent"] = 100.0 * (stages - 1) / (plan.virtual_stages * batches + stages - 1)
    facts["utilization"] = choice.step.model_flops_utilization
    return facts


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
