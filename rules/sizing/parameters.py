"""Parameters and FLOPs of a model, counted from its shape.

Sources: the counts follow the layers' published definitions: GPT [Narayanan 2021, arXiv:2104.04473 eq. 2], Llama 3
[arXiv:2407.21783 table 3], mixture of experts and multi-head latent attention [DeepSeek-V3, arXiv:2412.19437 §2.1],
vision transformers [Dosovitskiy 2020, arXiv:2010.11929]. FLOPs per token are model FLOPs: a multiply-add is two operations,
the backward pass costs twice the forward pass, recomputation is not counted [Korthikanti 2022, arXiv:2205.05198 eq. 7].
"""

from __future__ import annotations

from rules.sizing.results import ModelShape, ParameterCount

OPERATIONS_PER_MULTIPLY_ADD = 2.0
"""A multiply-add is counted as two operations [Narayanan 2021]."""
TRAINING_PASSES = 3.0
"""Forward, gradient of the inputs, gradient of the weights: three times the forward pass [Korthikanti 2022 §5]."""
CAUSAL_SHARE = 0.5
"""Share of the attention matrix that a causal kernel computes [Dao 2023, arXiv:2307.08691 §3.1]."""
IMAGE_CHANNELS = 3
"""Colour channels of an image."""
CLASSES_IMAGENET = 1000
"""Classes of ImageNet-1k, the head of a classifier where nothing else is said."""


def attention_parameters(shape: ModelShape) -> float:
    """Return the weights of one attention block with its biases and query/key norms.

    Multi-head and grouped-query: `h·d·(2·a + 2·k)`. Latent attention: down and up projections of queries and of the joint
    key-value latent, the shared rotary key, and the output projection [DeepSeek-V2, arXiv:2405.04434 §2.1].
    """
    hidden, heads = shape.hidden_size, shape.attention_heads
    if shape.attention == "mla":
        query_width = heads * (shape.qk_nope_head_dim + shape.qk_rope_head_dim)
        query = (hidden + query_width + 1) * shape.q_lora_rank if shape.q_lora_rank else hidden * query_width
        latent = hidden * (shape.kv_lora_rank + shape.qk_rope_head_dim) + shape.kv_lora_rank
        return query + latent + shape.kv_lora_rank * heads * (shape.qk_nope_head_dim + shape.v_head_dim) + heads * shape.v_head_dim * hidden
    widths = (heads + 2 * shape.key_value_heads) * shape.head_dim
    weights = hidden * (widths + heads * shape.head_dim)
    return weights + (widths if shape.attention_bias else 0) + (2 * shape.head_dim if shape.qk_norm else 0)


def _ffn(shape: ModelShape, width: float) -> float:
    matrices = 3 if shape.gated_ffn else 2
    biases = (matrices - 1) * width + shape.hidden_size if shape.ffn_bias else 0
    return matrices * shape.hidden_size * width + biases


def dense_ffn_parameters(shape: ModelShape) -> float:
    """Return the weights of one dense feed-forward block: three matrices where gated, else two."""
    return _ffn(shape, shape.ffn_size)


def expert_ffn_parameters(shape: ModelShape) -> float:
    """Return the weights of one routed expert, which may take tokens of a latent width."""
    whole = _ffn(shape, shape.expert_ffn_size)
    return whole * shape.latent_size / shape.hidden_size if shape.latent_size else whole


def layer_parameters(shape: ModelShape, moe: bool) -> tuple[float, float]:
    """Return (parameters outside the routed experts, parameters of all routed experts) of one layer.

    The first part holds attention, two norms, and the dense FFN, or the router and the shared experts of a `moe` layer.
    """
    common = attention_parameters(shape) + 2 * shape.hidden_size
    if not moe:
        return common + dense_ffn_parameters(shape), 0.0
    shared = _ffn(shape, shape.shared_expert_ffn_size) if shape.shared_expert_ffn_size else 0.0
    return common + shared + shape.hidden_size * shape.experts, shape.experts * expert_ffn_parameters(shape)


def moe_layers(shape: ModelShape) -> int:
    """Return how many layers have routed experts."""
    return max(0, shape.layers - shape.dense_layers) if shape.experts else 0


def vision_tokens(shape: ModelShape) -> int:
    """Return the tokens of one image in a vision transformer: its patches and the class token."""
    return (shape.image_size // shape.patch_size) ** 2 + 1 if shape.patch_size else 1


def embedding_parameters(shape: ModelShape) -> tuple[float, float]:
    """Return (parameters of the input embedding with learned positions, parameters of an untied output head)."""
    if shape.kind == "vision_transformer":
        patch = IMAGE_CHANNELS * shape.patch_size**2 * shape.hidden_size + shape.hidden_size
        positions = (vision_tokens(shape) + 1) * shape.hidden_size
        return float(patch + positions), float(CLASSES_IMAGENET * (shape.hidden_size + 1))
    tokens = shape.vocabulary_size * shape.hidden_size
    return float(tokens + shape.learned_positions * shape.hidden_size), 0.0 if shape.tied_embeddings else float(tokens)


def _attention_operations(shape: ModelShape, sequence_length: int) -> float:
    """Return the forward operations of the attention products per token over all layers, `2·2·s·a·d` per layer, halved if causal.

    With a sliding window the layers that have one see at most the window.
    """
    causal = shape.kind != "vision_transformer"
    per_key = (shape.qk_nope_head_dim + shape.qk_rope_head_dim + shape.v_head_dim) if shape.attention == "mla" else 2 * shape.head_dim
    whole = sequence_length * (CAUSAL_SHARE if causal else 1.0)
    local = min(whole, float(shape.sliding_window)) if shape.sliding_window else whole
    full_layers = shape.full_attention_layers if shape.sliding_window else shape.layers
    seen = full_layers * whole + (shape.layers - full_layers) * local
    return OPERATIONS_PER_MULTIPLY_ADD * shape.attention_heads * per_key * seen


def _transformer(shape: ModelShape, sequence_length: int) -> ParameterCount:
    experts_layers = moe_layers(shape)
    dense_part, _ = layer_parameters(shape, moe=False)
    moe_part, routed = layer_parameters(shape, moe=True) if experts_layers else (0.0, 0.0)
    embedding, head = embedding_parameters(shape)
    dense_layers = shape.layers - experts_layers
    blocks = dense_layers * dense_part + experts_layers * moe_part
    final_norm = shape.hidden_size
    total = blocks + experts_layers * routed + embedding + head + final_norm
    used = experts_layers * routed * (shape.experts_per_token / shape.experts if shape.experts else 0.0)
    head_use = head or float(shape.vocabulary_size * shape.hidden_size)
    multiplied = blocks + used + head_use
    mtp_layer = (moe_part + routed if experts_layers else dense_part) + 2 * shape.hidden_size**2 + 3 * shape.hidden_size
    forward = OPERATIONS_PER_MULTIPLY_ADD * multiplied + _attention_operations(shape, sequence_length)
    return ParameterCount(
        total=total,
        active=total - experts_layers * routed + used,
        embedding=embedding,
        mtp=shape.mtp_layers * mtp_layer,
        flops_per_token=TRAINING_PASSES * forward,
        by_part={
            "embedding": embedding,
            "head": head,
            "attention": shape.layers * attention_parameters(shape),
            "dense_ffn": dense_layers * dense_ffn_parameters(shape),
            "routed_experts": experts_layers * routed,
            "shared_experts_and_router": experts_layers * (moe_part - attention_parameters(shape) - 2 * shape.hidden_size),
            "norms": (2 * shape.layers + 1) * shape.hidden_size,
        },
    )


def counted_total(shape: ModelShape) -> float:
    """Return the parameters of a transformer that its shape adds up to, whatever total it states."""
    return _transformer(shape, 1).total


STATED_TOLERANCE = 0.01
"""A stated total within one percent of the counted one is the same model, rounded or with buffers; the count stands."""


def stated_share(shape: ModelShape, counted: float) -> float:
    """Return the stated total of a transformer over the counted one, 1 where they agree or nothing is stated.

    State-space, linear-attention or cross-attention layers are not part of a shape; then the stated total is the better figure,
    and layers are scaled to it.
    """
    if not shape.parameters or not counted or abs(shape.parameters / counted - 1) <= STATED_TOLERANCE:
        return 1.0
    return shape.parameters / counted


def _scaled(count: ParameterCount, share: float) -> ParameterCount:
    if share == 1.0:
        return count
    parts = {name: part * share for name, part in count.by_part.items()}
    flops = count.flops_per_token * share
    return ParameterCount(count.total * share, count.active * share, count.embedding, count.mtp, flops, parts)


def count_parameters(shape: ModelShape, sequence_length: int) -> ParameterCount:
    """Count the parameters of a model and its training FLOPs per token (per image, per sample).

    Transformers: total = layers + embeddings + final norm, multi-token-prediction layers apart, tied embeddings once; active
    leaves out the routed experts that a token does not visit. FLOPs per token = 3·(2·P + attention), where P are the weights that
    a token is multiplied with (all layers' active weights and the output head, not the embedding look-up) and attention is
    `2·s·a·d` per layer for the causal half of QKᵀ and PV together (window instead of s where the layer slides). FLOPs of a
    CNN = 3·2·forward multiply-adds; of a recommendation model = 6 per dense parameter (look-ups move bytes, not FLOPs).
    Where the shape states another total than its layers add up to, everything is scaled to the stated one.

    `sequence_length` is in tokens. Sources: see the module's docstring.
    """
    if shape.kind == "cnn":
        flops = TRAINING_PASSES * OPERATIONS_PER_MULTIPLY_ADD * shape.forward_gmacs * 1e9
        return ParameterCount(shape.parameters, shape.parameters, 0.0, 0.0, flops, {"convolutions_and_head": shape.parameters})
    if shape.kind == "recommendation":
        dense = shape.dense_parameters
        total = shape.embedding_parameters + dense
        flops = TRAINING_PASSES * OPERATIONS_PER_MULTIPLY_ADD * (shape.forward_gmacs * 1e9 if shape.forward_gmacs else dense)
        return ParameterCount(
            total, dense, shape.embedding_parameters, 0.0, flops, {"embedding_tables": shape.embedding_parameters, "dense": dense}
        )
    count = _transformer(shape, vision_tokens(shape) if shape.kind == "vision_transformer" else sequence_length)
    return _scaled(count, stated_share(shape, count.total))
