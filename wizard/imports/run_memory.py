"""How the software of a run uses memory, as far as its row tells; what it does not tell widens the range.

A technique is recognised from the row's own settings, never from where the row was published.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rules.sizing.memory_activations import ActivationOptions
from rules.sizing.memory_software import COMPILED_LOSS, EAGER_LOSS, PLAIN_SOFTWARE, UNSPLIT_LOSS, MemoryOptions
from rules.sizing.pipeline import SCHEDULES
from wizard.imports import run_words
from wizard.imports.run_models import Unanswerable

if TYPE_CHECKING:
    from rules.sizing.results import ModelShape, Plan, Workload
    from wizard.imports.run_rows import RunRow

DESCRIBING = ("recompute", "compile", "kernel", "sharding", "mp_mode", "vpp", "sequence_parallel")
"""Settings that tell which software ran; a row with none of them can be any. Interleaving and a switch for sequence parallelism are
Megatron's [Megatron-LM arguments]."""
SHARDED_GRADIENTS = 2
"""The ZeRO stage from which gradients are sharded."""
OF_MEGATRON = ("cp", "ep", "etp")
"""Parallel sizes that only the Megatron family offers beside tensor and pipeline parallelism, where they are more than one."""
SHORTEST_OF_OWN_LENGTH = 2
"""A run whose sequence length is not stated may have used half of the model's own: proxies and tests often do (assumed)."""

Variant = tuple["Workload", "Plan", MemoryOptions]


def memory_options(row: RunRow, shape: ModelShape, unfused: bool, *, master: bool = True) -> MemoryOptions:
    """Return how the software of the run uses memory. `unfused` marks attention kernels before FlashAttention, `master` 32-bit weights.

    A row that names its kernels is of code beside the frameworks: norms in PyTorch operations unless a kernel for them is named, and
    a loss over all logits on every rank. `compile` is a switch of PyTorch programs, which shard with FSDP and report reserved memory.
    """
    kernel, compiled = row.text("kernel").lower(), row.values.get("compile")
    activations = ActivationOptions(
        quadratic_attention=unfused,
        dropout=unfused and not shape.gated_ffn and not kernel,
        selective=_modules(row) or (("core_attention",) if unfused else ActivationOptions().selective),
        fused_activation=not kernel,
        fused_norm=not kernel or "rms" in kernel,
    )
    if kernel:
        return MemoryOptions(activations=activations, loss_head=UNSPLIT_LOSS, reserved=True, master=master)
    if compiled is None:
        # with BF16 Megatron-LM always accumulates gradients in 32 bits [Megatron-LM, accumulate_allreduce_grads_in_fp32]
        return MemoryOptions(activations=activations, gradients_known=only_arguments(row), master=master)
    loss = COMPILED_LOSS if compiled else EAGER_LOSS
    return MemoryOptions(activations=activations, loss_head=loss, keeps_outputs=True, reserved=True, master=master)


def only_arguments(row: RunRow) -> bool:
    """Return whether a row states sizes alone, not even the sequence length: whoever prints arguments leaves out what is at its default."""
    stated = any(key in row.values for key in (*DESCRIBING, "seq_len", "zero_stage"))
    return not stated and any(row.count(key) for key in ("tp", "pp"))


def _described(row: RunRow, workload: Workload) -> bool:
    """Return whether the row tells of the software: by its settings, by sizes of Megatron's, or by a precision of its kernels.

    Gradients or parameters that are sharded without a pipeline are those of PyTorch or DeepSpeed programs, which recompute with any layers
    and any loss: recomputation tells nothing of them.
    """
    sharded = (row.count("zero_stage") or 0) >= SHARDED_GRADIENTS and (row.count("pp") or 1) == 1
    if any(row.text(key) or key in row.values for key in DESCRIBING if not (sharded and key == "recompute")):
        return True
    return any((row.count(key) or 1) > 1 for key in OF_MEGATRON) or workload.precision in ("fp8", "mxfp8", "nvfp4")


def _any_recompute(row: RunRow, plan: Plan) -> bool:
    """Return whether anything can have been recomputed: programs that shard differ in what they do unless told otherwise.

    llama-recipes recomputes every layer with FSDP [meta-llama/llama-cookbook issue 831, fsdp_activation_checkpointing], Transformers none
    [TrainingArguments, gradient_checkpointing]. Megatron-LM recomputes nothing [Megatron-LM arguments].
    """
    unstated = run_words.recompute_of(row.text("recompute")) is None
    return unstated and plan.zero_stage >= SHARDED_GRADIENTS and plan.pipeline == 1


def schedule_of(row: RunRow) -> str:
    """Return the schedule of the pipeline; raises Unanswerable for one that is not known."""
    found = run_words.schedule_of(row.text("schedule"))
    if found is None:
        raise Unanswerable(f"no pipeline schedule is called {row.text('schedule')!r}; known are {', '.join(SCHEDULES)}")
    return found


def _modules(row: RunRow) -> tuple[str, ...]:
    known = run_words.recompute_of(row.text("recompute"))
    return known.modules if known is not None else ()


def variants(row: RunRow, workload: Workload, plan: Plan, options: MemoryOptions) -> tuple[tuple[Variant, ...], tuple[str, ...]]:
    """Return what the run can have been, the likeliest first, and notes on what was left open."""
    made: list[Variant] = [(workload, plan, options)]
    notes: list[str] = []
    if workload.unit != "token":
        return tuple(made), ()
    if only_arguments(row):
        notes.append(
            "nothing but sizes is stated: the defaults of Megatron-LM, without recomputation and sequence parallelism, are assumed"
        )
    elif not _described(row, workload):
        made.append((workload, plan, replace(PLAIN_SOFTWARE, master=options.master)))
        notes.append("the software is not described: the range goes from fused kernels to plain PyTorch operations and reserved memory")
    if _any_recompute(row, plan):
        made += [
            (workload, replace(plan, recompute=each, recompute_layers=0), options) for each in ("none", "full") if each != plan.recompute
        ]
        notes.append("recomputation is not stated: the range goes from none to all, which programs that shard differ in by default")
    if row.count("seq_len") is None:
        half = replace(workload, sequence_length=max(1, workload.sequence_length // SHORTEST_OF_OWN_LENGTH))
        made.append((half, plan, options))
        notes.append(f"the sequence length is not stated: the range goes down to that of {half.sequence_length} tokens")
    return tuple(made), tuple(notes)
