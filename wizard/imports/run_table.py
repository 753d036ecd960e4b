"""What a row of a table of runs means: workload, hardware, software, and the plans that it can have been.

A row's values are taken as they are. What it does not state is either the field's default, which a note says, or left open: then
the case has several plans, of which the estimate takes the fastest that fits, as whoever published the run did.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from catalogs.quantities import quantity
from rules.answer_fields import OFFLOADS, RECOMPUTE_MODULES
from rules.counting import counted
from rules.sizing.memory_activations import ALL_BUT
from rules.sizing.parameters import count_parameters, vision_tokens
from rules.sizing.plan_space import divisors, virtual_stages
from rules.sizing.results import ModelShape, Plan, Workload
from rules.sizing.step import is_transformer
from rules.sizing.workload import FROZEN_FLOPS_SHARE, adapter_parameters
from wizard.imports.run_memory import SHARDED_GRADIENTS, memory_options, only_arguments, schedule_of
from wizard.imports.run_models import Unanswerable, model_of, reduced, size_note
from wizard.imports.run_recipes import with_recipe
from wizard.imports.run_rows import problem_of
from wizard.imports.run_techniques import techniques_of
from wizard.imports.run_words import (
    PRECISIONS,
    STAGE_OF_SHARDING,
    Precision,
    adapters_of,
    kernel_known,
    offload_of,
    optimizer_of,
    post_training_of,
    precision_of,
    recompute_of,
    sharding_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from rules.sizing.hardware import Hardware
    from rules.sizing.memory_software import MemoryOptions
    from rules.sizing.techniques import Techniques
    from wizard.imports.run_machines import Machines
    from wizard.imports.run_rows import RunRow

UNFUSED_ARCHITECTURES = ("Volta", "Ampere")
"""Training in FP16 on these GPUs is code from before FlashAttention [arXiv:2205.14135, May 2022], which came with BF16 training."""
OLD_ARCHITECTURES = ("Volta", "Turing", "Ampere")
"""Recipes for later GPUs use sequence parallelism and interleave pipeline stages unless they say otherwise [NeMo and Megatron Bridge
recipes]; in code of the time of these both were options that were off by default [Megatron-LM arguments]."""
GIB = 2.0**30
SHARD_GROUP_OF_HSDP = 8
"""Hybrid sharding shards inside a server of eight [PyTorch FSDP, HYBRID_SHARD]."""
ADAPTER_RANK = 16
"""Rank of the adapters where a table states none [Megatron Bridge, LoRA recipes: dim 16]."""
STAGES_OF_BATCH = 4
"""Micro-batches per pipeline stage where the batch is not stated: enough to fill the pipeline; the rate hardly depends on more."""
MICRO_BATCH_OF_PIPELINES = 1
"""Sequences of a micro-batch where a dense run with a pipeline states none: so many have 90 of the 96 published ones that do, the others
two [dgxc-benchmarking, Megatron Bridge, NeMo 24.07, Korthikanti 2022, Narayanan 2021, SimuMax, BLOOM; catalogs/measurements]."""
IMAGES_PER_GPU = 256
"""Images per GPU and step where a table of throughputs states none [NVIDIA DeepLearningExamples ConvNets, ResNet-50]."""


@dataclass(frozen=True)
class RunCase:
    """One row, understood. `plans` are the plans that it can have been; `batch_stated` is false where the batch is an assumption.

    `techniques` is what the row tells of the training code; `options` how the software uses memory; `memory_bytes` what the GPU has, as
    the catalog knows it or else as the row states it, 0 where neither does.
    """

    workload: Workload
    hardware: Hardware | None
    plans: tuple[Plan, ...]
    options: MemoryOptions
    techniques: Techniques
    batch_stated: bool
    open: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    memory_bytes: float = 0.0


def interpret(row: RunRow, models: Mapping[str, Mapping[str, Any]], catalog: Catalog, machines: Machines) -> RunCase:
    """Return what a row means; raises Unanswerable with the reason where it cannot be estimated."""
    name = row.text("model")
    wrong = problem_of(row, models)
    if wrong:
        raise Unanswerable(wrong)
    shape, notes = model_of(name, models, catalog)
    shape = reduced(shape, row.count("layers_override"), row.count("dense_layers_override"))
    hardware = machines.get(row.text("gpu"), row.count("network_gbps")) if row.text("gpu") else None
    row, known = with_recipe(row, hardware.gpu if hardware is not None else "", catalog)
    told = [*notes, *_hardware_notes(row, hardware, catalog), *known, *_unread(row)]
    row = _without_unknown(row)
    numbers = _precision(row, told)
    precision = numbers.name
    base = _layout(row, shape, told)
    sequence = _sequence(row, shape, catalog, told)
    unfused = _unfused(row, shape, hardware)
    open_: list[str] = []
    batch, stated = _batch(row, base, shape, told)
    sizes = _micro_batches(row, base, batch, shape, open_)
    told += _indivisible(row, base, batch, shape)
    workload = _workload(shape, precision, _optimizer(row, models.get(name, {}), told), batch, sequence, _adapters(row, shape, told))
    workload = replace(workload, post_training=post_training_of(row.text("workload")))
    if not row.count("layers_override"):
        told += size_note(shape, workload.parameters.total, models.get(name))
    plans = _plans(row, base, shape, batch, sizes, hardware, unfused, open_)
    options, techniques = memory_options(row, shape, unfused, master=numbers.master), techniques_of(row, unfused, hardware)
    capacity = hardware.memory_bytes if hardware is not None else float(row.values.get("gpu_mem_gib", 0)) * GIB
    return RunCase(workload, hardware, plans, options, techniques, stated, tuple(open_), tuple(told), capacity)


def _hardware_notes(row: RunRow, hardware: Hardware | None, catalog: Catalog) -> tuple[str, ...]:
    name = row.text("gpu")
    if not name:
        return ("the row names no GPU: no time and no verdict",)
    if hardware is None:
        near = catalog.gpus.nearest(name)
        return (f"no GPU in the catalog is called {name!r}{f' (the nearest is {near})' if near else ''}: no time and no verdict",)
    return ()


def _precision(row: RunRow, notes: list[str]) -> Precision:
    stated = row.text("precision")
    if not stated:
        notes.append("precision is not stated: bf16")
        return Precision("bf16", True)
    found = precision_of(stated)
    if found is None:
        raise Unanswerable(f"precision {stated!r} is not known; known are {', '.join(PRECISIONS)}")
    notes += [found.note] if found.note else []
    return found


def _optimizer(row: RunRow, table: Mapping[str, Any], notes: list[str]) -> str:
    stated = row.text("optimizer") or str(table.get("optimizer", ""))
    found = optimizer_of(stated) if stated else "adamw"
    if found is None:
        notes.append(f"optimizer {stated!r} is not known: adamw is assumed")
    if row.text("mp_mode").upper() == "PURE" and found in (None, "adamw"):
        return "adamw_bf16"
    return found or "adamw"


def _layout(row: RunRow, shape: ModelShape, notes: list[str]) -> Plan:
    """Return the stated parallel sizes; data-parallel ranks follow from the GPUs. Raises Unanswerable for sizes that cannot be."""
    tensor, pipeline, context = (row.count(key) or 1 for key in ("tp", "pp", "cp"))
    gpus, stated = row.count("gpus"), row.count("dp")
    inside = tensor * pipeline * context
    if gpus is None:
        gpus = inside * (stated or 1)
        notes.append(f"the number of GPUs is not stated: {gpus} by the parallel sizes")
    # whoever shards gradients or parameters shares among all GPUs unless another size is said
    shards = (row.count("zero_stage") or 0) >= SHARDED_GRADIENTS or bool(sharding_of(row.text("sharding")))
    if gpus > inside and not shards and not any(row.count(key) for key in ("tp", "pp", "cp", "dp")):
        raise Unanswerable("the row states no parallel sizes (tp, pp, cp, dp): give those that the run had")
    if gpus % inside:
        sizes = f"tp {tensor:,} × pp {pipeline:,} × cp {context:,}"
        raise Unanswerable(f"{counted(gpus, 'GPU')} cannot be split into {sizes}; expected a multiple of {inside:,}")
    data = gpus // inside
    if stated is not None and stated != data:
        notes.append(f"dp {stated} contradicts {gpus} GPUs of tp {tensor} × pp {pipeline} × cp {context}: {data} is taken")
    if not shape.experts and (row.count("ep") or 1) > 1:
        notes.append(f"ep {row.count('ep')} is left out: the model has no experts")
    expert, expert_tensor = (row.count("ep") or 1) if shape.experts else 1, row.count("etp") or 1
    ranks = tensor * context * data
    if expert * expert_tensor > ranks:
        raise Unanswerable(f"ep {expert} × etp {expert_tensor} are more than the {ranks} ranks (tp × cp × dp) that share experts")
    if shape.experts and shape.experts % expert:
        raise Unanswerable(f"ep {expert} does not divide {shape.experts} experts")
    # heads that stand for state-space mixers are no heads that tensor parallelism splits
    if is_transformer(shape) and not shape.scanned_channels and shape.attention_heads % tensor:
        raise Unanswerable(f"tp {tensor} does not divide {shape.attention_heads} attention heads")
    if is_transformer(shape) and pipeline > shape.layers:
        raise Unanswerable(f"{shape.layers} layers cannot be split over {pipeline} pipeline stages")
    return Plan(tensor=tensor, pipeline=pipeline, context=context, expert=expert, expert_tensor=expert_tensor, data=data)


def _sequence(row: RunRow, shape: ModelShape, catalog: Catalog, notes: list[str]) -> int:
    if not is_transformer(shape):
        return 1
    if shape.kind == "vision_transformer":
        return vision_tokens(shape)
    stated = row.count("seq_len")
    if stated is not None:
        return stated
    preset = catalog.models.get(row.text("model"))
    own = shape.max_sequence_length or int((preset.shape.get("max_sequence_length") if preset else 0) or 0)
    if not own:
        raise Unanswerable("seq_len is not stated: the tokens per sequence decide memory and time")
    notes.append(f"seq_len is not stated: {own}, the model's own length")
    return own


def _unfused(row: RunRow, shape: ModelShape, hardware: Hardware | None) -> bool:
    """Return whether attention writes its scores to memory: by the stated kernel, else by precision and generation of the GPU."""
    kernel = row.text("kernel").lower()
    if kernel:
        return "flash" not in kernel and "cudnn" not in kernel and "sdpa" not in kernel
    old = hardware is not None and hardware.architecture in UNFUSED_ARCHITECTURES
    numbers = precision_of(row.text("precision"))
    return old and numbers is not None and numbers.name == "fp16" and is_transformer(shape)


def _batch(row: RunRow, base: Plan, shape: ModelShape, notes: list[str]) -> tuple[int, bool]:
    """Return (sequences, images or samples per step, whether the row states them)."""
    stated = row.count("global_batch")
    if stated is None and row.count("batch_per_gpu") is not None and not is_transformer(shape):
        stated = (row.count("batch_per_gpu") or 1) * base.gpus
    per_rank, micro, steps = row.count("batch_per_dp"), row.count("micro_batch"), row.count("grad_accum")
    if stated is None and per_rank is not None:
        stated = per_rank * base.data
    if stated is None and micro is not None and steps is not None:
        stated = micro * steps * base.data
    if stated is not None:
        return stated, True
    if not is_transformer(shape):
        notes.append(f"the batch is not stated: rates are for {IMAGES_PER_GPU} per GPU")
        return IMAGES_PER_GPU * base.gpus, False
    steps = steps or (STAGES_OF_BATCH * base.pipeline if base.pipeline > 1 else 1)
    notes.append(f"the global batch is not stated: rates are for {counted(steps, 'micro-batch', 'micro-batches')} per data-parallel rank")
    return (micro or 1) * steps * base.data, False


def _micro_batches(row: RunRow, base: Plan, batch: int, shape: ModelShape, open_: list[str]) -> tuple[int, ...]:
    stated, per_rank = row.count("micro_batch"), max(1, batch // base.data)
    if not is_transformer(shape):
        return (stated or row.count("batch_per_gpu") or max(1, batch // base.gpus),)
    if stated is not None:
        return (stated,)
    if row.count("global_batch") is None and row.count("batch_per_dp") is None:
        return (1,)
    if base.pipeline > 1 and "compile" in row.values:
        # the batch of a rank is split into as many micro-batches as there are stages [torchtitan, pipeline_parallel_microbatches]
        return (max(1, per_rank // (base.pipeline * (row.count("vpp") or 1))),)
    if base.pipeline > 1 and not shape.experts:
        return (MICRO_BATCH_OF_PIPELINES,)
    open_.append("micro_batch")
    return tuple(each for each in divisors(per_rank) if each & (each - 1) == 0)


def _unread(row: RunRow) -> list[str]:
    """Return a note for each word that is not known and taken as not stated."""
    recompute, sharding = row.text("recompute"), row.text("sharding")
    unread = {"recompute": recompute if recompute_of(recompute) is None else "", "sharding": "" if sharding_of(sharding) else sharding}
    unread["kernel"] = "" if kernel_known(row.text("kernel")) else row.text("kernel")
    return [*row.misspelt, *(f"{key} {word!r} is not known: taken as not stated" for key, word in unread.items() if word)]


def _without_unknown(row: RunRow) -> RunRow:
    return row if kernel_known(row.text("kernel")) else replace(row, values={**row.values, "kernel": ""})


def _indivisible(row: RunRow, base: Plan, batch: int, shape: ModelShape) -> tuple[str, ...]:
    """Return notes where a stated batch is no whole number of micro-batches on each rank, or a stage's layers none of chunks."""
    micro, chunks = row.count("micro_batch") or 1, row.count("vpp") or 1
    if not is_transformer(shape):
        return ()
    layers = -(-shape.layers // base.pipeline)
    uneven = (f"vpp {chunks} does not divide the {layers} layers of a stage: chunks are uneven",) if layers % chunks else ()
    uneven = uneven if base.pipeline > 1 else (f"vpp {chunks} is left out: there is no pipeline",) if chunks > 1 else ()
    if batch % (base.data * micro) == 0:
        return uneven
    told = f"a global batch of {batch:,} is no multiple of {counted(base.data, 'data-parallel rank')} × micro_batch {micro:,}"
    timed = max(1.0, batch / (base.data * micro))
    return (*uneven, f"{told}: training code refuses it; {'one micro-batch is' if timed == 1 else f'{timed:.3g} micro-batches are'} timed")


def _adapters(row: RunRow, shape: ModelShape, notes: list[str]) -> str:
    """Return the kind of workload where a row says that adapters are trained on frozen weights, else ""."""
    kind = adapters_of(row.text("workload"))
    if not kind:
        return ""
    if shape.kind not in ("dense", "moe"):
        raise Unanswerable("adapters are sized for language models only")
    notes.append(f"adapters of rank {ADAPTER_RANK} are trained, the other weights are frozen")
    return kind


def _workload(shape: ModelShape, precision: str, optimizer: str, batch: int, sequence: int, adapters: str) -> Workload:
    count = count_parameters(shape, sequence)
    if adapters:
        trained, flops = adapter_parameters(shape, ADAPTER_RANK), FROZEN_FLOPS_SHARE * count.flops_per_token
        return Workload(
            adapters, shape, count, precision, optimizer, "token", 0.0, batch, sequence, trained, flops, None, None, quantity(0, "GB"),
            "text",
        )  # fmt: skip
    kind, unit = {
        "cnn": ("vision", "image"),
        "vision_transformer": ("vision", "image"),
        "recommendation": ("recommendation", "sample"),
    }.get(shape.kind, ("pretraining", "token"))
    flops = count.flops_per_token * (vision_tokens(shape) if shape.kind == "vision_transformer" else 1)
    return Workload(
        kind, shape, count, precision, optimizer, unit, 0.0, batch, sequence, count.total, flops, None, None, quantity(0, "GB"), "text"
    )  # fmt: skip


def _recomputes(row: RunRow, shape: ModelShape, unfused: bool, open_: list[str]) -> tuple[str, ...]:
    """Return what can have been recomputed: as stated; else anything, and before FlashAttention everything."""
    known = recompute_of(row.text("recompute"))
    if known is not None:
        return (known.kind,)
    if not is_transformer(shape) or only_arguments(row):
        return ("none",)
    open_.append("recompute")
    return ("full",) if unfused else ("none", "selective", "full")


def _plans(
    row: RunRow,
    base: Plan,
    shape: ModelShape,
    batch: int,
    sizes: tuple[int, ...],
    hardware: Hardware | None,
    unfused: bool,
    open_: list[str],
) -> tuple[Plan, ...]:
    recomputes, offload, schedule = _recomputes(row, shape, unfused, open_), _offload(row), schedule_of(row)
    sharding = sharding_of(row.text("sharding"))
    stage = _zero_stage(row, base)
    stages = (stage,) if stage is not None else (0, 1) if base.data * base.context > 1 and is_transformer(shape) else (0,)
    if len(stages) > 1:
        open_.append("zero_stage")
    sequence_parallel = row.values.get("sequence_parallel")
    together = bool(sequence_parallel) if sequence_parallel is not None else _is_recent(hardware) and not only_arguments(row)
    group = min(SHARD_GROUP_OF_HSDP, base.data * base.context) if sharding == "HSDP" else 0
    stated = recompute_of(row.text("recompute"))
    modules = tuple(each for each in stated.modules if each in (*RECOMPUTE_MODULES, *ALL_BUT)) if stated is not None else ()
    made = []
    for size in sizes:
        for virtual in _interleavings(row, base, shape, max(1, batch // (base.data * size)), hardware, open_):
            some = _recomputed_layers(row, shape, base, virtual)
            for recompute, zero in product(recomputes, stages):
                plan = _with(base, size, virtual, recompute, zero, together, group)
                named = modules if recompute == "selective" else ()
                made.append(replace(plan, offload=offload, schedule=schedule, recompute_layers=some, recompute_modules=named))
    return tuple(made)


def _recomputed_layers(row: RunRow, shape: ModelShape, base: Plan, virtual: int) -> int:
    """Return in how many layers of a stage everything is recomputed, 0 for all; Megatron counts those of each chunk of layers."""
    known = recompute_of(row.text("recompute"))
    if known is None or known.kind != "full":
        return 0
    layers = -(-shape.layers // base.pipeline)
    chosen = known.layers * virtual if known.layers else -(-layers // known.every) if known.every > 1 else 0
    return chosen if chosen < layers else 0


def _offload(row: RunRow) -> str:
    """Return what rests on the host or on drives; raises Unanswerable for what is not known."""
    found = offload_of(row.text("offload"), row.text("optimizer"))
    if found is None:
        raise Unanswerable(f"offload {row.text('offload')!r} is not known; known are {', '.join(OFFLOADS)}")
    return found


def _zero_stage(row: RunRow, base: Plan) -> int | None:
    """Return the stated ZeRO stage. Without a pipeline, compiled or eager PyTorch code (`compile`) shards parameters after the forward
    pass again, the default of fully_shard [PyTorch FSDP2, reshard_after_forward], so that stage 2 there is stage 3.
    """
    stage = row.count("zero_stage")
    if stage is None:
        stage = STAGE_OF_SHARDING.get(sharding_of(row.text("sharding")))
    return 3 if stage == 2 and "compile" in row.values and base.pipeline == 1 else stage


def _with(base: Plan, size: int, virtual: int, recompute: str, zero: int, together: bool, group: int) -> Plan:
    return Plan(
        tensor=base.tensor, pipeline=base.pipeline, virtual_stages=virtual, context=base.context, expert=base.expert,
        expert_tensor=base.expert_tensor, data=base.data, zero_stage=zero, micro_batch=size, recompute=recompute,
        sequence_parallel=together, shard_group=group,
    )  # fmt: skip


def _is_recent(hardware: Hardware | None) -> bool:
    return hardware is None or hardware.architecture not in OLD_ARCHITECTURES


def _interleavings(
    row: RunRow, base: Plan, shape: ModelShape, micro_batches: int, hardware: Hardware | None, open_: list[str]
) -> tuple[int, ...]:
    stated = row.count("vpp")
    if stated is not None or base.pipeline == 1:
        return (stated if stated is not None and base.pipeline > 1 else 1,)
    if not _is_recent(hardware):
        return (1,)
    if "vpp" not in open_:
        open_.append("vpp")
    return virtual_stages(shape.layers, base.pipeline, micro_batches, exhaustive=False)
