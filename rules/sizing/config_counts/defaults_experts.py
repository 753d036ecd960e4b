"""Defaults of the classes of text models with experts, latents or states, by model_type.

Source: the configuration classes of Hugging Face transformers 5.24. A saved file may leave out what equals the default, above all in
the tables inside; sizes that may be null (heads' width, low ranks, windows) are only here where the class fixes them.
"""

from __future__ import annotations

from typing import Any

EXPERT_DEFAULTS: dict[str, dict[str, Any]] = {
    "minicpm3": {
        "vocab_size": 73448, "hidden_size": 2560, "num_hidden_layers": 62, "num_attention_heads": 40, "num_key_value_heads": 40,
        "intermediate_size": 6400, "kv_lora_rank": 256, "qk_rope_head_dim": 32, "qk_nope_head_dim": 64,
    },
    "mixtral": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2,
    },
    "qwen2_moe": {
        "vocab_size": 151936, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16,
        "intermediate_size": 5632, "qkv_bias": True, "num_experts": 60, "moe_intermediate_size": 1408, "num_experts_per_tok": 4,
        "decoder_sparse_step": 1,
    },
    "qwen3_moe": {
        "vocab_size": 151936, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 4,
        "intermediate_size": 6144, "num_experts": 128, "moe_intermediate_size": 768, "num_experts_per_tok": 8, "decoder_sparse_step": 1,
    },
    "qwen3_vl_moe_text": {
        "vocab_size": 151936, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16,
        "intermediate_size": 5632, "num_experts": 60, "moe_intermediate_size": 1408, "num_experts_per_tok": 4, "decoder_sparse_step": 1,
    },
    "phimoe": {
        "vocab_size": 32064, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 6400, "num_local_experts": 16, "num_experts_per_tok": 2,
    },
    "deepseek_v2": {
        "vocab_size": 102400, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
        "n_routed_experts": 64, "moe_intermediate_size": 1407, "first_k_dense_replace": 0, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "v_head_dim": 128,
    },
    "deepseek_v3": {
        "vocab_size": 129280, "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
        "intermediate_size": 18432, "n_routed_experts": 256, "moe_intermediate_size": 2048, "num_experts_per_tok": 8,
        "first_k_dense_replace": 3, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    },
    "deepseek_v32": {
        "vocab_size": 129280, "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
        "intermediate_size": 18432, "head_dim": 64, "n_routed_experts": 256, "moe_intermediate_size": 2048, "num_experts_per_tok": 8,
        "first_k_dense_replace": 3, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "index_topk":
        2048, "index_head_dim": 128, "index_n_heads": 64,
    },
    "glm_moe_dsa": {
        "vocab_size": 154880, "hidden_size": 6144, "num_hidden_layers": 78, "num_attention_heads": 64, "num_key_value_heads": 64,
        "intermediate_size": 12288, "head_dim": 64, "n_routed_experts": 256, "moe_intermediate_size": 2048, "num_experts_per_tok": 8,
        "first_k_dense_replace": 3, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 192, "v_head_dim": 256, "index_topk":
        2048, "index_head_dim": 128, "index_n_heads": 32,
    },
    "glm4_moe_lite": {
        "vocab_size": 154880, "hidden_size": 2048, "num_hidden_layers": 47, "num_attention_heads": 20, "num_key_value_heads": 20,
        "intermediate_size": 10240, "n_routed_experts": 64, "moe_intermediate_size": 1536, "num_experts_per_tok": 4, "kv_lora_rank": 512,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 192, "v_head_dim": 256,
    },
    "mistral4": {
        "vocab_size": 131072, "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 12288, "n_routed_experts": 128, "moe_intermediate_size": 2048, "num_experts_per_tok": 4,
        "first_k_dense_replace": 0, "kv_lora_rank": 256, "qk_rope_head_dim": 64, "qk_nope_head_dim": 64, "v_head_dim": 128,
    },
    "deepseek_v4": {
        "vocab_size": 129280, "hidden_size": 4096, "num_hidden_layers": 43, "num_attention_heads": 64, "num_key_value_heads": 1,
        "head_dim": 512, "n_routed_experts": 256, "moe_intermediate_size": 2048, "num_experts_per_tok": 6, "index_topk": 512,
        "index_head_dim": 128, "index_n_heads": 64, "hc_mult": 4, "o_groups": 8, "o_lora_rank": 1024,
    },
    "glm4_moe": {
        "vocab_size": 151552, "hidden_size": 4096, "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
        "intermediate_size": 10944, "n_routed_experts": 128, "moe_intermediate_size": 1408, "num_experts_per_tok": 8,
        "first_k_dense_replace": 1,
    },
    "glm4v_moe_text": {
        "vocab_size": 151424, "hidden_size": 4096, "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
        "intermediate_size": 10944, "attention_bias": True, "n_routed_experts": 128, "moe_intermediate_size": 1408, "num_experts_per_tok":
        8, "first_k_dense_replace": 1,
    },
    "gpt_oss": {
        "vocab_size": 201088, "hidden_size": 2880, "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8,
        "intermediate_size": 2880, "head_dim": 64, "attention_bias": True, "num_local_experts": 128, "num_experts_per_tok": 4,
    },
    "minimax_m2": {
        "vocab_size": 200064, "hidden_size": 3072, "num_hidden_layers": 62, "num_attention_heads": 48, "num_key_value_heads": 8,
        "intermediate_size": 1536, "head_dim": 128, "num_local_experts": 256, "num_experts_per_tok": 8,
    },
    "minimax_m3_vl_text": {
        "vocab_size": 200064, "hidden_size": 6144, "num_hidden_layers": 60, "num_attention_heads": 64, "num_key_value_heads": 4,
        "intermediate_size": 3072, "head_dim": 128, "num_local_experts": 128, "num_experts_per_tok": 4, "index_head_dim": 128,
        "index_n_heads": 4, "dense_intermediate_size": 12288, "shared_intermediate_size": 3072,
    },
    "olmoe": {
        "vocab_size": 50304, "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 16, "intermediate_size": 2048,
        "num_experts": 64, "num_experts_per_tok": 8,
    },
    "flex_olmo": {
        "vocab_size": 100352, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
        "num_experts": 7, "num_experts_per_tok": 5,
    },
    "granitemoe": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
        "num_local_experts": 8, "num_experts_per_tok": 2,
    },
    "granitemoeshared": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
        "num_local_experts": 8, "num_experts_per_tok": 2, "shared_intermediate_size": 0,
    },
    "ernie4_5_moe": {
        "vocab_size": 103424, "hidden_size": 2560, "num_hidden_layers": 28, "num_attention_heads": 20, "num_key_value_heads": 4,
        "intermediate_size": 12288, "moe_num_experts": 64, "moe_intermediate_size": 1536, "moe_k": 6, "moe_layer_start_index": 1,
    },
    "dots1": {
        "vocab_size": 152064, "hidden_size": 4608, "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 10944, "moe_intermediate_size": 1408, "first_k_dense_replace": 0,
    },
    "afmoe": {
        "vocab_size": 200192, "hidden_size": 2048, "num_hidden_layers": 32, "num_attention_heads": 16, "intermediate_size": 6144,
        "head_dim": 128, "num_experts": 64, "moe_intermediate_size": 1408, "num_experts_per_tok": 6, "num_dense_layers": 1,
    },
    "exaone_moe": {
        "vocab_size": 102400, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 16384, "num_experts": 64, "moe_intermediate_size": 1024, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
    },
    "hy_v3": {
        "vocab_size": 120832, "hidden_size": 4096, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
        "intermediate_size": 13312, "head_dim": 128, "num_experts": 192, "moe_intermediate_size": 1536, "num_experts_per_tok": 8,
    },
    "llama4_text": {
        "vocab_size": 202048, "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
        "intermediate_size": 8192, "head_dim": 128, "use_qk_norm": True, "num_local_experts": 16, "num_experts_per_tok": 1,
        "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 1,
    },
    "mimo_v2_flash": {
        "vocab_size": 152576, "hidden_size": 4096, "num_hidden_layers": 48, "num_attention_heads": 64, "num_key_value_heads": 4,
        "intermediate_size": 16384, "head_dim": 192, "n_routed_experts": 256, "moe_intermediate_size": 2048, "num_experts_per_tok": 8,
        "v_head_dim": 128,
    },
    "muse_spark_text": {
        "vocab_size": 202048, "hidden_size": 8192, "num_hidden_layers": 62, "num_attention_heads": 128, "num_key_value_heads": 16,
        "intermediate_size": 16384, "head_dim": 64, "num_local_experts": 256, "moe_intermediate_size": 4096, "num_experts_per_tok": 8,
        "moe_hidden_size": 4096,
    },
    "longcat_flash": {
        "vocab_size": 131072, "hidden_size": 6144, "num_layers": 28, "num_attention_heads": 64, "head_dim": 64, "n_routed_experts": 512,
        "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    },
    "qwen3_next": {
        "vocab_size": 151936, "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 2,
        "intermediate_size": 5632, "head_dim": 256, "num_experts": 512, "moe_intermediate_size": 512, "num_experts_per_tok": 10,
        "decoder_sparse_step": 1, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32,
    },
    "qwen3_5_text": {
        "vocab_size": 248320, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 16, "num_key_value_heads": 4,
        "intermediate_size": 12288, "head_dim": 256, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim":
        128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
    },
    "qwen3_5_moe_text": {
        "vocab_size": 248320, "hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 16, "num_key_value_heads": 2,
        "head_dim": 256, "num_experts": 256, "moe_intermediate_size": 512, "num_experts_per_tok": 8, "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
    },
    "olmo_hybrid": {
        "vocab_size": 100352, "hidden_size": 3840, "num_hidden_layers": 32, "num_attention_heads": 30, "intermediate_size": 11008,
        "linear_conv_kernel_dim": 4,
    },
    "nemotron_h": {
        "vocab_size": 131072, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 21504,
        "head_dim": 128, "n_routed_experts": 8, "moe_intermediate_size": 7688, "num_experts_per_tok": 2, "ssm_state_size": 128,
        "conv_kernel": 4, "expand": 2, "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8,
    },
    "jamba": {
        "vocab_size": 65536, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "num_experts": 16, "num_experts_per_tok": 2, "expert_layer_period": 2, "expert_layer_offset": 1,
        "attn_layer_period": 8, "attn_layer_offset": 4, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2,
    },
    "mamba": {
        "vocab_size": 50280, "hidden_size": 768, "num_hidden_layers": 32, "conv_kernel": 4, "state_size": 16, "expand": 2,
    },
    "falcon_mamba": {
        "vocab_size": 50280, "hidden_size": 768, "num_hidden_layers": 32, "conv_kernel": 4, "state_size": 16, "expand": 2,
    },
    "mamba2": {
        "vocab_size": 32768, "hidden_size": 4096, "num_hidden_layers": 64, "num_heads": 128, "head_dim": 64, "conv_kernel": 4,
        "state_size": 128, "expand": 2, "n_groups": 8,
    },
    "bamba": {
        "vocab_size": 128000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_n_heads": 128, "mamba_n_groups": 1,
    },
    "granitemoehybrid": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
        "num_local_experts": 8, "num_experts_per_tok": 2, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_n_heads":
        128, "mamba_n_groups": 1, "shared_intermediate_size": 1024,
    },
    "falcon_h1": {
        "vocab_size": 128000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_n_heads": 128, "mamba_n_groups": 1,
    },
    "kimi_linear": {
        "vocab_size": 163840, "hidden_size": 2304, "num_hidden_layers": 27, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 9216, "num_local_experts": 256, "moe_intermediate_size": 1024, "num_experts_per_tok": 8, "kv_lora_rank": 512,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "linear_conv_kernel_dim": 4,
    },
    "minimax": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2,
    },
    "lfm2": {
        "vocab_size": 65536, "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 12288, "conv_L_cache": 3,
    },
    "lfm2_moe": {
        "vocab_size": 65536, "hidden_size": 2048, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 7168, "num_experts": 32, "moe_intermediate_size": 1792, "num_experts_per_tok": 4, "num_dense_layers": 2,
        "conv_L_cache": 3,
    },
    "sarvam_mla": {
        "vocab_size": 262144, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 64, "intermediate_size": 16384,
        "n_routed_experts": 128, "moe_intermediate_size": 2048, "num_experts_per_tok": 8, "first_k_dense_replace": 1, "kv_lora_rank": 512,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    },
    "youtu": {
        "vocab_size": 128256, "hidden_size": 2048, "num_hidden_layers": 32, "num_attention_heads": 16, "num_key_value_heads": 16,
        "intermediate_size": 6144, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    },
}  # fmt: skip
