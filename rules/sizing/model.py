"""The shape of the model to train: from a preset of the catalog, from answers, or a typical one where only a size is known."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from rules.answers import AnswerError
from rules.sizing.parameters import count_parameters, counted_total
from rules.sizing.results import ModelShape
from rules.sizing.towers import tower_of
from rules.sizing.typical_shapes import FFN_RATIO, HEAD_DIM, KEY_VALUE_HEADS, LARGE_VOCABULARY, largest_divisor, typical_dense, typical_moe

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import ModelPreset
    from rules.answers import Answers

__all__ = ["count_parameters", "shape_from_answers", "shape_from_preset"]

ASSUMED_LANGUAGE_MODEL = "llama-3.1-8b"
"""The preset that stands in where nothing is said about a language model: the size of most public fine-tunes and benchmarks."""
RESNET_50 = ModelShape("ResNet-50", "cnn", forward_gmacs=4.1, forward_activations=11.1e6, parameters=25.6e6, image_size=224, assumed=True)
"""The vision model that stands in: 25.6 million parameters, 4.1 G multiply-adds at 224² [He 2015, arXiv:1512.03385; torchvision]."""
DLRM_SMALL = ModelShape(
    "DLRM 4.2B", "recommendation", embedding_parameters=4.2e9, embedding_dim=128, tables=26, dense_parameters=2.4e6, assumed=True
)
"""The recommendation model that stands in: the small DLRM on Criteo 1TB [NVIDIA DeepLearningExamples, DLRM_and_DCNv2];
its bottom and top multilayer perceptrons hold about 2.4 million weights [Naumov 2019, arXiv:1906.00091; MLPerf widths]."""
TRANSFORMER_KINDS = ("dense", "moe", "vision_transformer")
DECODER_LIKE = {"encoder": "dense", "encoder_decoder": "dense", "multimodal": "dense", "hybrid": "dense"}
"""Kinds of presets whose blocks are counted as those of a decoder; layers that a shape cannot describe are scaled to the stated total."""
ROUGH_KINDS = ("hybrid", "encoder_decoder")
PARAMETERS_TOLERANCE = 0.1
"""How far a stated parameter count may lie from the preset's before the two answers contradict each other; covers rounded names."""
_OVERRIDES = {
    "model.layers": "layers",
    "model.hidden_size": "hidden_size",
    "model.ffn_size": "ffn_size",
    "model.attention_heads": "attention_heads",
    "model.key_value_heads": "key_value_heads",
    "model.vocabulary_size": "vocabulary_size",
    "model.experts": "experts",
    "model.experts_per_token": "experts_per_token",
    "model.expert_ffn_size": "expert_ffn_size",
}
_SIZE_OVERRIDES = {"model.embedding_parameters": "embedding_parameters", "model.gmacs_per_sample": "forward_gmacs"}
"""Answers that change a preset of vision or recommendation."""
_FIELDS = {each.name for each in fields(ModelShape)}


def shape_from_preset(preset: ModelPreset) -> ModelShape:
    """Return the shape that a preset of the catalog describes.

    Raises ValueError where a key of the preset's shape is no field of a shape, or the kind cannot be counted from it.
    """
    values: dict[str, Any] = dict(preset.shape)
    unknown = sorted(set(values) - _FIELDS)
    if unknown:
        raise ValueError(f"model {preset.id}: {unknown[0]!r} is no part of a model's shape")
    kind = str(values.pop("kind", DECODER_LIKE.get(preset.kind, preset.kind)))
    if kind == "dense" and values.get("experts"):
        kind = "moe"
    values.pop("name", None)
    if preset.kind == "multimodal" and preset.published_parameters is not None:
        values.setdefault("parameters", preset.published_parameters.to("1"))
        values["has_towers"], values["tower"] = True, tower_of(preset.config)
    rough = preset.kind in ROUGH_KINDS
    return _complete(ModelShape(name=preset.name, kind=kind, assumed=rough, irregular=rough, **values))


def _complete(shape: ModelShape) -> ModelShape:
    """Fill what follows from the rest: key-value heads of multi-head attention and the head's width."""
    if shape.kind not in TRANSFORMER_KINDS or not shape.attention_heads:
        return shape
    heads = shape.attention_heads
    made = replace(shape, key_value_heads=shape.key_value_heads or heads, head_dim=shape.head_dim or shape.hidden_size // heads)
    if made.attention == "mha" and made.key_value_heads < heads:
        made = replace(made, attention="gqa")
    return made


def _preset(answers: Answers, catalog: Catalog) -> ModelShape:
    name = answers.text("model.preset")
    found = catalog.models.get(name)
    if found is None:
        near = catalog.models.nearest(name)
        hint = f"; the nearest is {near!r}" if near else ""
        raise AnswerError("model.preset", f"no model is called {name!r}{hint}; or leave it out and give model.parameters")
    try:
        return shape_from_preset(found)
    except ValueError as error:
        raise AnswerError("model.preset", f"{error}; choose another preset or give model.parameters") from error


def _overridden(shape: ModelShape, answers: Answers) -> ModelShape:
    """Apply single shape answers on top of a shape; raises AnswerError for widths that cannot be."""
    sizes = {field: answers.number(key) for key, field in _SIZE_OVERRIDES.items() if answers.given(key)}
    if sizes and shape.kind not in TRANSFORMER_KINDS:
        shape = replace(shape, name=f"{shape.name}, changed", forward_activations=0.0, **sizes)  # type: ignore[arg-type]
    changes = {field: answers.count(key) for key, field in _OVERRIDES.items() if answers.given(key)}
    if not changes or shape.kind not in TRANSFORMER_KINDS:
        return shape
    if {"hidden_size", "attention_heads"} & set(changes):
        heads = int(changes.get("attention_heads") or shape.attention_heads)
        hidden = int(changes.get("hidden_size") or shape.hidden_size)
        if shape.attention != "mla":
            changes["head_dim"] = _head_width(hidden, heads, answers)
            if "key_value_heads" not in changes:
                shared = 0 < shape.key_value_heads < shape.attention_heads
                changes["key_value_heads"] = largest_divisor(heads, shape.key_value_heads if shared else heads)
    made = _complete(replace(shape, **changes))  # type: ignore[arg-type]
    if made.parameters:  # what a shape cannot describe keeps its share
        made = replace(made, parameters=made.parameters * counted_total(made) / counted_total(shape))
    if made.key_value_heads and made.attention_heads % made.key_value_heads:
        raise AnswerError(
            "model.key_value_heads",
            f"{made.attention_heads} attention heads cannot share {made.key_value_heads} key-value heads; expected a divisor of them",
        )
    if made.experts and made.experts_per_token > made.experts:
        raise _too_many_visits(made.experts_per_token, made.experts, answers)
    if made.experts and not made.expert_ffn_size:
        made = replace(made, expert_ffn_size=made.ffn_size)
    if made.experts and not made.experts_per_token:
        made = replace(made, experts_per_token=min(2, made.experts))
    return replace(made, kind="moe") if made.experts and made.kind == "dense" else made


def _head_width(hidden: int, heads: int, answers: Answers) -> int:
    """Return the channels of an attention head; raises AnswerError where there are more heads than channels."""
    if heads > hidden:
        key = "model.attention_heads" if answers.given("model.attention_heads") else "model.hidden_size"
        raise AnswerError(
            key, f"{heads:,} attention heads share a hidden size of {hidden:,}, less than one channel each; expected fewer heads"
        )
    return hidden // heads


def _too_many_visits(visited: int, experts: int, answers: Answers) -> AnswerError:
    """Return the error of a token that visits more experts than there are; it names the answer that was given."""
    key = "model.experts_per_token" if answers.given("model.experts_per_token") else "model.experts"
    return AnswerError(
        key, f"a token cannot visit {visited:,} of {experts:,} experts; expected model.experts_per_token up to model.experts"
    )


def _from_size(answers: Answers) -> ModelShape:
    """Return a typical shape of the stated size; vision and recommendation models take their own answers."""
    kind, parameters = answers.text("workload.kind"), answers.number("model.parameters")
    if kind == "recommendation":
        tables = answers.number("model.embedding_parameters") or parameters or DLRM_SMALL.embedding_parameters
        dense = max(0.0, (parameters or 0.0) - tables) or DLRM_SMALL.dense_parameters
        name = f"recommendation model with {tables / 1e9:.4g}B embedding parameters"
        gmacs = answers.number("model.gmacs_per_sample") or 0.0
        return replace(DLRM_SMALL, name=name, embedding_parameters=tables, dense_parameters=dense, forward_gmacs=gmacs)
    if kind == "vision":
        gmacs = answers.number("model.gmacs_per_sample") or RESNET_50.forward_gmacs * (parameters or 0) / RESNET_50.parameters
        gmacs = gmacs or RESNET_50.forward_gmacs
        size = parameters or RESNET_50.parameters * gmacs / RESNET_50.forward_gmacs
        name = f"vision model, {size / 1e6:.4g}M parameters"
        return replace(RESNET_50, name=name, parameters=size, forward_gmacs=gmacs, forward_activations=0.0)
    if parameters is None:
        raise AnswerError("model.parameters", "expected the number of parameters, such as 70B")
    if not (answers.given("model.experts") or answers.given("model.active_parameters")):
        return typical_dense(parameters)
    active = answers.number("model.active_parameters") if answers.given("model.active_parameters") else None
    if active is not None and active >= parameters:
        raise AnswerError("model.active_parameters", f"{active:.4g} active of {parameters:.4g} parameters; expected fewer than the total")
    experts, visited = answers.count("model.experts"), answers.count("model.experts_per_token")
    if experts is not None and visited is not None and visited > experts:
        raise _too_many_visits(visited, experts, answers)
    try:
        return typical_moe(parameters, active, experts, visited)
    except ValueError as error:
        given = (key for key in ("model.active_parameters", "model.experts_per_token", "model.experts") if answers.given(key))
        raise AnswerError(next(given), f"{error}; give other figures or a model.preset") from error


def _explicit(answers: Answers) -> ModelShape:
    """Return a shape from layers and hidden size; what else is missing takes the proportions of Llama 3."""
    layers, hidden = answers.count("model.layers"), answers.count("model.hidden_size")
    if layers is None or hidden is None:
        raise AnswerError("model.layers", "expected both model.layers and model.hidden_size, such as 80 and 8192")
    heads = answers.count("model.attention_heads") or max(1, hidden // HEAD_DIM)
    frame = ModelShape(
        name=f"own model, {layers} layers of {hidden}",
        kind="dense",
        layers=layers,
        hidden_size=hidden,
        ffn_size=answers.count("model.ffn_size") or round(FFN_RATIO * hidden),
        attention_heads=heads,
        key_value_heads=largest_divisor(heads, KEY_VALUE_HEADS),
        head_dim=_head_width(hidden, heads, answers),
        vocabulary_size=answers.count("model.vocabulary_size") or LARGE_VOCABULARY,
        assumed=not all(answers.given(key) for key in ("model.ffn_size", "model.attention_heads", "model.vocabulary_size")),
    )
    return _overridden(frame, answers)


def shape_from_answers(answers: Answers, catalog: Catalog) -> ModelShape:
    """Return the shape of the model that the answers describe; `assumed` where proportions or the whole model stand in.

    A preset comes first, single shape answers change it; else layers and hidden size; else the parameter count alone; else the
    stand-in of the workload's kind. Raises AnswerError where the answers contradict each other or name no known model.
    """
    if answers.given("model.preset"):
        shape = _overridden(_preset(answers, catalog), answers)
        _check_stated_size(shape, answers)
        return shape
    kind = answers.text("workload.kind")
    if answers.given("model.layers") and answers.given("model.hidden_size") and kind != "recommendation":
        shape = _explicit(answers)
        _check_stated_size(shape, answers)
        return shape
    sized = ("model.parameters", "model.embedding_parameters", "model.gmacs_per_sample")
    if kind in ("vision", "recommendation"):
        if any(answers.given(key) for key in sized):
            return _from_size(answers)
        return RESNET_50 if kind == "vision" else DLRM_SMALL
    if answers.given("model.parameters"):
        return _overridden(_from_size(answers), answers.without("model.experts").without("model.experts_per_token"))
    found = catalog.models.get(ASSUMED_LANGUAGE_MODEL)
    shape = shape_from_preset(found) if found is not None else typical_dense(8.03e9, "typical 8B")
    return replace(_overridden(shape, answers), assumed=True)


def _check_stated_size(shape: ModelShape, answers: Answers) -> None:
    """Raise AnswerError where the answer `model.parameters` contradicts the shape that other answers describe."""
    stated = answers.number("model.parameters") if answers.given("model.parameters") else None
    counted = count_parameters(shape, 1).total
    if stated is not None and counted and abs(stated / counted - 1) > PARAMETERS_TOLERANCE:
        raise AnswerError(
            "model.parameters",
            f"{stated / 1e9:.4g}B parameters, but {shape.name} as described has {counted / 1e9:.4g}B; leave one of the two out",
        )
