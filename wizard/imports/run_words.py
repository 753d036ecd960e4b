"""Words of a table of runs: the many spellings in which training code and papers write precisions, optimizers, schedules and settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PRECISIONS = {
    "bf16": "bf16", "amp_bf16": "bf16", "fp16": "fp16", "amp": "fp16", "amp_fp16": "fp16", "fp32": "fp32", "tf32": "tf32",
    "fp8": "fp8", "amp_fp8": "fp8", "fp8-cs": "fp8", "fp8-ds": "fp8", "fp8-delayed": "fp8", "fp8-current": "fp8",
    "fp8-tensorwise": "fp8", "fp8-rowwise": "bf16", "fp8-sc": "mxfp8", "fp8-blockwise": "mxfp8", "fp8-mx": "mxfp8", "mxfp8": "mxfp8",
    "nvfp4": "nvfp4", "fp4": "nvfp4",
}  # fmt: skip
"""Precisions and FP8 recipes as tables print them, by the one whose rate and bytes they have: scaling by blocks costs what MXFP8 does
[Transformer Engine, recipes]; `amp` is FP16 [PyTorch and TensorFlow automatic mixed precision]. Scaling by rows keeps BF16 weights, and
in PyTorch gains nothing over BF16 on H100: 3,708 and 3,915 against 4,378 and 4,809 tokens/s [torchtitan, asynchronous TP]."""
_PRECISION_PATTERNS = (
    (r"nvfp4|mxfp4|fp4|e2m1", "nvfp4"),
    (r"fp8.*(row)|float8.*row", "bf16"),
    (r"mxfp8|(fp8|float8).*(block|mx|sub|sc\b|128)", "mxfp8"),
    (r"fp8|float8|e4m3|e5m2", "fp8"),
    (r"bf16|bfloat16", "bf16"),
    (r"tf32", "tf32"),
    (r"fp16|float16|\bhalf\b|^16\b", "fp16"),
    (r"fp32|float32|\bsingle\b|^32\b", "fp32"),
)
"""Longer spellings ("bf16-mixed", "float8_e4m3fn", "fp8 (current scaling)") by what they contain, the first that is found."""
COUNTED_AS = {"mxfp4": "MXFP4 is counted as NVFP4, which has a scale for half as many elements"}
"""What is to be said where a spelling is another format than the one that is counted."""
_WITHOUT_MASTER = re.compile(r"(bf16|16)[-_ ]true|pure[-_ ]?(bf16|fp16)|\bno[-_ ]master|without master|full_bf16")
"""Weights in 16 bits with no 32-bit copy [Lightning, precision "bf16-true"; torchtune, dtype bf16]."""
OPTIMIZERS = {"adam": "adamw", "fused_adam": "adamw", "decoupled_adamw": "adamw"}
KNOWN_OPTIMIZERS = ("adamw", "adamw_bf16", "adamw_8bit", "adafactor", "lion", "lion_8bit", "muon", "sgd", "adagrad")
_OPTIMIZER_PATTERNS = (
    (r"muon", "muon"),
    (r"lion.*8|8.*lion", "lion_8bit"),
    (r"lion", "lion"),
    (r"adafactor|came", "adafactor"),
    (r"adagrad|rmsprop|adam.?mini", "adagrad"),
    (r"sgd|momentum", "sgd"),
    (r"adam.*8|8.*adam", "adamw_8bit"),
    (r"adam.*(bf16|16)|(bf16|16).*adam", "adamw_bf16"),
    (r"adam|lamb", "adamw"),
)
"""The same of optimizers: one 32-bit moment for RMSProp and Adam-mini, two for LAMB, as the one that they are counted as."""
_ON_THE_HOST = re.compile(r"cpu.?adam")
"""An optimizer that runs on the host has its state there [DeepSpeed, DeepSpeedCPUAdam]."""
OFFLOADS = (
    (r"^(none|no|off|false|0)?$", "none"),
    (r"nvme|disk|ssd|infinity", "nvme"),
    (r"param|weight|full|all|cpu.?offload|fsdp", "parameters"),
    (r"optim|state|cpu|host|true|yes|zero.?offload", "optimizer"),
)
"""What rests outside the GPU: FSDP's `cpu_offload` takes parameters, gradients and optimizer, ZeRO-Offload the optimizer, ZeRO-Infinity
drives [PyTorch FSDP; DeepSpeed]."""
SCHEDULES = {
    "": "1f1b", "1f1b": "1f1b", "interleaved": "1f1b", "interleaved1f1b": "1f1b", "1f1binterleaved": "1f1b", "pipedream": "1f1b",
    "pipedreamflush": "1f1b", "dapple": "1f1b", "vpp": "1f1b", "gpipe": "gpipe", "afab": "gpipe", "fthenb": "gpipe",
    "zb": "zb_h1", "zerobubble": "zb_h1", "zbh1": "zb_h1", "zb1p": "zb_h1", "interleavedzerobubble": "zb_h1", "zbh2": "zb_h2",
    "zb2p": "zb_h2", "zbv": "zb_v", "zbvzerobubble": "zb_v", "dualpipe": "dualpipe", "dualpipev": "zb_v",
}  # fmt: skip
"""Pipeline schedules by their names without punctuation [torch.distributed.pipelining; Megatron-LM; sail-sg/zero-bubble]. DualPipeV cuts
DualPipe in half, so that each rank has two chunks and one copy of the weights, as ZB-V has [deepseek-ai/DualPipe, README]."""
SHARDINGS = (
    (r"hsdp|hybrid", "HSDP"),
    (r"shard_grad_op|zero.?2|os\+g", "ZERO2"),
    (r"^ddp$|no_shard|zero.?0|replicate", "DDP"),
    (r"distributed.?optimizer|zero.?1", "ZERO1"),
    (r"fsdp|full.?shard|zero.?3|fully", "FSDP"),
)
"""What is sharded among data-parallel ranks [PyTorch FSDP, ShardingStrategy; DeepSpeed; Megatron-LM]."""
STAGE_OF_SHARDING = {"FSDP": 3, "HSDP": 3, "ZERO2": 2, "ZERO1": 1, "DDP": 0}


class Precision(NamedTuple):
    """A precision: the name that is counted, whether a 32-bit master copy is kept, and what is to be said."""

    name: str
    master: bool
    note: str = ""


class Recompute(NamedTuple):
    """What is recomputed: none, selective with modules, or full in `layers` of each stage, or in one of `every` (0: all)."""

    kind: str
    modules: tuple[str, ...] = ()
    layers: int = 0
    every: int = 0


MODULES = {
    "layernorm": "norm", "norm": "norm", "moe_act": "activation", "act": "activation", "activation": "activation",
    "core_attn": "core_attention", "core_attention": "core_attention", "attention": "core_attention", "attn": "core_attention",
    "mlp": "mlp", "ffn": "mlp", "moe": "moe", "shared_experts": "shared_experts", "mla_up_proj": "mla_up_projection",
}  # fmt: skip
"""Modules of selective recomputation [Megatron Core, --recompute-modules] by the memory model's names."""
POLICIES = {
    "save_nothing": ("full", ()), "save_everything": ("none", ()),
    "save_dot_only": ("selective", ("core_attention", "norm", "activation")),
    "save_qkv_proj": ("selective", ("all_but_query_key_value",)),
    "save_qkv_out_proj": ("selective", ("all_but_attention_products",)),
}  # fmt: skip
"""Policies of recomputation in JAX by what they keep [PaxML, AutodiffCheckpointType; MaxText, remat_policy]; fused attention is no matrix
product of the compiler's, so that what keeps products alone runs it again."""
PER_OPERATION = "selective-op"
"""Selective checkpointing by operation keeps every second matrix product [torchtitan, activation_checkpoint selective_ac_option op]."""
_OTHER_NAMES = {
    "recompute": ("recompute_granularity", "activation_checkpointing", "activation_checkpoint", "gradient_checkpointing"),
    "offload": ("cpu_offload", "offload_optimizer", "optimizer_offload", "optimizer_cpu_offload", "offload_param"),
    "schedule": ("pipeline_schedule", "pp_schedule", "pipeline_parallel_schedule"),
    "tp": ("tensor_model_parallel_size", "tensor_parallel_size", "tensor_parallel", "tensor"),
    "pp": ("pipeline_model_parallel_size", "pipeline_parallel_size", "pipeline_parallel", "pipeline"),
    "cp": ("context_parallel_size", "context_parallel", "context"),
    "ep": ("expert_model_parallel_size", "expert_parallel_size", "expert_parallel", "expert"),
    "etp": ("expert_tensor_parallel_size",),
    "dp": ("data_parallel_size", "data_parallel"),
    "vpp": ("virtual_pipeline_model_parallel_size", "virtual_stages"),
    "seq_len": ("seq_length", "sequence_length"),
    "global_batch": ("global_batch_size", "gbs"),
    "micro_batch": ("micro_batch_size", "mbs"),
    "gpus": ("num_gpus", "world_size"),
}
"""Other names of a row's settings [Megatron-LM, NeMo and DeepSpeed arguments; torchtitan and Transformers configurations], and those that
designs of this tool have."""
_KERNELS = re.compile(r"flash|fused|rms|torch|cudnn|sdpa|megatron|eager|naive|apex")
"""What names of attention kernels contain: fused ones, and operators of PyTorch or of Megatron-LM before FlashAttention."""
_NEAR = 0.75
"""Likeness from which a key that is not read is taken for a misspelt one."""
_SWITCHED = {"cpu_offload": ("no", "parameters"), "offload_param": ("no", "parameters"), "offload": ("no", "optimizer")}
"""What a switch of that name turns on, where it is not simply "yes"."""
_UNUSED_AT_0 = ("vpp", "ep", "etp", "cp")
"""Parallel sizes that some tables print as 0 where they are not used."""
_EVERY = re.compile(r"(?:every|per|selective)[-_: ]*(\d+)")
_SOME = re.compile(r"(?:full|block)\D*?(\d+)|(\d+)\D*layers?")
"""So many layers of each stage; Megatron's method "uniform" recomputes all, in groups of so many [Megatron-LM, --recompute-method]."""
_ALL = re.compile(r"full|uniform|^(true|yes|on|all|1)$|checkpoint|recompute")
_NOTHING = re.compile(r"^(none|no|off|false|0|disabled)$")


def precision_of(stated: str) -> Precision | None:
    """Return the precision that a text means, None where it is not known."""
    word = stated.lower().strip()
    found = PRECISIONS.get(word) or PRECISIONS.get(word.replace("_", "-"))
    found = found or next((name for pattern, name in _PRECISION_PATTERNS if re.search(pattern, word)), None)
    if found is None:
        return None
    note = next((words for name, words in COUNTED_AS.items() if name in word), "")
    return Precision(found, not _WITHOUT_MASTER.search(word), note)


def optimizer_of(stated: str) -> str | None:
    """Return the optimizer that a text means, None where it is not known."""
    word = stated.lower().strip()
    known = OPTIMIZERS.get(word, word)
    return known if known in KNOWN_OPTIMIZERS else next((name for pattern, name in _OPTIMIZER_PATTERNS if re.search(pattern, word)), None)


def offload_of(stated: str, optimizer: str = "") -> str | None:
    """Return what rests outside the GPU, None for a text that is not known; an optimizer on the host says it too."""
    if not stated and _ON_THE_HOST.search(optimizer.lower()):
        return "optimizer"
    return next((name for pattern, name in OFFLOADS if re.search(pattern, stated.lower().strip())), None)


def schedule_of(stated: str) -> str | None:
    """Return the pipeline schedule that a text means, None where it is not known."""
    return SCHEDULES.get(re.sub(r"[^a-z0-9]", "", stated.lower()))


def sharding_of(stated: str) -> str:
    """Return the way of sharding that a text means, "" where it is not known or not stated."""
    return next((name for pattern, name in SHARDINGS if re.search(pattern, stated.lower())), "")


def recompute_of(stated: str) -> Recompute | None:
    """Return what a text says of recomputation, None where nothing is known of it."""
    word = stated.lower().strip()
    if _NOTHING.search(word):
        return Recompute("none")
    if word.startswith(PER_OPERATION):
        return Recompute("selective", ("alternate_products",))
    if word in POLICIES:
        return Recompute(*POLICIES[word])
    every = _EVERY.search(word)
    if every is not None:
        return Recompute("full", every=int(every[1]))
    modules = tuple(MODULES[each] for each in re.findall(r"[a-z_]+", word) if each in MODULES)
    if word.startswith("selective") or (modules and "full" not in word and "checkpoint" not in word):
        return Recompute("selective", modules)
    some = _SOME.search(word)
    if some is not None and "uniform" not in word:
        return Recompute("full", layers=int(some[1] or some[2]))
    return Recompute("full") if _ALL.search(word) else None


def kernel_known(stated: str) -> bool:
    """Return whether a text names attention kernels that are told apart, or none."""
    return not stated or _KERNELS.search(stated.lower()) is not None


def misspelt(keys: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for each key that is not read although it looks like one of the `known` ones."""
    from difflib import get_close_matches

    others = [each for names in _OTHER_NAMES.values() for each in names]
    found = {key: get_close_matches(key.lower(), [*known, *others], 1, _NEAR) for key in keys if key not in others}
    return tuple(f"{key!r} is not read; {near[0]!r} would be" for key, near in found.items() if near)


def adapters_of(stated: str) -> str:
    """Return the kind of workload where a text says that adapters are trained on frozen weights, else ""."""
    word = stated.lower()
    return "fine_tuning_qlora" if "qlora" in word else "fine_tuning_lora" if "lora" in word else ""


def post_training_of(stated: str) -> str:
    """Return the way of post-training that a text names, which has models beside the trained one, else "none"."""
    return next((name for name in ("dpo", "grpo", "ppo") if name in re.split(r"[^a-z]+", stated.lower())), "none")


def spelled(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with other names of settings as those that are read, switches as words, and 1 for a size of 0, which is not used."""
    row = {key: 1 if key in _UNUSED_AT_0 and value == 0 and not isinstance(value, bool) else value for key, value in raw.items()}
    for key, others in _OTHER_NAMES.items():
        name = next((each for each in (key, *others) if each in row), key)
        stated = row.get(name)
        if isinstance(stated, bool):
            stated = _SWITCHED.get(name, ("no", "yes"))[stated]
        if stated is not None:
            row[key] = stated
    modules, layers = row.get("recompute_modules"), row.get("recompute_layers", row.get("recompute_num_layers"))
    kind = row.get("recompute")
    if isinstance(modules, list) and kind in (None, "selective"):
        row["recompute"] = f"selective:{','.join(map(str, modules))}"
    elif isinstance(layers, int) and kind in (None, "full", "yes") and not isinstance(layers, bool):
        method = str(row.get("recompute_method", "block"))
        row["recompute"] = f"{'uniform' if method == 'uniform' else 'block'} {layers}" if layers else "none"
    return row
