"""The defaults of a model's configuration class, by model_type, of text models and towers together."""

from __future__ import annotations

from typing import Any

from rules.sizing.config_counts.defaults_dense import DENSE_DEFAULTS
from rules.sizing.config_counts.defaults_experts import EXPERT_DEFAULTS
from rules.sizing.config_counts.defaults_towers import TOWER_DEFAULTS

CLASS_DEFAULTS: dict[str, dict[str, Any]] = {**DENSE_DEFAULTS, **EXPERT_DEFAULTS, **TOWER_DEFAULTS}
