"""Typed reading of a model's configuration: aliases of keys, the class's defaults, and clear errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HIDDEN = ("hidden_size", "n_embd", "n_embed", "d_model", "dim", "embed_dim")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")
KEY_VALUE_HEADS = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "multi_query_group_num",
    "num_query_groups",
    "kv_n_heads",
    "n_kv_heads",
)
FEED_FORWARD = ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "d_ff", "hidden_dim")
VOCABULARY = ("vocab_size", "padded_vocab_size")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels", "d_kv")
CONTEXT = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx", "model_max_length", "max_sequence_length",
)  # fmt: skip
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "num_routed_experts")
EXPERTS_PER_TOKEN = (
    "num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk", "moe_top_k", "top_k_experts", "num_selected_experts",
)  # fmt: skip
SHARED_EXPERTS = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
MTP_LAYERS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers")
LARGEST_VALUE = 1_000_000_000
"""No size in a released configuration comes near this; a larger one is a slip of the keyboard."""
LARGEST_LAYERS = 10_000
"""The deepest released transformers have under 200 layers; the bound keeps the count finite."""


class ConfigError(Exception):
    """A configuration that cannot be counted: the message names the key, what was expected and what to do."""


class UnsupportedModelError(ConfigError):
    """A kind of model that is not counted, refused by name."""


class Reader:
    """One table of a configuration with the defaults of its class behind it.

    `path` names the table in messages ("text_config."). A `strict` table must itself hold the sizes that define the model;
    in nested tables, which are often saved without what equals the default, the class's default stands in, and is noted.
    """

    def __init__(self, table: Mapping[str, Any], defaults: Mapping[str, Any] | None = None, path: str = "", strict: bool = True) -> None:
        self.table, self.defaults, self.path, self.strict = table, dict(defaults or {}), path, strict
        self.assumed: dict[str, Any] = {}

    def raw(self, *names: str) -> tuple[str, Any]:
        """Return (name, value) of the first name that the table or, failing that, the defaults hold; value None where none does."""
        for name in names:
            if self.table.get(name) is not None:
                return name, self.table[name]
        for name in names:
            if self.defaults.get(name) is not None:
                self.assumed[name] = self.defaults[name]
                return name, self.defaults[name]
        return names[0], None

    def stated(self, *names: str) -> bool:
        """Return whether the file itself gives one of the names a value."""
        return any(self.table.get(name) is not None for name in names)

    def _whole(self, name: str, value: Any, minimum: int) -> int:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(value, float) and value == value and value not in (float("inf"), float("-inf")) and value.is_integer():
            value, whole = int(value), True
        if not whole or not minimum <= value <= LARGEST_VALUE:
            wanted = "a positive whole number" if minimum > 0 else "a whole number, 0 or more"
            raise ConfigError(f"{self.path}{name}: expected {wanted} up to {LARGEST_VALUE:,}, got {_short(value)}; correct it in the file")
        return int(value)

    def count(self, *names: str, default: int | None = None, minimum: int = 1) -> int:
        """Return a positive whole number; raises ConfigError where it is missing without a default, or none."""
        name, value = self.raw(*names)
        if value is None and default is None:
            raise ConfigError(f"{self.path}{names[0]}: missing; expected a positive whole number, which config.json of this model_type has")
        return default if value is None and default is not None else self._whole(name, value, minimum)

    def essential(self, *names: str) -> int:
        """Return a size that defines the model; a strict table must hold it itself."""
        if self.strict and not self.stated(*names):
            raise ConfigError(f"{self.path}{names[0]}: missing; a model's size cannot be counted without it; give the complete config.json")
        return self.count(*names)

    def optional(self, *names: str) -> int:
        """Return a whole number, 0 where it is absent, null or false."""
        name, value = self.raw(*names)
        return 0 if value is None or value is False else self._whole(name, value, 0)

    def layers(self, *names: str) -> int:
        """Return the number of layers, bounded so that counting ends."""
        value = self.essential(*(names or LAYERS))
        if value > LARGEST_LAYERS:
            raise ConfigError(f"{self.path}{(names or LAYERS)[0]}: {value:,} layers; expected at most {LARGEST_LAYERS:,}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a truth value."""
        _, value = self.raw(name)
        if value is None:
            return default
        if isinstance(value, bool) or value in (0, 1):
            return bool(value)
        raise ConfigError(f"{self.path}{name}: expected true or false, got {_short(value)}")

    def switch(self, value: bool | str) -> bool:
        """Return a family's trait: fixed, or the key of that name."""
        return value if isinstance(value, bool) else self.flag(value)

    def text(self, name: str, default: str = "") -> str:
        """Return a word."""
        _, value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise ConfigError(f"{self.path}{name}: expected a word, got {_short(value)}")
        return value

    def number(self, name: str, default: float) -> float:
        """Return a finite number above zero, such as a ratio."""
        _, value = self.raw(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < LARGEST_VALUE:
            raise ConfigError(f"{self.path}{name}: expected a positive number, got {_short(value)}")
        return float(value)

    def sequence(self, name: str, length: int | None = None) -> Sequence[Any] | None:
        """Return a list, None where absent; raises ConfigError where it is shorter than `length`."""
        _, value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise ConfigError(f"{self.path}{name}: expected a list, got {_short(value)}")
        if length is not None and len(value) < length:
            raise ConfigError(f"{self.path}{name}: has {len(value)} entries; expected {length}, one per layer")
        return value

    def at(self, layer: int, *names: str) -> int:
        """Return a size of one layer from a key that holds one number for all layers or a list with one per layer."""
        name, value = self.raw(*names)
        if isinstance(value, list):
            if layer >= len(value):
                raise ConfigError(f"{self.path}{name}: has {len(value)} entries; expected one per layer")
            return self._whole(name, value[layer], 1)
        return self.count(*names)

    def nested(self, name: str, defaults: Mapping[str, Any] | None = None) -> Reader:
        """Return the reader of a table inside, empty where absent; raises ConfigError where it is no table."""
        value = self.table.get(name)
        if value is not None and not isinstance(value, dict):
            raise ConfigError(f"{self.path}{name}: expected a table, got {_short(value)}")
        return Reader(value or {}, defaults, f"{self.path}{name}.", strict=False)

    def refuse(self, what: str) -> UnsupportedModelError:
        """Return the error that refuses a part of the model by name."""
        return UnsupportedModelError(f"{self.path}{what}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
