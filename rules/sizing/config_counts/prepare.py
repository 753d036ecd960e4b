"""Brings configurations that spell things in their own way into the common form of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.sizing.config_counts.reader import HEADS, HIDDEN, LAYERS, Reader

if TYPE_CHECKING:
    from collections.abc import Callable

Table = dict[str, Any]


def _falcon(reader: Reader) -> Table:
    """One key-value head where multi_query (7B), as many as said in the new architecture (40B, 180B), else as many as heads (1B)."""
    new, heads = reader.flag("new_decoder_architecture"), reader.essential(*HEADS)
    groups = reader.count("num_kv_heads", "n_head_kv", default=heads) if new else 1 if reader.flag("multi_query", True) else heads
    norms = reader.optional("num_ln_in_parallel_attn")
    if not norms:
        norms = 2 if new or not reader.flag("parallel_attn", True) else 1
    return {"num_key_value_heads": groups, "layer_norms": norms}


def _mpt(reader: Reader) -> Table:
    width = reader.essential(*HIDDEN)
    attention = reader.nested("attn_config")
    groups = attention.optional("kv_n_heads") or reader.essential(*HEADS)
    return {"intermediate_size": round(reader.number("expansion_ratio", 4.0) * width), "num_key_value_heads": groups}


def _dbrx(reader: Reader) -> Table:
    attention, feed = reader.nested("attn_config"), reader.nested("ffn_config")
    return {
        "num_key_value_heads": attention.count("kv_n_heads"),
        "intermediate_size": feed.count("ffn_hidden_size"),
        "num_experts": feed.count("moe_num_experts"),
        "num_experts_per_tok": feed.count("moe_top_k"),
    }


def _opt(reader: Reader) -> Table:
    return {key: True for key in ("enable_bias", "do_layer_norm_before") if reader.table.get(key) is None}


def _gpt_neo(reader: Reader) -> Table:
    """Every second layer sees a local window; attention_types spells this as pairs of pattern and repetitions."""
    types = reader.sequence("attention_layers")
    layers = reader.layers()
    kinds = list(types) if types else ["global", "local"] * ((layers + 1) // 2)
    window = reader.count("window_size", default=256)
    return {"layer_types": ["sliding_attention" if kind == "local" else "full_attention" for kind in kinds], "sliding_window": window}


def _gpt_bigcode(reader: Reader) -> Table:
    return {"num_key_value_heads": 1 if reader.flag("multi_query", True) else reader.essential(*HEADS)}


def _qwen1(reader: Reader) -> Table:
    """The first Qwen states both halves of its gated block together."""
    return {"intermediate_size": reader.essential("intermediate_size") // 2}


def _parallel_residual(reader: Reader) -> Table:
    return {"layer_norms": 1} if reader.flag("use_parallel_residual") else {}


def _chatglm(reader: Reader) -> Table:
    groups = reader.optional("multi_query_group_num") if reader.flag("multi_query_attention", True) else 0
    made: Table = {"num_key_value_heads": groups or reader.essential(*HEADS)}
    return made | ({"add_qkv_bias": True} if reader.table.get("add_qkv_bias") is None else {})


def _minimax_m3(reader: Reader) -> Table:
    sparse = reader.nested("sparse_attention_config")
    made: Table = {}
    if sparse.table:
        made = {
            "index_head_dim": sparse.count("sparse_index_dim"),
            "index_n_heads": sparse.count("sparse_num_index_heads"),
            "index_layers": list(sparse.sequence("sparse_attention_freq") or []),
            "index_topk": sparse.count("sparse_topk_blocks") * sparse.count("sparse_block_size"),
        }
    return made


def _bailing(reader: Reader) -> Table:
    """The second generation (expert bias in the router) is told by its class or its key."""
    classes = reader.sequence("architectures") or ()
    made: Table = {}
    if reader.table.get("moe_router_enable_expert_bias") is None:
        made["moe_router_enable_expert_bias"] = any("V2" in str(each) for each in classes)
    return made


def _mimo_v2(reader: Reader) -> Table:
    made: Table = {}
    pattern = reader.sequence("hybrid_layer_pattern")
    if pattern:
        made["layer_types"] = ["sliding_attention" if each else "full_attention" for each in pattern]
    if reader.table.get("sliding_window") is None and reader.table.get("sliding_window_size") is not None:
        made["sliding_window"] = reader.count("sliding_window_size")
    return made


def _longcat(reader: Reader) -> Table:
    layers = reader.essential("num_layers", *LAYERS)
    zero = reader.optional("zero_expert_num")
    routed = reader.count("n_routed_experts")
    return {"num_hidden_layers": layers, "router_outputs": routed + zero}


def _kimi_linear(reader: Reader) -> Table:
    """Layers are numbered from one in linear_attn_config."""
    linear = reader.nested("linear_attn_config")
    if not linear.table:
        return {}
    full = linear.sequence("full_attn_layers") or ()
    layers = reader.layers()
    return {
        "layer_types": ["full_attention" if number in full else "linear_attention" for number in range(1, layers + 1)],
        "linear_head_dim": linear.count("head_dim"),
        "linear_num_heads": linear.count("num_heads"),
        "linear_conv_kernel_dim": linear.count("short_conv_kernel_size"),
    }


def _lfm2(reader: Reader) -> Table:
    """The stated width is shrunk to two thirds and rounded up, as in the first Llama, where block_auto_adjust_ff_dim says so."""
    made: Table = {}
    width = reader.count("intermediate_size", "block_ff_dim")
    if reader.flag("block_auto_adjust_ff_dim", reader.text("model_type") == "lfm2"):
        multiple = reader.count("block_multiple_of", default=256)
        width = int(reader.number("block_ffn_dim_multiplier", 1.0) * int(2 * width / 3))
        width = multiple * -(-width // multiple)
    made["intermediate_size"] = width
    full = reader.sequence("full_attn_idxs")
    if reader.table.get("layer_types") is None and full is not None:
        made["layer_types"] = ["full_attention" if each in full else "conv" for each in range(reader.layers())]
    return made


PREPARE: dict[str, Callable[[Reader], Table]] = {
    "falcon": _falcon, "mpt": _mpt, "dbrx": _dbrx, "opt": _opt, "gpt_neo": _gpt_neo, "gpt_bigcode": _gpt_bigcode, "qwen1": _qwen1,
    "parallel_residual": _parallel_residual, "chatglm": _chatglm, "minimax_m3": _minimax_m3, "bailing": _bailing, "mimo_v2": _mimo_v2,
    "longcat": _longcat, "kimi_linear": _kimi_linear, "lfm2": _lfm2,
}  # fmt: skip
