"""Defaults of the classes of text models whose layers are all alike, by model_type.

Source: the configuration classes of Hugging Face transformers 5.24. A saved file may leave out what equals the default, above all in
the tables inside; sizes that may be null (heads' width, low ranks, windows) are only here where the class fixes them.
"""

from __future__ import annotations

from typing import Any

DENSE_DEFAULTS: dict[str, dict[str, Any]] = {
    "llama": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
    },
    "gpt2": {
        "vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
    },
    "opt": {
        "vocab_size": 50272, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "ffn_dim": 3072,
        "max_position_embeddings": 2048, "enable_bias": True, "do_layer_norm_before": True,
    },
    "bloom": {
        "vocab_size": 250880, "hidden_size": 64, "n_layer": 2, "n_head": 8,
    },
    "gptj": {
        "vocab_size": 50400, "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_positions": 2048,
    },
    "codegen": {
        "vocab_size": 50400, "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_positions": 2048,
    },
    "gpt_neo": {
        "vocab_size": 50257, "hidden_size": 2048, "num_layers": 24, "num_heads": 16, "max_position_embeddings": 2048,
    },
    "gpt_neox": {
        "vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64, "intermediate_size": 24576,
        "attention_bias": True,
    },
    "gpt_bigcode": {
        "vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
    },
    "falcon": {
        "vocab_size": 65024, "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
    },
    "mpt": {
        "vocab_size": 50368, "d_model": 2048, "n_layers": 24,
    },
    "granite": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
    },
    "smollm3": {
        "vocab_size": 128256, "hidden_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4,
        "intermediate_size": 11008,
    },
    "arcee": {
        "vocab_size": 32000, "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 18432,
    },
    "helium": {
        "vocab_size": 48000, "hidden_size": 2560, "num_hidden_layers": 24, "num_attention_heads": 20, "num_key_value_heads": 20,
        "intermediate_size": 7040, "head_dim": 128,
    },
    "internlm3": {
        "vocab_size": 128512, "hidden_size": 4096, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 2,
        "intermediate_size": 10240, "head_dim": 128,
    },
    "mistral": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336,
    },
    "ministral": {
        "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336,
    },
    "ministral3": {
        "vocab_size": 131072, "hidden_size": 4096, "num_hidden_layers": 34, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "head_dim": 128,
    },
    "qwen2": {
        "vocab_size": 151936, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 22016,
    },
    "qwen3": {
        "vocab_size": 151936, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 22016, "head_dim": 128,
    },
    "gemma": {
        "vocab_size": 256000, "hidden_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
        "intermediate_size": 24576, "head_dim": 256,
    },
    "gemma2": {
        "vocab_size": 256000, "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "intermediate_size": 9216, "head_dim": 256,
    },
    "gemma3_text": {
        "vocab_size": 262208, "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "intermediate_size": 9216, "head_dim": 256,
    },
    "phi": {
        "vocab_size": 51200, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "intermediate_size": 8192,
    },
    "phi3": {
        "vocab_size": 32064, "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 8192,
    },
    "stablelm": {
        "vocab_size": 50304, "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 6912,
    },
    "starcoder2": {
        "vocab_size": 49152, "hidden_size": 3072, "num_hidden_layers": 30, "num_attention_heads": 24, "num_key_value_heads": 2,
        "intermediate_size": 12288, "use_bias": True,
    },
    "cohere": {
        "vocab_size": 256000, "hidden_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 64, "intermediate_size": 22528,
    },
    "cohere2": {
        "vocab_size": 256000, "hidden_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 64, "intermediate_size": 22528,
    },
    "olmo": {
        "vocab_size": 50304, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
    },
    "olmo2": {
        "vocab_size": 50304, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
    },
    "olmo3": {
        "vocab_size": 50304, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
    },
    "nemotron": {
        "vocab_size": 256000, "hidden_size": 6144, "num_hidden_layers": 32, "num_attention_heads": 48, "intermediate_size": 24576,
    },
    "persimmon": {
        "vocab_size": 262144, "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 64, "intermediate_size": 16384,
        "qk_layernorm": True,
    },
    "exaone4": {
        "vocab_size": 102400, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "intermediate_size": 16384,
    },
    "glm": {
        "vocab_size": 151552, "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "intermediate_size": 13696, "head_dim": 128, "attention_bias": True,
    },
    "glm4": {
        "vocab_size": 151552, "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "intermediate_size": 13696, "head_dim": 128, "attention_bias": True,
    },
    "glm4v_text": {
        "vocab_size": 151552, "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "intermediate_size": 13696,
    },
    "ernie4_5": {
        "vocab_size": 103424, "hidden_size": 1024, "num_hidden_layers": 18, "num_attention_heads": 16, "num_key_value_heads": 2,
        "intermediate_size": 3072, "head_dim": 128,
    },
    "seed_oss": {
        "vocab_size": 155136, "hidden_size": 4096, "num_hidden_layers": 64, "num_attention_heads": 80, "num_key_value_heads": 8,
        "intermediate_size": 27648, "head_dim": 128, "attention_bias": True,
    },
    "hunyuan_v1_dense": {
        "vocab_size": 290943, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
    },
    "apertus": {
        "vocab_size": 131072, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 14336,
    },
    "diffllama": {
        "vocab_size": 32000, "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "intermediate_size": 8192,
    },
    "muse_glimmer_text": {
        "vocab_size": 202048, "hidden_size": 6656, "num_hidden_layers": 52, "num_attention_heads": 32, "num_key_value_heads": 2,
        "intermediate_size": 19968, "head_dim": 128,
    },
    "hunyuan_v1_moe": {
        "vocab_size": 290943, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008,
        "num_experts": 1,
    },
    "gemma4_text": {
        "vocab_size": 262144, "hidden_size": 2304, "num_hidden_layers": 30, "num_attention_heads": 8, "num_key_value_heads": 4,
        "intermediate_size": 9216, "head_dim": 256, "vocab_size_per_layer_input": 262144, "hidden_size_per_layer_input": 256,
    },
    "gemma3n_text": {
        "vocab_size": 262400, "hidden_size": 2048, "num_hidden_layers": 35, "num_attention_heads": 8, "num_key_value_heads": 2,
        "intermediate_size": 16384, "head_dim": 256, "altup_num_inputs": 4, "laurel_rank": 64, "vocab_size_per_layer_input": 262144,
        "hidden_size_per_layer_input": 256,
    },
    "mllama_text_model": {
        "vocab_size": 128256, "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336,
    },
    "vaultgemma": {
        "vocab_size": 256000, "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "intermediate_size": 9216, "head_dim": 256,
    },
    "cwm": {
        "vocab_size": 128256, "hidden_size": 6144, "num_hidden_layers": 64, "num_attention_heads": 48, "num_key_value_heads": 8,
        "intermediate_size": 21504, "head_dim": 128,
    },
}  # fmt: skip
