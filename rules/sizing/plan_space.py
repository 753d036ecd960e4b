"""Which parallel plans exist: how GPUs divide into tensor, context, pipeline, expert and data parallelism, and what is ruled out.

Tensor parallelism divides the attention heads, pipeline stages hold nearly equal layers, experts divide evenly, data-parallel ranks
divide the global batch. Experts fold into the other ranks and add no GPUs [arXiv:2603.07685 §3]. A bounded space is enumerated while
a person types, the whole one on request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.parameters import vision_tokens
from rules.sizing.pipeline import SCHEDULES
from rules.sizing.placement import spread_evenly
from rules.sizing.step import is_transformer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.answers import Answers
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import ModelShape

LARGEST_TENSOR = 8
"""Widest tensor parallelism of the bounded search: beyond 8 ways products grow thin, and no published dense recipe goes further."""
LARGEST_TENSOR_WITH_EXPERTS = 4
"""The same for mixtures of experts, whose recipes keep tensor parallelism at 1 to 4 [Megatron Bridge; arXiv:2603.07685 table 20]."""
LEAST_CONTEXT_TOKENS = 8192
"""Tokens per context-parallel rank below which its ring does not hide behind attention [NeMo long-sequence performance table: context
parallelism starts at 8,192 tokens per rank]; for the bounded search."""
SHORT_CONTEXT, LEAST_SHORT_TOKENS = 4, 512
"""A few ranks may share shorter sequences, where few samples for each leave a pipeline empty: NVIDIA trains Llama 3 8B and 70B of 8,192
tokens two ways [dgxc-benchmarking]."""
LARGEST_CONTEXT = 16
BEYOND_DOMAIN = (2, 4, 8, 32)
"""How much wider than the widest group inside a domain the bounded search spreads experts, for where they do not fit otherwise: DeepSeek-V3
trained on 64 ways over servers of 8 [arXiv:2412.19437 §3.2]."""
UNEVEN_LAYERS = 1.25
"""Most layers of a stage over the mean: beyond it a quarter of the pipeline idles."""
MICRO_BATCH_TOKENS = 32_768
"""Tokens of a micro-batch beyond which products gain nothing and activations only grow."""
LARGEST_MICRO_BATCH = 512


class Fixed(NamedTuple):
    """What the answers fix about a plan; None is free. `framework` is named where it leaves data parallelism with whole copies alone.

    `offload` is what may rest in the host's memory; nothing does unless it is asked for. `schedule` is the pipeline's, `recompute_layers`
    in how many layers of each stage all activations are computed again, 0 where that is free, `recompute_modules` which parts of a layer
    selective recomputation takes.
    """

    tensor: int | None = None
    pipeline: int | None = None
    context: int | None = None
    expert: int | None = None
    zero_stage: int | None = None
    micro_batch: int | None = None
    recompute: str | None = None
    framework: str = ""
    offload: str = "none"
    schedule: str = "1f1b"
    recompute_layers: int = 0
    recompute_modules: tuple[str, ...] = ()


DATA_PARALLEL_FRAMEWORKS = {"tensorflow": "TensorFlow"}
"""Frameworks, by answer, that only copy a model whole: TensorFlow's strategies are mirrored, parameter-server and central storage; sharded
tensors are experimental, and there is no pipeline parallelism and no ZeRO [tensorflow.org/guide/distributed_training, dtensor_overview]."""


def fixed_by(answers: Answers) -> Fixed:
    """Return the parts of the plan that the person gave, and those that the framework leaves no choice of.

    Who asks for an automatic plan gets one: parts that were given before do not bind it.
    """
    free = answers.given("parallelism.mode") and answers.text("parallelism.mode") == "automatic"
    copying = DATA_PARALLEL_FRAMEWORKS.get(answers.text("software.framework") or "", "")

    def count(name: str, only: int | None = None) -> int | None:
        key = f"parallelism.{name}"
        return answers.count(key) if answers.given(key) and not free else only if copying else None

    def word(name: str) -> str | None:
        key = f"parallelism.{name}"
        return answers.text(key) if answers.given(key) and not free else None

    layers = count("recompute_layers") or 0
    given = answers.given("parallelism.recompute_modules") and not free and not layers
    modules = answers.names("parallelism.recompute_modules") if given else ()
    return Fixed(
        count("tensor", 1),
        count("pipeline", 1),
        count("context", 1),
        count("expert", 1),
        count("zero_stage", 0),
        count("micro_batch"),
        "full" if layers else "selective" if modules else word("recompute"),
        copying,
        word("offload") or "none",
        word("schedule") or SCHEDULES[0],
        layers,
        modules,
    )


class Sharding(NamedTuple):
    """How the GPUs divide."""

    tensor: int
    context: int
    pipeline: int
    expert: int
    data: int


@dataclass
class Space:
    """The shardings that are left and, by reason, how many were ruled out."""

    shardings: list[Sharding] = field(default_factory=list)
    ruled_out: dict[str, int] = field(default_factory=dict)

    def rule_out(self, reason: str) -> None:
        """Count one sharding as ruled out for `reason`."""
        self.ruled_out[reason] = self.ruled_out.get(reason, 0) + 1


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a positive number, ascending."""
    small = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return tuple(sorted({*small, *(number // each for each in small)}))


def powers_of_two(largest: int) -> tuple[int, ...]:
    """Return 1, 2, 4 … up to `largest`."""
    return tuple(1 << shift for shift in range(max(1, largest).bit_length()))


def sequence_of(shape: ModelShape, sequence: int) -> int:
    """Return the tokens of one sample: the sequence length, or the patches of an image."""
    return vision_tokens(shape) if shape.kind == "vision_transformer" else sequence


def enumerate_shardings(
    shape: ModelShape, hardware: Hardware, ranks: int, batch: int, sequence: int, fixed: Fixed, *, exhaustive: bool
) -> Space:
    """Return the shardings of `ranks` devices for a model, with those ruled out counted by reason."""
    arguments = (shape, hardware.domain, hardware.per_domain, ranks, batch, sequence, fixed)
    return _enumerate(*arguments, exhaustive=True) if exhaustive else _bounded(*arguments)


@lru_cache(maxsize=512)
def _bounded(shape: ModelShape, domain: int, per_domain: int, ranks: int, batch: int, sequence: int, fixed: Fixed) -> Space:
    """Return the shardings of the bounded search, kept: of the hardware only its domains matter, and most servers have one of eight."""
    return _enumerate(shape, domain, per_domain, ranks, batch, sequence, fixed, exhaustive=False)


def _enumerate(
    shape: ModelShape, domain: int, per_domain: int, ranks: int, batch: int, sequence: int, fixed: Fixed, *, exhaustive: bool
) -> Space:
    space = Space()
    if not is_transformer(shape):
        _data_parallel_only(space, ranks, batch, fixed)
        return space
    for tensor in _tensors(shape, domain, ranks, fixed, space, exhaustive=exhaustive):
        for context in _contexts(shape, ranks // tensor, sequence, fixed, exhaustive=exhaustive):
            for pipeline in _pipelines(shape, ranks // (tensor * context), fixed, space):
                data = ranks // (tensor * context * pipeline)
                if batch % data:
                    space.rule_out("the data-parallel size does not divide the global batch")
                    continue
                for expert in _experts(
                    shape, domain, per_domain if ranks > domain else 0, ranks, tensor * context * data, fixed, space, exhaustive=exhaustive
                ):
                    space.shardings.append(Sharding(tensor, context, pipeline, expert, data))
    return space


def _data_parallel_only(space: Space, ranks: int, batch: int, fixed: Fixed) -> None:
    if max(fixed.tensor or 1, fixed.pipeline or 1, fixed.context or 1) > 1:
        space.rule_out("this kind of model trains data parallel only")
    elif ranks > batch:
        space.rule_out("more GPUs than samples in the global batch")
    else:
        space.shardings.append(Sharding(1, 1, 1, 1, ranks))


def _tensors(shape: ModelShape, domain: int, ranks: int, fixed: Fixed, space: Space, *, exhaustive: bool) -> Iterator[int]:
    limit = max(1, domain)
    options = (
        (fixed.tensor,)
        if fixed.tensor
        else divisors(ranks)
        if exhaustive
        else powers_of_two(min(limit, LARGEST_TENSOR_WITH_EXPERTS if shape.experts else LARGEST_TENSOR))
    )
    for tensor in options:
        if ranks % tensor:
            space.rule_out("tensor parallelism does not divide the GPUs")
        elif shape.attention_heads % tensor:
            space.rule_out("tensor parallelism does not divide the attention heads")
        else:
            yield tensor


def _contexts(shape: ModelShape, ranks: int, sequence: int, fixed: Fixed, *, exhaustive: bool) -> Iterator[int]:
    if fixed.context:
        if ranks % fixed.context == 0:
            yield fixed.context
        return
    whole = sequence_of(shape, sequence)
    if exhaustive:
        # each rank takes a piece from the front and one from the back of the sequence, for equal work under a causal mask
        yield from (context for context in divisors(ranks) if context == 1 or whole % (2 * context) == 0)
        return
    short = min(SHORT_CONTEXT, whole // LEAST_SHORT_TOKENS)
    for context in powers_of_two(min(max(1, short, whole // LEAST_CONTEXT_TOKENS), LARGEST_CONTEXT)):
        if ranks % context == 0:
            yield context


def _pipelines(shape: ModelShape, ranks: int, fixed: Fixed, space: Space) -> Iterator[int]:
    layers = shape.layers
    for pipeline in (fixed.pipeline,) if fixed.pipeline else divisors(ranks):
        if ranks % pipeline:
            space.rule_out("pipeline parallelism does not divide the GPUs")
        elif pipeline > layers:
            space.rule_out("more pipeline stages than layers")
        elif -(-layers // pipeline) * pipeline > UNEVEN_LAYERS * layers and not fixed.pipeline:
            space.rule_out("pipeline stages would be too uneven")
        else:
            yield pipeline


def _experts(
    shape: ModelShape, domain: int, used: int, gpus: int, ranks: int, fixed: Fixed, space: Space, *, exhaustive: bool
) -> Iterator[int]:
    """Yield the expert-parallel sizes of a stage of `ranks` ranks in a job of `gpus`, `used` of each domain where that is fixed."""
    if not shape.experts:
        yield 1
        return
    if fixed.expert:
        options: tuple[int, ...] = (fixed.expert,)
    elif exhaustive:
        options = divisors(shape.experts)
    else:
        options = _expert_sizes(shape.experts, ranks, used or spread_evenly(gpus, domain))
    for expert in options:
        if shape.experts % expert or ranks % expert:
            space.rule_out("expert parallelism does not divide the experts or the ranks")
        else:
            yield expert


@lru_cache(maxsize=4096)
def _expert_sizes(experts: int, ranks: int, domain: int) -> tuple[int, ...]:
    """Return the expert-parallel sizes of the bounded search: the two widest whose groups fill a domain, and two wider ones."""
    inside = [size for size in divisors(experts) if domain % size == 0 and ranks % size == 0]
    return tuple(sorted({*inside[-2:], *(min(experts, inside[-1] * more) for more in BEYOND_DOMAIN)}))


@lru_cache(maxsize=4096)
def micro_batches(per_rank: int, tokens: int, fixed: int | None) -> tuple[int, ...]:
    """Return the micro-batch sizes of the bounded search for `per_rank` samples a rank and step, each of `tokens` tokens."""
    if fixed:
        return (fixed,) if per_rank % fixed == 0 else ()
    largest = min(per_rank, LARGEST_MICRO_BATCH, max(1, MICRO_BATCH_TOKENS // max(1, tokens)))
    return tuple(each for each in powers_of_two(largest) if each <= largest and per_rank % each == 0)


@lru_cache(maxsize=4096)
def virtual_stages(layers: int, pipeline: int, micro: int, *, exhaustive: bool, schedule: str = "1f1b") -> tuple[int, ...]:
    """Return how many model chunks a pipeline rank may hold: 1, and what divides its layers if micro-batches divide into the stages.

    Embedding and head may count as a layer each, as in Llama 3 405B: 126 layers and these two on 16 stages [arXiv:2407.21783 §3.3.2].
    Only 1F1B is interleaved; other schedules have chunks of their own.
    """
    slots = layers if layers % pipeline == 0 else layers + 2
    if pipeline == 1 or slots % pipeline or micro % pipeline or schedule != "1f1b":
        return (1,)
    options = divisors(slots // pipeline)
    if exhaustive or len(options) <= 3:
        return options
    return (1, options[len(options) // 2], options[-1])


def state_options(sharding: Sharding, fixed: Fixed, *, lora: bool) -> tuple[tuple[str, int], ...]:
    """Return (recompute, ZeRO stage) of the bounded search in about the order of what they cost."""
    if sharding.data * sharding.context == 1:
        zeros: tuple[int, ...] = (0,)
    elif sharding.pipeline > 1:
        zeros = (1,)
    else:
        zeros = (1, 3) if lora else (1, 2, 3)
    if fixed.zero_stage is not None:
        zeros = (fixed.zero_stage,)
    recomputes = (fixed.recompute,) if fixed.recompute else ("none", "selective", "full")
    return tuple((recompute, zero) for recompute in recomputes for zero in zeros)
