"""How the layers of a decoder are laid out: what mixes tokens in each layer, how far it sees, and which feed-forward follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.sizing.config_counts.reader import EXPERTS, ConfigError, Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.sizing.config_counts.family import Family

FULL = ("full_attention", "attention", "indexed_attention", "deepseek_sparse_attention", "global", "minimax_m3_sparse", "sparse_attention")
SLIDING = ("sliding_attention", "local", "sliding_window_attention")
LINEAR = ("linear_attention", "mamba", "mamba2", "conv", "recurrent", "lightning")
SPARSE_FEEDS = ("sparse", "moe", "hash_moe")
DENSE_FEEDS = ("dense", "mlp")
QWEN_FULL_INTERVAL = 4
"""Every fourth layer of Qwen3-Next and Qwen3.5 attends fully [transformers, Qwen3NextConfig]."""


@dataclass(frozen=True)
class Layer:
    """One layer: `mixers` (attention, or what linear_attention is in the family), the feed-forward (dense, experts or none), how
    far attention sees (`window`, `chunk`, tokens, 0 for everything), the compression of keys in DeepSeek-V4 (0 for none), and whether
    it brings its own sparse index, whatever the file says of the layer at its place.
    """

    index: int
    mixers: tuple[str, ...] = ("attention",)
    feed: str = "dense"
    window: int = 0
    chunk: int = 0
    ratio: int = 0
    own_index: bool = False


def expert_layers(reader: Reader, layers: int) -> list[bool]:
    """Return for each layer whether its feed-forward has routed experts, by whichever key the configuration has."""
    if not reader.optional(*EXPERTS) or (reader.stated("expert_layer_period") and reader.optional(*EXPERTS) == 1):
        return [False] * layers
    kinds = reader.sequence("mlp_layer_types", layers)
    if kinds is not None:
        unknown = [kind for kind in kinds if kind not in SPARSE_FEEDS + DENSE_FEEDS]
        if unknown:
            raise reader.refuse(f"mlp_layer_types: {unknown[0]!r} is no known kind of feed-forward; such layers cannot be counted")
        return [kind in SPARSE_FEEDS for kind in kinds[:layers]]
    listed = reader.sequence("moe_layers")
    if listed is not None:
        return [each in listed for each in range(layers)]
    if reader.optional("interleave_moe_layer_step"):
        step = reader.count("interleave_moe_layer_step")
        return [(each + 1) % step == 0 for each in range(layers)]
    first = reader.optional("first_k_dense_replace") or reader.optional("num_dense_layers")
    _, frequency = reader.raw("moe_layer_freq")
    if isinstance(frequency, list):
        marks = reader.sequence("moe_layer_freq", layers) or ()
        return [bool(mark) for mark in marks[:layers]]
    if frequency is not None:
        step = reader.count("moe_layer_freq")
        return [each >= first and each % step == 0 for each in range(layers)]
    if reader.raw("decoder_sparse_step")[1] is not None:
        step, dense = reader.optional("decoder_sparse_step"), reader.sequence("mlp_only_layers") or ()
        return [bool(step) and each not in dense and (each + 1) % step == 0 for each in range(layers)]
    if reader.raw("moe_layer_start_index")[1] is not None or reader.raw("moe_layer_interval")[1] is not None:
        return _ernie_layers(reader, layers)
    if reader.raw("expert_layer_period")[1] is not None:
        period, offset = reader.count("expert_layer_period"), reader.optional("expert_layer_offset")
        return [each % period == offset for each in range(layers)]
    return [each >= first for each in range(layers)]


def _ernie_layers(reader: Reader, layers: int) -> list[bool]:
    start, interval = reader.optional("moe_layer_start_index"), reader.count("moe_layer_interval", default=1)
    _, end = reader.raw("moe_layer_end_index")
    last = layers - 1 if end is None or end == -1 else reader.count("moe_layer_end_index", minimum=0)
    return [(each + 1) % interval == 0 and start <= each <= last for each in range(layers)]


def _window(reader: Reader) -> int:
    return reader.optional("sliding_window")


def _from_types(reader: Reader, family: Family, kinds: list[object]) -> list[Layer]:
    window, made = _window(reader), []
    for index, kind in enumerate(kinds):
        if kind in SLIDING:
            made.append(Layer(index, window=window))
        elif kind in FULL:
            made.append(Layer(index))
        elif kind == "chunked_attention":
            made.append(Layer(index, chunk=reader.optional("attention_chunk_size")))
        elif kind in LINEAR and family.linear_mixer:
            made.append(Layer(index, (family.linear_mixer,)))
        else:
            raise reader.refuse(f"layer_types: layers of type {kind!r} are not counted in a model of the family {family.name}")
    return made


def _uniform(reader: Reader, family: Family, layers: int) -> list[Layer]:
    """Layers by layer_types; else by the window and how often a layer goes without it."""
    kinds = reader.sequence("layer_types", layers)
    if kinds is not None:
        return _from_types(reader, family, list(kinds[:layers]))
    window, every = _window(reader), family.window_every
    for key in ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"):
        if isinstance(reader.table.get(key), int) and not isinstance(reader.table.get(key), bool):
            every = reader.count(key)
    return [Layer(each, window=0 if every and (each + 1) % every == 0 else window) for each in range(layers)]


def _qwen(reader: Reader, family: Family, layers: int) -> list[Layer]:
    """A window is stated but unused where use_sliding_window is false; else from max_window_layers on."""
    if reader.sequence("layer_types") is not None:
        return _uniform(reader, family, layers)
    window, first = (_window(reader), reader.optional("max_window_layers")) if reader.flag("use_sliding_window") else (0, 0)
    return [Layer(each, window=window if each >= first else 0) for each in range(layers)]


def _interval(reader: Reader, family: Family, layers: int) -> list[Layer]:
    if reader.sequence("layer_types") is not None:
        return _uniform(reader, family, layers)
    every = reader.count("full_attention_interval", default=QWEN_FULL_INTERVAL)
    return [Layer(each) if (each + 1) % every == 0 else Layer(each, (family.linear_mixer,)) for each in range(layers)]


def _nemotron_h(reader: Reader, family: Family, layers: int) -> list[Layer]:
    """Each layer is one block: M state space, * attention, - feed-forward, E experts [transformers, NemotronHConfig]."""
    letters = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
    pattern = reader.text("hybrid_override_pattern")
    kinds = [letters.get(each, each) for each in pattern] if pattern else list(reader.sequence("layers_block_type") or ())
    if not kinds:
        raise ConfigError(f"{reader.path}hybrid_override_pattern: missing; expected one letter per layer, such as 'M-M*-'")
    if reader.stated("num_hidden_layers") and len(kinds) != layers:
        raise ConfigError(
            f"{reader.path}hybrid_override_pattern: has {len(kinds)} layers, num_hidden_layers says {layers}; make them agree"
        )
    made = []
    for index, kind in enumerate(kinds):
        if kind in ("mamba", "linear_attention"):
            made.append(Layer(index, (family.linear_mixer,), "none"))
        elif kind in ("attention", "full_attention"):
            made.append(Layer(index, ("attention",), "none"))
        elif kind in ("mlp", "moe"):
            made.append(Layer(index, (), "experts" if kind == "moe" else "dense"))
        else:
            raise reader.refuse(f"hybrid_override_pattern: {kind!r} is no known kind of layer")
    return made


def _jamba(reader: Reader, family: Family, layers: int) -> list[Layer]:
    period, offset = reader.count("attn_layer_period"), reader.optional("attn_layer_offset")
    return [Layer(each) if each % period == offset else Layer(each, (family.linear_mixer,)) for each in range(layers)]


def _bamba(reader: Reader, family: Family, layers: int) -> list[Layer]:
    attention = reader.sequence("attn_layer_indices") or ()
    return [Layer(each) if each in attention else Layer(each, (family.linear_mixer,)) for each in range(layers)]


def _lightning(reader: Reader, family: Family, layers: int) -> list[Layer]:
    """By attn_type_list (1 is full attention) or layer_types; else alternating, full attention first [transformers, MiniMaxConfig]."""
    if reader.sequence("layer_types") is not None:
        return _uniform(reader, family, layers)
    marks = reader.sequence("attn_type_list", layers)
    full = [mark == 1 for mark in marks[:layers]] if marks is not None else [(each + 1) % 2 == 1 for each in range(layers)]
    return [Layer(each) if full[each] else Layer(each, (family.linear_mixer,)) for each in range(layers)]


def _llama4(reader: Reader, family: Family, layers: int) -> list[Layer]:
    if reader.sequence("layer_types") is not None:
        return _uniform(reader, family, layers)
    chunk = reader.optional("attention_chunk_size")
    marks = reader.sequence("no_rope_layers") or []
    rotary = [bool(each) for each in marks] if len(marks) >= layers else [(each + 1) % 4 != 0 for each in range(layers)]
    return [Layer(each, chunk=chunk if rotary[each] else 0) for each in range(layers)]


def _gemma4(reader: Reader, family: Family, layers: int) -> list[Layer]:
    """The last layer always sees everything [transformers, Gemma4TextConfig]."""
    made = _uniform(reader, family, layers)
    return [*made[:-1], replace(made[-1], window=0)] if family.name == "Gemma 4" else made


def _deepseek_v4(reader: Reader, _family: Family, layers: int) -> list[Layer]:
    """Every layer has a window; compress_ratios says how far the keys beyond it are compressed, 0 for not at all."""
    ratios = reader.sequence("compress_ratios", layers)
    if ratios is None:
        known = {"sliding_attention": 0, "compressed_sparse_attention": 4, "heavily_compressed_attention": 128}
        kinds = reader.sequence("layer_types", layers)
        if kinds is None or any(kind not in known for kind in kinds):
            raise ConfigError(f"{reader.path}compress_ratios: missing; expected one ratio per layer, such as 0, 4 or 128")
        ratios = [known[kind] for kind in kinds]
    if any(ratio not in (0, 4, 128) for ratio in ratios):
        raise reader.refuse("compress_ratios: only the ratios 0, 4 and 128 of DeepSeek-V4 are counted")
    return [Layer(each, window=_window(reader), ratio=int(ratios[each])) for each in range(layers)]


def _pure(_reader: Reader, family: Family, layers: int) -> list[Layer]:
    return [Layer(each, (family.linear_mixer,), "none") for each in range(layers)]


def _parallel(_reader: Reader, family: Family, layers: int) -> list[Layer]:
    return [Layer(each, ("attention", family.linear_mixer)) for each in range(layers)]


def _every(_reader: Reader, _family: Family, layers: int) -> list[Layer]:
    return [Layer(each) for each in range(layers)]


PLANS: dict[str, Callable[[Reader, Family, int], list[Layer]]] = {
    "uniform": _uniform, "qwen": _qwen, "interval": _interval, "nemotron_h": _nemotron_h, "jamba": _jamba, "bamba": _bamba,
    "lightning": _lightning, "llama4": _llama4, "gemma4": _gemma4, "deepseek_v4": _deepseek_v4, "pure": _pure,
    "parallel": _parallel, "mimo_v2": _uniform, "longcat": _every, "lfm2": _uniform,
}  # fmt: skip


def lay_out(reader: Reader, family: Family) -> list[Layer]:
    """Return the layers of a decoder; raises ConfigError where a list is too short or a kind of layer is not known."""
    listed = family.plan == "nemotron_h" and not reader.stated("num_hidden_layers")
    layers = 0 if listed else reader.layers()
    made = PLANS[family.plan](reader, family, layers)
    if family.plan in ("nemotron_h", "pure"):
        return made
    sparse = expert_layers(reader, len(made))
    return [replace(layer, feed="experts" if sparse[layer.index] else layer.feed) for layer in made]
