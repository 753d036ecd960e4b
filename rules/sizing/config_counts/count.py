"""Counts the model that a Hugging Face configuration describes: which family it is, its parameters by part, FLOPs and bytes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rules.sizing.config_counts.class_defaults import CLASS_DEFAULTS
from rules.sizing.config_counts.decoder import count_decoder, count_prediction, open_decoder
from rules.sizing.config_counts.encoders import ENCODERS
from rules.sizing.config_counts.families_dense import DENSE_FAMILIES
from rules.sizing.config_counts.families_experts import EXPERT_FAMILIES
from rules.sizing.config_counts.families_hybrid import HYBRID_FAMILIES
from rules.sizing.config_counts.joined import JOINED, PROJECTORS
from rules.sizing.config_counts.precision import PLAIN_FORMATS, weights_bytes
from rules.sizing.config_counts.reader import CONTEXT, ConfigError, Reader, UnsupportedModelError
from rules.sizing.config_counts.refused import REFUSED
from rules.sizing.config_counts.towers import TOWERS
from rules.sizing.config_counts.unknown import unknown_family
from rules.sizing.parameters import OPERATIONS_PER_MULTIPLY_ADD, TRAINING_PASSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.sizing.config_counts.family import Family
    from rules.sizing.config_counts.tally import Tally

LONGEST_DEFAULT = 4096
"""Tokens that FLOPs are counted at where the call names none: the model's own length, up to this."""
FAMILIES: dict[str, Family] = {
    kind: family for family in (*DENSE_FAMILIES, *EXPERT_FAMILIES, *HYBRID_FAMILIES) for kind in family.model_types
}
TEXT_NAMES = {
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3",
    "gemma3n": "gemma3n_text",
    "pixtral_text": "mistral",
}
"""Types of text models inside others that are laid out like a family of their own."""


@dataclass(frozen=True)
class ConfigCount:
    """What a configuration adds up to. Parameters are counted once; `total` holds the vision tower but no prediction layers.

    `embedding` is the input embedding with learned positions, `head` an untied output head. `active` is what one text token
    uses: without routed experts that it does not visit and without the vision tower. FLOPs count forward and backward passes.
    """

    family: str
    model_type: str
    total: int
    active: int
    embedding: int
    head: int
    mtp: int
    vision: int
    flops_per_token: float
    sequence_length: int
    weights_bytes: float
    weights_bytes_by_format: Mapping[str, float]
    by_part: Mapping[str, int]
    notes: tuple[str, ...] = field(default=())


def count_config(config: Mapping[str, Any], sequence_length: int | None = None) -> ConfigCount:
    """Return the count of a model's configuration (the parsed config.json); `sequence_length` in tokens.

    FLOPs per token = 3·(2·P + attention), P the weights a token is multiplied with, as in rules.sizing.parameters. Raises
    ConfigError where a key is missing or impossible, UnsupportedModelError for kinds of models that are not counted.
    """
    kind = config.get("model_type")
    if not isinstance(kind, str) or not kind:
        name = config.get("_class_name")
        if isinstance(name, str):
            raise UnsupportedModelError(f"{name}: a part of a diffusion pipeline; only transformers with a model_type are counted")
        raise ConfigError("model_type: missing; expected a Hugging Face config.json, which names its model_type")
    if kind in REFUSED:
        raise UnsupportedModelError(f"model_type {kind!r} is not counted: {REFUSED[kind]}; give model.parameters by hand instead")
    if kind in ENCODERS:
        return _encoder(config, kind, sequence_length)
    if kind in JOINED:
        return _joined(config, kind, sequence_length)
    return _text(config, kind, sequence_length)


def _length(readers: tuple[Reader, ...], asked: int | None, notes: list[str]) -> int:
    own = next((reader.count(*CONTEXT) for reader in readers if reader.stated(*CONTEXT)), None)
    if asked is not None:
        if own is not None and asked > own:
            notes.append(f"the sequence of {asked} tokens is longer than the {own} that the file states")
        return asked
    if own is None:
        notes.append(f"the file states no sequence length; FLOPs are counted at {LONGEST_DEFAULT} tokens")
    return min(own or LONGEST_DEFAULT, LONGEST_DEFAULT)


def _family(kind: str, config: Mapping[str, Any], notes: list[str]) -> Family:
    kind = TEXT_NAMES.get(kind, kind)
    return FAMILIES[kind] if kind in FAMILIES else unknown_family(kind, config, notes)


def _assumptions(reader: Reader, kind: str) -> list[str]:
    """Say which sizes came from the class and not from the file; switches and what no weight depends on stay unsaid."""
    sizes = {key: value for key, value in reader.assumed.items() if not isinstance(value, bool) and value and key != "num_channels"}
    if not sizes:
        return []
    listed = ", ".join(f"{reader.path}{key} = {value}" for key, value in sorted(sizes.items()))
    return [f"not in the file, taken from the defaults of {kind}: {listed}"]


def _text(config: Mapping[str, Any], kind: str, asked: int | None) -> ConfigCount:
    notes: list[str] = []
    family = _family(kind, config, notes)
    reader = Reader(config, CLASS_DEFAULTS.get(kind))
    length = _length((reader,), asked, notes)
    decoder = open_decoder(reader, family, length)
    tally = count_decoder(decoder)
    mtp = count_prediction(decoder)
    notes += _assumptions(decoder.reader, kind)
    notes += [family.note] if family.note else []
    return _finish(reader, family.name, kind, tally, mtp, length, notes)


def _finish(reader: Reader, family: str, kind: str, tally: Tally, mtp: int, length: int, notes: list[str]) -> ConfigCount:
    forward = OPERATIONS_PER_MULTIPLY_ADD * tally.multiplied + tally.operations
    if tally.apart:
        notes.append("the total holds the vision tower; active parameters and FLOPs are those of a text token, without it")
    if mtp:
        notes.append("multi-token-prediction layers are counted apart (mtp), not in the total, active or FLOPs")
    return _result(reader, family, kind, tally, mtp, length, notes, TRAINING_PASSES * forward)


def _result(reader: Reader, family: str, kind: str, tally: Tally, mtp: int, length: int, notes: list[str], flops: float) -> ConfigCount:
    stored = weights_bytes(reader, tally.parts, notes)
    return ConfigCount(
        family=family,
        model_type=kind,
        total=tally.total,
        active=tally.active,
        embedding=tally.parts.get("embedding", 0),
        head=tally.parts.get("head", 0),
        mtp=mtp,
        vision=tally.parts.get("vision", 0),
        flops_per_token=flops,
        sequence_length=length,
        weights_bytes=stored,
        weights_bytes_by_format={name: tally.total * width for name, width in PLAIN_FORMATS.items()},
        by_part=dict(tally.parts),
        notes=tuple(notes),
    )


def _encoder(config: Mapping[str, Any], kind: str, asked: int | None) -> ConfigCount:
    notes: list[str] = []
    defaults = dict(CLASS_DEFAULTS.get(kind, {}))
    if kind in ("clip", "siglip"):
        defaults |= {"text": CLASS_DEFAULTS[f"{kind}_text_model"], "vision": CLASS_DEFAULTS[f"{kind}_vision_model"]}
    reader = Reader(config, defaults)
    if kind in ("clip", "siglip") and not (reader.stated("text_config") and reader.stated("vision_config")):
        missing = "vision_config" if reader.stated("text_config") else "text_config"
        raise ConfigError(f"{missing}: missing; expected the tables text_config and vision_config")
    encoded = ENCODERS[kind](reader, _length((reader,), asked, []))
    notes.append(encoded.note)
    notes += _assumptions(reader, kind)
    flops = TRAINING_PASSES * encoded.forward_operations / encoded.tokens
    tally = encoded.tally
    if kind in ("clip", "siglip"):
        tally = replace(tally, apart=0)
    return _result(reader, encoded.name, kind, tally, 0, encoded.tokens, notes, flops)


def _text_reader(top: Reader, kind: str) -> tuple[Reader, str]:
    """Return the reader of the text model inside, and its type."""
    shape = JOINED[kind]
    name = next((each for each in ("text_config", "llm_config", "language_config") if isinstance(top.table.get(each), dict)), "")
    if not name and not shape.flat:
        raise ConfigError("text_config: missing; expected the table of the text model")
    if not name:
        return Reader(top.table, CLASS_DEFAULTS.get(shape.text), top.path), shape.text
    inner = top.nested(name)
    inside = inner.text("model_type", shape.text)
    inside = TEXT_NAMES.get(inside, inside)
    return top.nested(name, CLASS_DEFAULTS.get(inside)), inside


def _joined(config: Mapping[str, Any], kind: str, asked: int | None) -> ConfigCount:
    """A text model with a vision tower; whether the head is tied is said at the top, in the text model, or by its family."""
    notes: list[str] = []
    shape, top = JOINED[kind], Reader(config)
    reader, inside = _text_reader(top, kind)
    if inside in REFUSED:
        raise UnsupportedModelError(f"{reader.path}model_type {inside!r} is not counted: {REFUSED[inside]}")
    family = _family(inside, reader.table, notes)
    length = _length((reader, top), asked, notes)
    decoder = open_decoder(reader, family, length, _tied(top, reader, family, notes))
    tally = count_decoder(decoder)
    notes += _assumptions(decoder.reader, inside)
    if config.get("vision_config") is None:
        notes.append("CAUTION: the file has no vision_config; the text model alone is counted, without the vision tower")
    else:
        _add_tower(config, top, kind, decoder.hidden, tally, notes)
    return _finish(top, shape.name, kind, tally, count_prediction(decoder), length, notes)


def _add_tower(config: Mapping[str, Any], top: Reader, kind: str, text_width: int, tally: Tally, notes: list[str]) -> None:
    """Add the vision tower and its projector; raises UnsupportedModelError for towers that are not known, and for sound."""
    shape, vision = JOINED[kind], top.nested("vision_config")
    tower = vision.text("model_type", shape.vision)
    tower = shape.vision if tower not in TOWERS and tower in (kind, f"{kind}_vision") else tower
    if tower not in TOWERS:
        raise UnsupportedModelError(f"vision_config.model_type {tower!r} is not counted; count the text model alone from its own file")
    vision = top.nested("vision_config", CLASS_DEFAULTS.get(tower, CLASS_DEFAULTS.get(shape.vision)))
    for audio in ("audio_config", "speech_config", "talker_config"):
        if isinstance(config.get(audio), dict):
            raise UnsupportedModelError(f"{audio}: the sound tower of {shape.name} is not counted; remove the table to count the rest")
    size = TOWERS[tower](vision, text_width)
    tally.separate("vision", size + (PROJECTORS[shape.projector](top, vision, text_width) if shape.projector else 0))
    notes += _assumptions(vision, tower)


def _tied(top: Reader, text: Reader, family: Family, notes: list[str]) -> bool:
    if top.stated("tie_word_embeddings") and text.stated("tie_word_embeddings"):
        outer, inner = top.flag("tie_word_embeddings"), text.flag("tie_word_embeddings")
        if outer != inner:
            notes.append(
                f"tie_word_embeddings is {str(outer).lower()} at the top and {str(inner).lower()} in the text model; the top holds"
            )
        return outer
    for reader in (top, text):
        if reader.stated("tie_word_embeddings"):
            return reader.flag("tie_word_embeddings")
    return family.tied
