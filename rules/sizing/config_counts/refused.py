"""Kinds of models that are not counted, with the reason, so that none is answered wrong in silence."""

from __future__ import annotations

REFUSED: dict[str, str] = {
    "rwkv": "RWKV mixes time by its own recurrence",
    "rwkv5": "RWKV mixes time by its own recurrence",
    "rwkv6": "RWKV mixes time by its own recurrence",
    "rwkv7": "RWKV mixes time by its own recurrence",
    "xlstm": "xLSTM layers are recurrent cells",
    "retnet": "RetNet layers retain instead of attending",
    "recurrent_gemma": "RecurrentGemma alternates attention with linear recurrent units",
    "griffin": "Griffin has linear recurrent units",
    "zamba": "Zamba shares one attention block among Mamba layers",
    "zamba2": "Zamba2 shares attention blocks among Mamba layers",
    "stripedhyena": "StripedHyena has long convolutions",
    "evo": "Evo has long convolutions",
    "hyena": "Hyena has long convolutions",
    "bailing_hybrid": "Ling hybrid has linear attention of its own kind",
    "bailing_moe_linear": "Ling linear has linear attention of its own kind",
    "kimi_k3": "Kimi K3 has linear attention and experts in a latent space",
    "qwen4_exp": "Qwen4 has linear attention of its own kind",
    "deepseek_v41": "the attention of DeepSeek-V4.1 is not in the tables",
    "gemma3n": "the vision tower is a MobileNet, a convolutional network",
    "llada": "LLaDA is a diffusion language model",
    "LLaDAModel": "LLaDA is a diffusion language model",
    "Dream": "Dream is a diffusion language model",
    "diffusion_gemma": "it is a diffusion language model",
    "resnet": "it is a convolutional network",
    "convnext": "it is a convolutional network",
    "convnextv2": "it is a convolutional network",
    "efficientnet": "it is a convolutional network",
    "mobilenet_v2": "it is a convolutional network",
    "unet": "it is a convolutional network",
    "swin": "Swin merges patches between stages of different width",
    "swinv2": "Swin merges patches between stages of different width",
    "deci": "its layers differ in heads one by one",
    "nemotron-nas": "its layers were searched one by one and differ in heads and widths",
    "albert": "ALBERT uses one layer many times",
    "hrm_text": "it uses its layers many times",
    "doge": "Doge retrieves experts from product keys",
    "jetmoe": "JetMoe routes attention heads",
    "moshi": "Moshi joins two decoders over sound",
    "udop": "UDOP is an encoder-decoder over documents",
    "modernbert-decoder": "ModernBERT joins gate and input in one width",
    "rembert": "RemBERT has embeddings of two widths",
    "xmod": "X-MOD has an adapter per language",
    "roc_bert": "RoCBert has three embeddings",
    "bitnet": "BitNet stores ternary weights",
}
STATE_KEYS = (
    "ssm_cfg", "ssm_state_size", "state_size", "mamba_d_state", "mamba_num_heads", "mamba_n_heads", "d_state", "linear_attn_config",
    "linear_num_key_heads", "linear_key_head_dim", "time_mix_key", "lru_width", "conv_L_cache", "attn_type_list", "hybrid_override_pattern",
    "layers_block_type", "recurrent_block_type", "block_types", "retention_heads", "rwkv_head_size",
)  # fmt: skip
"""Keys that tell of layers other than attention."""
TOWER_KEYS = (
    "text_config", "llm_config", "vision_config", "audio_config", "visual", "vision_tower", "mm_vision_tower", "speech_config",
    "talker_config", "thinker_config",
)  # fmt: skip
"""Keys that tell of further models inside the model."""
