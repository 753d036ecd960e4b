"""Models of a table of runs: `[models.*]` tables, or presets of the catalog where a row names one that is not in the file."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rules.sizing.model import DLRM_SMALL, TRANSFORMER_KINDS, shape_from_preset
from rules.sizing.results import ModelShape
from rules.sizing.typical_shapes import typical_dense

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from catalogs.schema import ModelPreset

BILLION = 1e9
FP32_BYTES = 4
GIB = 2**30
COUNTED_WITHIN = 0.1
"""A stated size and the size that the stated shape adds up to may differ by so much: names are rounded."""
_WIDTHS = ("layers", "hidden", "heads", "vocab")
_LATENT = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")


class Unanswerable(Exception):  # noqa: N818 - it is an answer, not a fault of the input
    """A row that cannot be estimated; the text is the note that says why."""


def model_of(name: str, tables: Mapping[str, Mapping[str, Any]], catalog: Catalog) -> tuple[ModelShape, tuple[str, ...]]:
    """Return the shape of the model called `name` and notes about what was assumed of it.

    A table of the file comes first; where it states no shape, or the file has none, the preset of the catalog with that name.
    Raises Unanswerable for a model of which neither knows the shape.
    """
    table = tables.get(name)
    if table is not None:
        if "fwd_gmacs_per_image" in table:
            return _convolutional(name, table, catalog), ()
        if "embedding_gib" in table:
            return _recommendation(name, table, catalog)
        missing = [key for key in _WIDTHS if key not in table]
        if not missing:
            shape, notes = _transformer(name, table)
            return _with_biases(shape, catalog), notes
    preset = catalog.models.get(name) or _only_one_beginning_with(name, catalog)
    if preset is not None:
        try:
            shape = shape_from_preset(preset)
        except ValueError as error:
            raise Unanswerable(str(error)) from error
        told = (f"shape of {preset.name} from the catalog",) if table is not None else ()
        return _by_pattern(shape, preset.config, told)
    if table is not None and table.get("params_b") and missing == list(_WIDTHS) and not table.keys() & {"experts", "hybrid"}:
        size = float(table["params_b"]) * BILLION
        return typical_dense(size, name), (f"models.{name} states its size alone: the shape of a typical dense model is assumed",)
    if table is not None:
        raise Unanswerable(f"models.{name} does not state {', '.join(missing)}: without its shape nothing can be estimated")
    near = difflib.get_close_matches(name, tables, n=1, cutoff=0.6) or [found for found in (catalog.models.nearest(name),) if found]
    raise Unanswerable(
        f"no [models.{name}] table and no model of that name in the catalog" + (f"; the nearest is {near[0]!r}" if near else "")
    )


def _with_biases(shape: ModelShape, catalog: Catalog) -> ModelShape:
    """Return a mixture of experts with the biases and limits that the catalog's model of its name has; tables of shapes state none."""
    preset = catalog.models.get(shape.name) if shape.experts else None
    if preset is None:
        return shape
    return replace(shape, ffn_bias=bool(preset.shape.get("ffn_bias")), ffn_clamped=bool(preset.shape.get("ffn_clamped")))


def _by_pattern(shape: ModelShape, config: Mapping[str, Any], notes: tuple[str, ...]) -> tuple[ModelShape, tuple[str, ...]]:
    """Return a hybrid whose blocks are listed one by one as a model of whole layers, others as they are.

    A block is a mixer (M state space, * attention) or a feed-forward (E experts, - dense); a mixer and a feed-forward make one layer
    [NVIDIA Nemotron-H and Nemotron 3, hybrid_override_pattern]. State-space mixers are counted as attention whose window is the state,
    with as many heads as make up their projections.
    """
    pattern = str(config.get("hybrid_override_pattern", ""))
    mixed, dense, attention = pattern.count("E"), pattern.count("-"), pattern.count("*")
    if not mixed + dense:
        return shape, notes
    window = int(config.get("ssm_state_size", 0)) or shape.sliding_window
    made = replace(shape, layers=mixed + dense, dense_layers=dense if mixed else 0, sliding_window=window)
    made = replace(made, full_attention_layers=min(attention, made.layers))
    made = _with_latent_experts(_with_mixers(made, config, pattern.count("M"), attention), config)
    return made, (*notes, "state-space mixers are counted as attention over a window: a rough estimate")


def _with_mixers(shape: ModelShape, config: Mapping[str, Any], state_space: int, attention: int) -> ModelShape:
    """Return the shape with the attention heads whose projections add up to those of all mixers [Mamba-2, arXiv:2405.21060 §7]."""
    heads, inner = int(config.get("mamba_num_heads", 0)), int(config.get("mamba_num_heads", 0)) * int(config.get("mamba_head_dim", 0))
    if not state_space or not inner:
        return shape
    hidden, width = shape.hidden_size, shape.head_dim
    groups = int(config.get("n_groups", 1)) * int(config.get("ssm_state_size", 0))
    weights = state_space * hidden * (3 * inner + 2 * groups + heads)
    weights += attention * hidden * width * 2 * (shape.attention_heads + shape.key_value_heads)
    equal = weights / (2 * hidden * width * shape.layers) - shape.key_value_heads
    scanned = round(inner * state_space / shape.layers)
    return replace(shape, attention_heads=max(shape.key_value_heads, round(equal)), scanned_channels=scanned)


def _with_latent_experts(shape: ModelShape, config: Mapping[str, Any]) -> ModelShape:
    """Return the shape with experts in the latent space that the config states; its projections count as part of the shared expert."""
    latent = int(config.get("moe_latent_size") or 0)
    if not shape.experts or not 0 < latent < shape.hidden_size:
        return shape
    return replace(shape, latent_size=latent, shared_expert_ffn_size=shape.shared_expert_ffn_size + latent)


def _only_one_beginning_with(name: str, catalog: Catalog) -> ModelPreset | None:
    """Return the preset whose id goes on with a size after `name`, where there is exactly one."""
    found = [preset for preset in catalog.models if preset.id.startswith(f"{name}-")]
    return found[0] if len(found) == 1 else None


def _transformer(name: str, table: Mapping[str, Any]) -> tuple[ModelShape, tuple[str, ...]]:
    hidden, heads, experts = int(table["hidden"]), int(table["heads"]), int(table.get("experts", 0))
    expert_width = int(table.get("moe_ffn", table.get("ffn", 0)))
    if not expert_width or (experts and not table.get("topk")):
        raise Unanswerable(f"models.{name} does not state {'topk' if expert_width else 'ffn'}: without its shape nothing can be estimated")
    ranks: dict[str, Any] = {key: int(table.get(key, 0)) for key in _LATENT}
    latent = table.get("attention") == "mla" or bool(table.get("kv_lora_rank"))
    keys = int(table.get("kv_heads", heads))
    notes: tuple[str, ...] = ()
    window, layers = int(table.get("sliding_window", 0)), int(table["layers"])
    full = int(table.get("full_attention_layers", layers // 2 if window else 0))
    if window and "full_attention_layers" not in table:
        notes = ("every other layer is assumed to slide its window: how many see the whole sequence is not stated",)
    return ModelShape(
        name=name,
        kind="moe" if experts else "dense",
        layers=layers,
        hidden_size=hidden,
        ffn_size=int(table.get("ffn", 0)),
        attention_heads=heads,
        key_value_heads=keys,
        head_dim=int(table.get("head_dim", max(1, hidden // heads))),
        vocabulary_size=int(table["vocab"]),
        gated_ffn=bool(table.get("glu", True)),
        tied_embeddings=bool(table.get("tied_embeddings", False)),
        attention="mla" if latent else "gqa" if keys < heads else "mha",
        **(ranks if latent else {}),
        experts=experts,
        experts_per_token=int(table.get("topk", 0)),
        expert_ffn_size=expert_width if experts else 0,
        shared_expert_ffn_size=int(table.get("shared_expert_ffn", 0)),
        dense_layers=int(table.get("dense_layers", 0)),
        mtp_layers=int(table.get("mtp_layers", 0)),
        sliding_window=window,
        full_attention_layers=full,
    ), notes


def _convolutional(name: str, table: Mapping[str, Any], catalog: Catalog) -> ModelShape:
    """Return a convolutional network; how many outputs its convolutions have is known of the catalog's model of its name."""
    if not table.get("params_b"):
        raise Unanswerable(f"models.{name} does not state params_b: without its size nothing can be estimated")
    gmacs, size = float(table["fwd_gmacs_per_image"]), float(table["params_b"]) * BILLION
    preset = catalog.models.get(name)
    outputs = float(preset.shape.get("forward_activations", 0)) if preset is not None and preset.kind == "cnn" else 0.0
    return ModelShape(name, "cnn", forward_gmacs=gmacs, forward_activations=outputs, parameters=size)


def _recommendation(name: str, table: Mapping[str, Any], catalog: Catalog) -> tuple[ModelShape, tuple[str, ...]]:
    """Return a recommendation model; what its table leaves out is noted: that of the catalog's model of its name, or the small DLRM."""
    preset = catalog.models.get(name)
    kin = shape_from_preset(preset) if preset is not None and preset.kind == "recommendation" else DLRM_SMALL
    stated = {
        "embedding_dim": int(table.get("embedding_dim", 0)),
        "tables": int(table.get("tables", 0)),
        "dense_parameters": float(table.get("dense_params_b", 0)) * BILLION,
    }
    assumed = {key: getattr(kin, key) for key, value in stated.items() if not value}
    width = 2 if str(table.get("embedding_precision", "fp32")) in ("fp16", "bf16") else FP32_BYTES
    shape = ModelShape(name, "recommendation", embedding_parameters=float(table["embedding_gib"]) * GIB / width, **(stated | assumed))
    note = ", ".join(f"{key.replace('_', ' ')} {value:,.9g}" for key, value in assumed.items())
    known = "the small DLRM on Criteo" if kin is DLRM_SMALL else f"{kin.name} of the catalog"
    return shape, ((f"assumed as in {known}: {note}",) if assumed else ())


def reduced(shape: ModelShape, layers: int | None, dense_layers: int | None) -> ModelShape:
    """Return a model of fewer layers: a proxy has so many in all, so many of them dense, and no multi-token-prediction layer."""
    if shape.kind not in TRANSFORMER_KINDS:
        return shape
    if layers is not None:
        full = round(shape.full_attention_layers * layers / shape.layers) if shape.layers else 0
        dense = min(shape.dense_layers, layers)
        shape = replace(shape, layers=layers, dense_layers=dense, full_attention_layers=full, mtp_layers=0, parameters=0.0)
    return shape if dense_layers is None else replace(shape, dense_layers=min(dense_layers, shape.layers))


def size_note(shape: ModelShape, counted: float, table: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return a note where the shape adds up to another size than the table states; `counted` is in parameters."""
    stated = float(table.get("params_b", 0)) * BILLION if table else 0.0
    if shape.kind not in TRANSFORMER_KINDS or not stated or not counted or abs(counted / stated - 1) <= COUNTED_WITHIN:
        return ()
    return (f"the shape of {shape.name} adds up to {counted / BILLION:.4g}B parameters, its table says {stated / BILLION:.4g}B",)
