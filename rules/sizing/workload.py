"""What is to be trained, resolved from the answers: every value that was not answered is recorded with its reason.

LoRA: rank r adds r·(in + out) parameters to each adapted matrix [Hu 2021, arXiv:2106.09685 §4.1]; frozen weights need no
weight gradients, so a token costs two thirds of the FLOPs of full training.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalogs.quantities import number_in_words, quantity
from catalogs.sums import plain_sum
from rules.answer_checks import check_answers
from rules.answers import AnswerError
from rules.sizing import workload_defaults as default
from rules.sizing.model import ASSUMED_LANGUAGE_MODEL, count_parameters, shape_from_answers
from rules.sizing.parameters import embedding_parameters, vision_tokens
from rules.sizing.results import ModelShape, ParameterCount, Workload
from rules.sizing.towers import ASSUMED_IMAGE_SHARE
from rules.sizing.training_bytes import FP32_BYTES, ROOT_MOMENTS, embedding_factor, state_bytes

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from rules.answers import Answers

PERCENT = 100.0
ADAPTER_KINDS = ("fine_tuning_lora", "fine_tuning_qlora")
FROZEN_FLOPS_SHARE = 2.0 / 3.0
"""Forward and input gradients remain of the three passes when the weights are frozen."""
_MODEL_KEYS = (
    "model.preset",
    "model.parameters",
    "model.layers",
    "model.hidden_size",
    "model.embedding_parameters",
    "model.gmacs_per_sample",
)


@dataclass
class _Resolving:
    """The answers, and the assumptions made so far."""

    answers: Answers
    assumed: dict[str, str] = field(default_factory=dict)

    def number(self, key: str, stand_in: float, reason: str) -> float:
        """Return the given number, else the stand-in, recorded."""
        given = self.answers.number(key) if self.answers.given(key) else None
        if given is not None:
            return given
        self.assumed[key] = f"{number_in_words(stand_in)}: {reason}"
        return stand_in


def describe_workload(answers: Answers, catalog: Catalog) -> Workload:
    """Return the workload that the answers describe, with every assumption and its reason in `assumed`.

    Raises AnswerError where answers contradict each other: a vision model for language training, a global batch of tokens
    instead of sequences, adapters that are as large as the model.
    """
    check_answers(answers, catalog)
    resolving = _Resolving(answers)
    kind = answers.text("workload.kind")
    shape = shape_from_answers(answers, catalog)
    _check_kind(kind, shape)
    _record_model(resolving, kind, shape)
    sequence = _sequence_length(resolving, kind, shape)
    parameters = count_parameters(shape, sequence)
    trainable = _trainable(resolving, kind, shape, parameters)
    optimizer = answers.text("training.optimizer")
    total, dataset = _amount(resolving, kind, shape, parameters)
    return Workload(
        kind=kind,
        model=shape,
        parameters=parameters,
        precision=answers.text("training.precision"),
        optimizer=optimizer,
        unit={"vision": "image", "recommendation": "sample"}.get(kind, "token"),
        units_total=total,
        global_batch=_global_batch(resolving, kind, parameters, sequence, shape),
        sequence_length=sequence,
        trainable_parameters=trainable,
        flops_per_unit=parameters.flops_per_token * _passes(kind, shape),
        dataset=dataset,
        sample_bytes=quantity(_unit_bytes(kind, shape), "byte"),
        checkpoint=_checkpoint(trainable, answers.text("training.precision"), _of_tables(answers, shape) or optimizer, shape),
        data_kind=_data_kind(resolving, kind),
        assumed=resolving.assumed,
        post_training=_post_training(resolving, kind),
        rollout=_rollout(resolving),
        embedding_sharding=answers.text("training.embedding_sharding") if answers.given("training.embedding_sharding") else "balanced",
        embedding_optimizer=_of_tables(answers, shape),
        reserved_gib=answers.number("training.reserved_memory") or 0.0,
        image_share=_image_share(resolving, kind, shape),
        fused_experts=answers.text("training.expert_kernels") != "separate",
    )


def _image_share(resolving: _Resolving, kind: str, shape: ModelShape) -> float:
    """Return the share of a sample's tokens that come from images through a trained tower; adapters leave it frozen unless answered."""
    answers = resolving.answers
    if shape.tower is None:
        return 0.0
    if answers.given("training.image_tokens"):
        return (answers.number("training.image_tokens") or 0.0) / PERCENT
    if kind in ADAPTER_KINDS:
        return 0.0
    resolving.assumed["training.image_tokens"] = "50 %: half of the tokens come from images, through a tower that is trained too"
    return ASSUMED_IMAGE_SHARE


def _record_choices(resolving: _Resolving) -> None:
    answers = resolving.answers
    for key in ("workload.kind", "training.precision", "training.optimizer"):
        if not answers.given(key):
            resolving.assumed[key] = f"{answers.text(key)}: {answers.assumptions()[key]}"


def _post_training(resolving: _Resolving, kind: str) -> str:
    """Return how a fine-tuned model is post-trained, "none" where nothing was said; raises AnswerError for other workloads."""
    given = resolving.answers.text("training.post_training") if resolving.answers.given("training.post_training") else "none"
    if given != "none" and not kind.startswith("fine_tuning"):
        raise AnswerError("training.post_training", f"{given} is a way of fine-tuning; expected a workload.kind of it, got {kind}")
    return given


def _rollout(resolving: _Resolving) -> str:
    """Return where the engine that samples is: the answer, else on GPUs of its own, recorded where a method samples."""
    answers = resolving.answers
    if answers.given("training.rollout"):
        return answers.text("training.rollout")
    if answers.given("training.post_training") and answers.text("training.post_training") in ("grpo", "ppo"):
        resolving.assumed["training.rollout"] = "separate: the engine that samples answers has GPUs of its own, which are not counted"
    return "separate"


def _passes(kind: str, shape: ModelShape) -> float:
    """Return how often a unit costs the FLOPs of a token: once per patch of an image, two thirds where weights are frozen."""
    if shape.kind == "vision_transformer":
        return float(vision_tokens(shape))
    return FROZEN_FLOPS_SHARE if kind in ADAPTER_KINDS else 1.0


def _check_kind(kind: str, shape: ModelShape) -> None:
    if kind == "recommendation" and shape.kind != "recommendation":
        raise AnswerError(
            "model.preset", f"{shape.name} is no recommendation model; expected one such as dlrm-22.8b, or another workload.kind"
        )
    if kind == "vision" and shape.kind in ("recommendation", "moe"):
        raise AnswerError("model.preset", f"{shape.name} is no vision model; expected one such as resnet50 or vit-l-16")
    if kind not in ("vision", "recommendation") and shape.kind in ("cnn", "recommendation", "vision_transformer"):
        raise AnswerError("workload.kind", f"{shape.name} is no language model; expected vision or recommendation, got {kind}")
    if kind in ADAPTER_KINDS and shape.kind not in ("dense", "moe"):
        raise AnswerError("workload.kind", f"adapters are sized for language models only, {shape.name} is none")


def _record_model(resolving: _Resolving, kind: str, shape: ModelShape) -> None:
    _record_choices(resolving)
    if not any(resolving.answers.given(key) for key in _MODEL_KEYS):
        reason = (
            "the size of most public benchmarks and fine-tunes" if kind not in ("vision", "recommendation") else "the usual benchmark model"
        )
        named = ASSUMED_LANGUAGE_MODEL if kind not in ("vision", "recommendation") else shape.name
        resolving.assumed["model.preset"] = f"{named}: {reason}; nothing was said about the model"
    elif shape.assumed and resolving.answers.given("model.preset"):
        resolving.assumed["model.shape"] = f"{shape.name}: layers that are no plain transformer layers are scaled to the stated total"
    elif shape.assumed:
        resolving.assumed["model.shape"] = f"{shape.name}: what was not said of the shape takes the proportions of published models"
    heads = resolving.answers.count("model.attention_heads")
    if heads and heads == shape.attention_heads and not resolving.answers.given("model.key_value_heads") and shape.attention != "mla":
        resolving.assumed["model.key_value_heads"] = f"{shape.key_value_heads:,}: as many as the model's usual number that divide its heads"


def _sequence_length(resolving: _Resolving, kind: str, shape: ModelShape) -> int:
    """Return the tokens per sequence: the answer, else the model's own length up to 8,192; 1 for images and samples."""
    if kind == "recommendation" or shape.kind == "cnn":
        return 1
    if kind == "vision":
        return vision_tokens(shape)
    if resolving.answers.given("training.sequence_length"):
        return int(resolving.answers.count("training.sequence_length") or 1)
    own = shape.max_sequence_length or shape.learned_positions
    length = min(own or default.LONGEST_DEFAULT_SEQUENCE, default.LONGEST_DEFAULT_SEQUENCE)
    resolving.assumed["training.sequence_length"] = f"{length:,}: " + (
        "the model's own length"
        if own == length
        else "the length of Llama 3's main stage; longer contexts are trained in short later stages"
    )
    return length


def _global_batch(resolving: _Resolving, kind: str, parameters: ParameterCount, sequence: int, shape: ModelShape) -> int:
    """Return the sequences, images or samples per step; pretraining follows the tokens per step of published models."""
    if kind == "vision":
        return int(resolving.number("training.global_batch", default.VISION_BATCH, "images per step of vision transformers on ImageNet"))
    if kind == "recommendation":
        return int(resolving.number("training.global_batch", default.RECOMMENDATION_BATCH, "samples per step of DLRM on Criteo 1TB"))
    if kind != "pretraining":
        return int(resolving.number("training.global_batch", default.FINE_TUNING_BATCH, "sequences per step of Alpaca and Vicuna"))
    large_mixture = shape.kind == "moe" and parameters.total >= default.MIXTURE_FROM_PARAMETERS
    tokens = next(each for limit, each in default.PRETRAINING_BATCH_TOKENS if parameters.total < limit)
    tokens = default.MIXTURE_BATCH_TOKENS if large_mixture else tokens
    near = 1 << max(0, round(math.log2(max(1.0, tokens / sequence))))
    what = "DeepSeek-V3" if large_mixture else "GPT-3, Llama 2 and Llama 3 of this size"
    return int(resolving.number("training.global_batch", near, f"about {tokens / 1e6:g} million tokens per step, as {what}"))


def _trainable(resolving: _Resolving, kind: str, shape: ModelShape, parameters: ParameterCount) -> float:
    """Return the parameters that are trained: all, or the adapters."""
    if kind not in ADAPTER_KINDS:
        return parameters.total
    answers = resolving.answers
    rank = answers.count("training.lora_rank") or 16
    if not answers.given("training.lora_rank"):
        resolving.assumed["training.lora_rank"] = f"{rank}: {answers.assumptions()['training.lora_rank']}"
    trainable = adapter_parameters(shape, rank)
    if trainable >= parameters.total:
        raise AnswerError("training.lora_rank", f"rank {rank} trains as many parameters as the model has; expected one such as 16")
    return trainable


def adapter_parameters(shape: ModelShape, rank: int) -> float:
    """Return the parameters of adapters of `rank`: r·(in + out) per adapted matrix.

    Adapted are the attention projections and the feed-forward matrices of every layer; in a mixture the attention and the
    shared or dense feed-forward, since adapters on every expert would be as many as the experts.
    """
    hidden, heads = shape.hidden_size, shape.attention_heads * (shape.head_dim or shape.v_head_dim)
    keys = shape.key_value_heads * shape.head_dim
    attention = 2 * (hidden + heads) + 2 * (hidden + keys)
    width = shape.ffn_size if not shape.experts else shape.shared_expert_ffn_size
    feed_forward = (3 if shape.gated_ffn else 2) * (hidden + width) if width else 0
    return float(rank * shape.layers * (attention + feed_forward))


def _amount(resolving: _Resolving, kind: str, shape: ModelShape, parameters: ParameterCount) -> tuple[float, Quantity | None]:
    """Return (units over the whole run, bytes of the dataset); the answer `data.size` goes before the estimate."""
    if kind == "vision":
        images = float(default.IMAGENET_IMAGES)
        total = resolving.number("training.samples", images * default.IMAGENET_EPOCHS, "ImageNet-1k for 90 epochs")
        size = None if resolving.answers.given("training.samples") else images
    elif kind == "recommendation":
        total = resolving.number("training.samples", default.CRITEO_SAMPLES, "one epoch of Criteo 1TB")
        size = total
    elif kind == "pretraining":
        least = default.TOKENS_PER_PARAMETER * parameters.active
        total = resolving.number("training.tokens", least, "20 tokens per active parameter, the compute-optimal least [Hoffmann 2022]")
        size = total
    else:
        total = resolving.number("training.tokens", default.FINE_TUNING_TOKENS, "the supervised fine-tuning of Llama 2, two epochs")
        size = total
    given = resolving.answers.quantity("data.size")
    if given is not None:
        return total, given
    return total, None if size is None else quantity(size * _unit_bytes(kind, shape) / 1e12, "TB")


def _unit_bytes(kind: str, shape: ModelShape) -> float:
    """Return the stored bytes of one token, image or sample."""
    if kind == "vision":
        return default.IMAGENET_IMAGE_BYTES
    if kind == "recommendation":
        return default.CRITEO_SAMPLE_BYTES
    return default.SHORT_TOKEN_BYTES if 0 < shape.vocabulary_size < default.SHORT_TOKEN_VOCABULARY else default.LONG_TOKEN_BYTES


def _checkpoint(trainable: float, precision: str, optimizer: str, shape: ModelShape) -> Quantity:
    """Return the bytes of one checkpoint: weights, master weights and optimizer state of what is trained; tables with their state."""
    if shape.kind == "recommendation":
        return quantity(FP32_BYTES * shape.embedding_parameters * embedding_factor(optimizer, shape.embedding_dim) / 1e9, "GB")
    state = state_bytes(precision, optimizer)
    root = plain_sum(embedding_parameters(shape)) if optimizer in ROOT_MOMENTS and shape.vocabulary_size else 0.0
    further = ROOT_MOMENTS.get(optimizer, 0.0) * (root if trainable > root else 0.0)  # adapters leave embedding and head as they are
    return quantity((trainable * (state.total - state.gradient) + further) / 1e9, "GB")


def _of_tables(answers: Answers, shape: ModelShape) -> str:
    """Return the optimizer of embedding tables where the model has some and one was named, else ""."""
    named = shape.kind == "recommendation" and answers.given("training.embedding_optimizer")
    return answers.text("training.embedding_optimizer") if named else ""


def _data_kind(resolving: _Resolving, kind: str) -> str:
    if resolving.answers.given("data.kind"):
        return resolving.answers.text("data.kind")
    stand_in = {"vision": "image", "recommendation": "tabular"}.get(kind, "text")
    resolving.assumed["data.kind"] = f"{stand_in}: the usual data of this workload"
    return stand_in
