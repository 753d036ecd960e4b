"""Names of facts, figures and design keys in words: what a number means, from the declarations of the stages."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from wizard.preferences import in_units, written
from wizard.shown import choice_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.findings import Stage

_FIGURES = {
    "gpus": "GPUs",
    "nodes": "nodes",
    "units": "machines or racks that are bought",
    "days": "days of the run",
    "step_s": "seconds of one step",
    "mfu": "model FLOPs utilisation",
    "memory_gib": "memory on the fullest GPU, GiB",
    "memory_capacity_gib": "memory of one GPU, GiB",
    "purchase_usd": "purchase, USD",
    "purchase_low_usd": "purchase at least, USD",
    "purchase_high_usd": "purchase at most, USD",
    "purchase_open": "parts without a price are left out",
    "ownership_usd": "purchase and energy, USD",
    "usd_per_million_units": "USD per million tokens or samples",
    "it_power_kw": "power of the equipment, kW",
    "total_power_kw": "power in all, kW",
    "racks": "racks",
}
"""The key figures of a candidate (`rules.design.Figures`) in words."""
_CODE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_DOLLARS = re.compile(r"(?<![\d,.])\d{5,}(?= USD\b)")
"""An amount that is long enough to be read in groups of three digits."""
_TAIL = re.compile(r"; .*|, (?:0|empty|none|negative) (?:where|without) .*")
"""What a meaning says of values that are absent; no reader of a value that is there needs it."""


_NAMED = ("adamw", "sgd", "pytorch", "jax", "tensorflow", "infiniband", "ethernet", "pcie", "nvswitch")
"""Choices of one word that have a name of their own."""


@lru_cache(maxsize=1)
def _facts() -> Mapping[tuple[Stage, str], str]:
    from rules.stages import all_stages

    return {(module.STAGE, each.name): each.meaning for module in all_stages() for each in module.FACTS}


@lru_cache(maxsize=1)
def _sections() -> Mapping[str, tuple[Stage, str]]:
    """Return, by key of a design section, the fact that it shows; keys that show no single fact are left out."""
    from rules.findings import Stage
    from rules.origins import origins_of, stage_of

    return {key: stage_of(entry, stage) for stage in Stage for key, entry in origins_of(stage).sections.items() if isinstance(entry, str)}


def words(name: str) -> str:
    """Return a name as words: "it_maximum" becomes "it maximum"."""
    return name.replace("_", " ")


def fact_meaning(stage: Stage, name: str) -> str:
    """Return what a number that a finding rests on means; its name as words where nothing declares it."""
    return _meaning((stage, name)) or _FIGURES.get(name, words(name))


def section_meaning(key: str) -> str:
    """Return what a key of a design section shows, "" where no fact stands for it alone."""
    fact = _sections().get(key)
    return "" if fact is None else _meaning(fact)


def _meaning(fact: tuple[Stage, str]) -> str:
    return _CODE.sub(lambda found: choice_label(found[0]), _TAIL.sub("", _facts().get(fact, "")))


def value_words(value: object) -> str:
    """Return a value of a design section as a person reads it: choices by their labels, codes as words, yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return written(f"{value:,}")
    text = str(value)
    if _CODE.fullmatch(text) or text in _NAMED:
        return choice_label(text)
    return in_units(_DOLLARS.sub(lambda found: f"{int(found[0]):,}", _CODE.sub(lambda found: choice_label(found[0]), text)))
