"""What stands in for missing answers about a training run, each with the published practice that it follows."""

from __future__ import annotations

LONGEST_DEFAULT_SEQUENCE = 8192
"""Sequence length of Llama 3's main pretraining stage [arXiv:2407.21783 §3.4.1]; longer contexts are trained in short later stages."""
PRETRAINING_BATCH_TOKENS = ((1e9, 0.5e6), (5e9, 1e6), (150e9, 4e6), (float("inf"), 16e6))
"""(up to this many parameters, tokens per step): GPT-3 table 2.1 [arXiv:2005.14165] for small models, 4 million for Llama 2 of every
size [arXiv:2307.09288 table 1], 16 million for Llama 3 405B [arXiv:2407.21783 §3.4.1]."""
MIXTURE_FROM_PARAMETERS = 100e9
MIXTURE_BATCH_TOKENS = 63e6
"""Tokens per step of large mixtures of experts: 15,360 sequences of 4,096 in DeepSeek-V3 [arXiv:2412.19437 §4.2]."""
FINE_TUNING_BATCH = 128
"""Sequences per step of Stanford Alpaca and Vicuna [their training recipes]; Llama 2 used 64 [arXiv:2307.09288 §3.1]."""
VISION_BATCH = 4096
"""Images per step of vision transformers on ImageNet [arXiv:2010.11929 table 3]; ResNet-50 keeps its accuracy up to 8,192
[Goyal 2017, arXiv:1706.02677]."""
RECOMMENDATION_BATCH = 65_536
"""Samples per step of DLRM on Criteo 1TB [NVIDIA DeepLearningExamples, DLRM_and_DCNv2; MLPerf Training]."""

TOKENS_PER_PARAMETER = 20.0
"""Tokens per (active) parameter that use a compute budget best [Hoffmann 2022, arXiv:2203.15556 table 3]; the least that a
pretraining run should plan for."""
FINE_TUNING_TOKENS = 2 * 27_540 * 4096.0
"""Two epochs over 27,540 examples in sequences of 4,096 tokens: the supervised fine-tuning of Llama 2 [arXiv:2307.09288 §3.1]."""
IMAGENET_IMAGES = 1_281_167
IMAGENET_EPOCHS = 90
"""Training images and epochs of ImageNet-1k [Russakovsky 2015, arXiv:1409.0575; Goyal 2017]."""
CRITEO_SAMPLES = 4.195e9
"""Training samples of Criteo 1TB, one epoch [MLPerf Training, recommendation]."""

SHORT_TOKEN_VOCABULARY = 65_500
SHORT_TOKEN_BYTES, LONG_TOKEN_BYTES = 2.0, 4.0
"""A stored token takes two bytes where the vocabulary fits 16 bits, else four [Megatron Core, indexed_dataset.optimal_dtype]."""
IMAGENET_IMAGE_BYTES = 110e3
"""Mean size of an ImageNet-1k training image: 138 to 148 GB over 1.28 million images [ILSVRC 2012 archive]."""
CRITEO_SAMPLE_BYTES = 160.0
"""A Criteo sample in binary form: label, 13 numbers and 26 indices of four bytes each [NVIDIA DeepLearningExamples, DLRM]."""
