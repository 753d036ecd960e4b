"""Traits of families with routed experts.

Source of every row: the modelling code of that family in Hugging Face transformers (5.24 and, for model types kept in model
repositories, the code published beside the weights); checked against published parameter totals, see tests/published.
A correction bias is the router's load-balancing bias, one value per expert, which checkpoints store [DeepSeek-V3, arXiv:2412.19437 §2.1.2].
"""

from __future__ import annotations

from rules.sizing.config_counts.family import Family

EXPERT_FAMILIES: tuple[Family, ...] = (
    Family("Mixtral", ("mixtral",)),
    Family("Qwen MoE", ("qwen2_moe",), query_key_value_bias="qkv_bias", shared_gate=True, plan="qwen", constants={"qkv_bias": True}),
    Family("Qwen3 MoE", ("qwen3_moe",), query_key_value_bias="attention_bias", output_bias="attention_bias", query_key_norm="head", plan="qwen",
           constants={"shared_expert_intermediate_size": 0}),
    Family("Qwen3-VL MoE (text)", ("qwen3_vl_moe_text",), query_key_value_bias="attention_bias", output_bias="attention_bias", query_key_norm="head"),
    Family("Phi-3.5-MoE", ("phimoe",), norm="layer", query_key_value_bias="attention_bias", output_bias="attention_bias", head_bias="lm_head_bias"),
    Family("DeepSeekMoE", ("deepseek",), query_key_value_bias="attention_bias", output_bias="attention_bias"),
    Family("DeepSeek-V2", ("deepseek_v2",), attention="latent", output_bias="attention_bias"),
    Family("DeepSeek-V3 and Kimi K2", ("deepseek_v3", "kimi_k2"), attention="latent", output_bias="attention_bias", correction_bias=True),
    Family("DeepSeek-V3.2", ("deepseek_v32",), attention="latent", output_bias="attention_bias", correction_bias=True, extras="indexer"),
    Family("GLM-5", ("glm_moe_dsa",), attention="latent", output_bias="attention_bias", correction_bias=True, extras="indexer"),
    Family("GLM-4.7-Flash", ("glm4_moe_lite",), attention="latent", output_bias="attention_bias", correction_bias=True),
    Family("Mistral Small 4", ("mistral4",), attention="latent", output_bias="attention_bias"),
    Family("Mistral Large 3", ("mistral_large3",), attention="latent"),
    Family("Sarvam MLA", ("sarvam_mla",), attention="latent", output_bias="attention_bias", correction_bias=True),
    Family("Youtu", ("youtu",), attention="latent", output_bias="attention_bias", tied=True),
    Family("DeepSeek-V4", ("deepseek_v4",), attention="compressed", sinks=True, correction_bias=True, extras="hyper_connections", plan="deepseek_v4",
           constants={"first_k_dense_replace": 0}),
    Family("GLM-4.5", ("glm4_moe", "glm4v_moe_text"), query_key_value_bias="attention_bias", query_key_norm="head", query_key_norm_if="use_qk_norm",
           correction_bias=True),
    Family("gpt-oss", ("gpt_oss",), query_key_value_bias="attention_bias", output_bias="attention_bias", sinks=True, router_bias=True, expert_bias=True,
           window_every=2, constants={"attention_bias": True}),
    Family("MiniMax-M2", ("minimax_m2",), query_key_norm="full", query_key_norm_if="use_qk_norm", correction_bias=True, constants={"use_qk_norm": True}),
    Family("MiniMax-M3", ("minimax_m3", "minimax_m3_vl_text"), query_key_norm="head", correction_bias=True, dense_width=("dense_intermediate_size",),
           expert_width=("intermediate_size",), prepare="minimax_m3", extras="block_indexer"),
    Family("OLMoE", ("olmoe",), query_key_value_bias="attention_bias", output_bias="attention_bias", query_key_norm="full"),
    Family("FlexOlmo", ("flex_olmo",), query_key_value_bias="attention_bias", output_bias="attention_bias", query_key_norm="full"),
    Family("Grok-1", ("grok-1", "grok1", "grok"), layer_norms=4, tied=True),
    Family("DBRX", ("dbrx",), norm="layer_no_bias", prepare="dbrx"),
    Family("Granite MoE", ("granitemoe", "granitemoeshared"), query_key_value_bias="attention_bias", output_bias="attention_bias",
           expert_width=("intermediate_size",)),
    Family("ERNIE 4.5 MoE", ("ernie4_5_moe",), query_key_value_bias="use_bias", output_bias="use_bias", feed_forward_bias="use_bias", tied=True,
           correction_bias=True),
    Family("dots.llm1", ("dots1",), query_key_value_bias="attention_bias", output_bias="attention_bias", query_key_norm="head", correction_bias=True),
    Family("Ling and Ring", ("bailing_moe", "bailing_moe_v2"), query_key_value_bias="use_qkv_bias", output_bias="use_bias", query_key_norm="head",
           query_key_norm_if="use_qk_norm", correction_bias="moe_router_enable_expert_bias", prepare="bailing"),
    Family("Trinity", ("afmoe",), layer_norms=4, query_key_norm="head", gate="full", correction_bias=True, window_every=4),
    Family("K-EXAONE", ("exaone_moe",), query_key_norm="head", correction_bias=True, window_every=4),
    Family("Hunyuan MoE", ("hunyuan_v1_moe",), query_key_value_bias="attention_bias", output_bias="attention_bias", query_key_norm="head",
           expert_width=("moe_intermediate_size", "intermediate_size"), constants={"num_shared_experts": 1}),
    Family("Hunyuan 3", ("hy_v3",), query_key_norm="head", correction_bias=True),
    Family("Llama 4 (text)", ("llama4_text",), query_key_value_bias="attention_bias", output_bias="attention_bias", expert_width=("intermediate_size",),
           dense_width=("intermediate_size_mlp",), constants={"num_shared_experts": 1}, plan="llama4"),
    Family("MiMo-V2", ("mimo_v2_flash",), query_key_value_bias="attention_bias", attention="split_values", prepare="mimo_v2", correction_bias=True,
           expert_width=("moe_intermediate_size",), plan="mimo_v2"),
    Family("Gemma 4", ("gemma4_text",), layer_norms=4, query_key_value_bias="attention_bias", output_bias="attention_bias", attention="gemma4", tied=True,
           window_every=6, extras="gemma4", plan="gemma4"),
    Family("Gemma 3n", ("gemma3n_text",), layer_norms=4, attention="gemma4", tied=True, window_every=5, extras="gemma3n", plan="gemma4"),
    Family("Muse Spark (text)", ("muse_spark_text",), layer_norms=3, gate="full", extras="muse_spark", plan="uniform", constants={"expert_latent_key": "moe_hidden_size"}),
    Family("LongCat-Flash", ("longcat_flash",), attention="latent", layer_norms=4, plan="longcat", extras="longcat", correction_bias=True, prepare="longcat"),
)
