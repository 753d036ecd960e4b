"""Traits of families with layers other than attention: state-space (Mamba), linear attention, gated convolution.

Source of every row: the modelling code of that family in Hugging Face transformers 5.24; the layers are those of Mamba
[Gu 2023, arXiv:2312.00752], Mamba-2 [Dao 2024, arXiv:2405.21060], gated delta networks [Yang 2024, arXiv:2412.06464], Kimi delta
attention [Kimi Linear 2025, arXiv:2510.26692] and lightning attention [MiniMax-01 2025, arXiv:2501.08313].
"""

from __future__ import annotations

from rules.sizing.config_counts.family import Family

HYBRID_FAMILIES: tuple[Family, ...] = (
    Family(
        "Qwen3-Next",
        ("qwen3_next",),
        query_key_value_bias="attention_bias",
        output_bias="attention_bias",
        query_key_norm="head",
        gate="query",
        linear_mixer="delta",
        shared_gate=True,
        plan="interval",
    ),
    Family(
        "Qwen3.5",
        ("qwen3_5_text",),
        query_key_value_bias="attention_bias",
        output_bias="attention_bias",
        query_key_norm="head",
        gate="query",
        linear_mixer="delta",
        plan="interval",
    ),
    Family(
        "Qwen3.5 MoE",
        ("qwen3_5_moe_text",),
        query_key_value_bias="attention_bias",
        output_bias="attention_bias",
        query_key_norm="head",
        gate="query",
        linear_mixer="delta",
        shared_gate=True,
        plan="interval",
    ),
    Family(
        "OLMo Hybrid",
        ("olmo_hybrid",),
        query_key_value_bias="attention_bias",
        output_bias="attention_bias",
        query_key_norm="full",
        linear_mixer="delta",
    ),
    Family(
        "Nemotron-H and Nemotron 3",
        ("nemotron_h",),
        layer_norms=1,
        gated=False,
        feed_forward_bias="mlp_bias",
        linear_mixer="mamba2",
        correction_bias=True,
        plan="nemotron_h",
    ),
    Family("Jamba", ("jamba",), linear_mixer="mamba", plan="jamba", expert_width=("intermediate_size",)),
    Family("Mamba", ("mamba", "falcon_mamba"), layer_norms=1, linear_mixer="mamba", plan="pure", tied=True),
    Family("Mamba-2", ("mamba2",), layer_norms=1, linear_mixer="mamba2", plan="pure"),
    Family(
        "Bamba",
        ("bamba",),
        query_key_value_bias="attention_bias",
        output_bias="attention_bias",
        feed_forward_bias="mlp_bias",
        linear_mixer="mamba2",
        plan="bamba",
    ),
    Family(
        "Granite 4",
        ("granitemoehybrid",),
        query_key_value_bias="attention_bias",
        output_bias="attention_bias",
        linear_mixer="mamba2",
        expert_width=("intermediate_size",),
        extras="shared_everywhere",
        constants={"shared_on_all_layers": True},
    ),
    Family(
        "Falcon-H1",
        ("falcon_h1",),
        query_key_value_bias="attention_bias",
        output_bias="attention_bias",
        feed_forward_bias="mlp_bias",
        linear_mixer="mamba2",
        plan="parallel",
    ),
    Family("Kimi Linear", ("kimi_linear",), attention="latent", linear_mixer="kimi_delta", correction_bias=True, prepare="kimi_linear"),
    Family(
        "MiniMax-01",
        ("minimax", "minimax_text_01", "minimax_m1"),
        linear_mixer="lightning",
        plan="lightning",
        expert_width=("intermediate_size",),
    ),
    Family(
        "LFM2",
        ("lfm2", "lfm2_moe"),
        query_key_norm="head",
        linear_mixer="short_conv",
        tied=True,
        prepare="lfm2",
        plan="lfm2",
        correction_bias="use_expert_bias",
        expert_width=("moe_intermediate_size",),
    ),
)
