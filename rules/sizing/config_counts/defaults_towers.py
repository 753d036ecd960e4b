"""Defaults of the classes of vision towers, encoders and encoder-decoders, by model_type.

Source: the configuration classes of Hugging Face transformers 5.24. A saved file may leave out what equals the default, above all in
the tables inside; sizes that may be null (heads' width, low ranks, windows) are only here where the class fixes them.
"""

from __future__ import annotations

from typing import Any

TOWER_DEFAULTS: dict[str, dict[str, Any]] = {
    "clip_vision_model": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "patch_size": 32, "image_size":
        224, "num_channels": 3, "projection_dim": 512,
    },
    "siglip_vision_model": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "patch_size": 16, "image_size":
        224, "num_channels": 3, "vision_use_head": True,
    },
    "siglip2_vision_model": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "patch_size": 16,
        "num_channels": 3, "vision_use_head": True,
    },
    "idefics3_vision": {
        "hidden_size": 1152, "num_hidden_layers": 12, "num_attention_heads": 16, "intermediate_size": 3072, "patch_size": 32,
        "image_size": 224, "num_channels": 3,
    },
    "smolvlm_vision": {
        "hidden_size": 1152, "num_hidden_layers": 12, "num_attention_heads": 16, "intermediate_size": 3072, "patch_size": 32,
        "image_size": 224, "num_channels": 3,
    },
    "pixtral": {
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "patch_size": 16,
        "image_size": 1024, "num_channels": 3,
    },
    "qwen2_vl_vision": {
        "hidden_size": 3584, "num_heads": 16, "patch_size": 14, "in_channels": 3, "depth": 32, "embed_dim": 1280, "mlp_ratio": 4,
        "spatial_merge_size": 2, "temporal_patch_size": 2,
    },
    "qwen2_5_vl_vision": {
        "hidden_size": 3584, "num_heads": 16, "intermediate_size": 3420, "patch_size": 14, "in_channels": 3, "depth": 32,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584,
    },
    "qwen3_vl_vision": {
        "hidden_size": 1152, "num_heads": 16, "intermediate_size": 4304, "patch_size": 16, "in_channels": 3, "depth": 27,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584, "num_position_embeddings": 2304,
    },
    "qwen3_vl_moe_vision": {
        "hidden_size": 1152, "num_heads": 16, "intermediate_size": 4304, "patch_size": 16, "in_channels": 3, "depth": 27,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584, "num_position_embeddings": 2304,
    },
    "qwen3_5_vision": {
        "hidden_size": 1152, "num_heads": 16, "intermediate_size": 4304, "patch_size": 16, "in_channels": 3, "depth": 27,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584, "num_position_embeddings": 2304,
    },
    "qwen3_5_moe_vision": {
        "hidden_size": 1152, "num_heads": 16, "intermediate_size": 4304, "patch_size": 16, "in_channels": 3, "depth": 27,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584, "num_position_embeddings": 2304,
    },
    "gemma4_vision": {
        "hidden_size": 768, "num_hidden_layers": 16, "num_attention_heads": 12, "num_key_value_heads": 12, "intermediate_size": 3072,
        "head_dim": 64, "patch_size": 16, "position_embedding_size": 10240,
    },
    "mllama_vision_model": {
        "hidden_size": 1280, "num_hidden_layers": 32, "intermediate_size": 5120, "patch_size": 14, "image_size": 448, "num_channels": 3,
    },
    "kimi_k25_vision": {
        "hidden_size": 1152, "num_hidden_layers": 27, "num_attention_heads": 16, "intermediate_size": 4304, "patch_size": 14,
        "pos_emb_height": 64, "pos_emb_width": 64,
    },
    "glm4v_vision": {
        "hidden_size": 1536, "num_heads": 12, "intermediate_size": 13696, "patch_size": 14, "image_size": 336, "in_channels": 3, "depth":
        24, "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 4096,
    },
    "glm4v_moe_vision": {
        "hidden_size": 1536, "num_heads": 12, "intermediate_size": 13696, "patch_size": 14, "image_size": 336, "in_channels": 3, "depth":
        24, "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 4096,
    },
    "internvl_vision": {
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "num_channels": 3,
    },
    "llama4_vision_model": {
        "hidden_size": 768, "num_hidden_layers": 34, "num_attention_heads": 16, "intermediate_size": 5632, "patch_size": 14, "image_size":
        448, "num_channels": 3,
    },
    "minimax_m3_vl_vision": {
        "hidden_size": 1280, "num_hidden_layers": 32, "num_attention_heads": 16, "intermediate_size": 5120, "patch_size": 14,
        "image_size": 2016, "num_channels": 3, "spatial_merge_size": 2, "temporal_patch_size": 2,
    },
    "muse_glimmer_vision": {
        "hidden_size": 1536, "num_hidden_layers": 50, "num_attention_heads": 16, "intermediate_size": 8960, "max_position_embeddings":
        1024, "patch_size": 14, "pos_emb_height": 32, "pos_emb_width": 32,
    },
    "muse_spark_vision": {
        "hidden_size": 1536, "num_hidden_layers": 50, "num_attention_heads": 16, "intermediate_size": 8960, "max_position_embeddings":
        1024, "patch_size": 14, "pos_emb_height": 32, "pos_emb_width": 32,
    },
    "clip_text_model": {
        "vocab_size": 49408, "hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8, "intermediate_size": 2048,
        "max_position_embeddings": 77, "projection_dim": 512,
    },
    "siglip_text_model": {
        "vocab_size": 32000, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 64,
    },
    "bert": {
        "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 512, "type_vocab_size": 2,
    },
    "roberta": {
        "vocab_size": 50265, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 512, "type_vocab_size": 2,
    },
    "xlm-roberta": {
        "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 512, "type_vocab_size": 2,
    },
    "camembert": {
        "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 512, "type_vocab_size": 2,
    },
    "distilbert": {
        "vocab_size": 30522, "n_layers": 6, "max_position_embeddings": 512,
    },
    "electra": {
        "vocab_size": 30522, "hidden_size": 256, "num_hidden_layers": 12, "num_attention_heads": 4, "intermediate_size": 1024,
        "max_position_embeddings": 512, "type_vocab_size": 2, "embedding_size": 128,
    },
    "vit": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "qkv_bias": True, "patch_size":
        16, "image_size": 224, "num_channels": 3,
    },
    "deit": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "qkv_bias": True, "patch_size":
        16, "image_size": 224, "num_channels": 3,
    },
    "dinov2": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "qkv_bias": True, "patch_size": 14, "image_size": 224,
        "num_channels": 3, "mlp_ratio": 4,
    },
    "dinov2_with_registers": {
        "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "qkv_bias": True, "patch_size": 16, "image_size": 224,
        "num_channels": 3, "mlp_ratio": 4,
    },
    "t5": {
        "vocab_size": 32128, "d_model": 512, "num_layers": 6, "num_heads": 8, "d_ff": 2048, "d_kv": 64,
    },
    "mt5": {
        "vocab_size": 250112, "d_model": 512, "num_layers": 8, "num_heads": 6, "d_ff": 1024, "d_kv": 64,
    },
    "umt5": {
        "vocab_size": 250112, "d_model": 512, "num_layers": 8, "num_heads": 6, "d_ff": 1024, "d_kv": 64,
    },
    "whisper": {
        "vocab_size": 51865, "d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536,
        "num_mel_bins": 80, "max_source_positions": 1500, "max_target_positions": 448,
    },
    "bart": {
        "vocab_size": 50265, "d_model": 1024, "max_position_embeddings": 1024, "encoder_layers": 12, "decoder_layers": 12,
        "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
    },
    "mbart": {
        "vocab_size": 50265, "d_model": 1024, "max_position_embeddings": 1024, "encoder_layers": 12, "decoder_layers": 12,
        "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
    },
}  # fmt: skip
