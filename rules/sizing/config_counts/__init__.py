"""Counting the model that a Hugging Face config.json describes."""

from rules.sizing.config_counts.count import ConfigCount, count_config
from rules.sizing.config_counts.reader import ConfigError, UnsupportedModelError

__all__ = ["ConfigCount", "ConfigError", "UnsupportedModelError", "count_config"]
