"""What a published recipe says of a run whose table leaves it out: recomputation, exchange of experts, adapters.

Recipes are facts of the catalog, read in the code that ran. What a row states itself comes first; nothing measured is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.loading import plain
from wizard.imports.run_words import precision_of

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Recipe
    from wizard.imports.run_rows import RunRow

FILLED = ("recompute", "exchange", "workload", "fused_experts")
"""Settings that a recipe can fill in."""


def with_recipe(row: RunRow, gpu: str, catalog: Catalog) -> tuple[RunRow, tuple[str, ...]]:
    """Return the row with what recipes of its table say, and notes that name it. `gpu` is the id of its GPU in the catalog, or ""."""
    table = row.text("table").lower()
    filled: dict[str, str | bool] = {}
    if table:
        for recipe in catalog.recipes:
            if recipe.table in table and _is_of(recipe, row, gpu):
                stated = {key: getattr(recipe, key) for key in FILLED}
                filled = {key: value for key, value in stated.items() if value is not None and key not in row.values} | filled
    if not filled:
        return row, ()
    told = ", ".join(f"{key} {str(value).lower()}" for key, value in filled.items())
    return replace(row, values={**row.values, **filled}), (f"not stated: {told}, as in the published recipe of such runs",)


def _is_of(recipe: Recipe, row: RunRow, gpu: str) -> bool:
    precision = precision_of(row.text("precision"))
    return (
        (not recipe.models or plain(row.text("model")) in map(plain, recipe.models))
        and (not recipe.gpus or gpu in recipe.gpus)
        and (not recipe.precisions or (precision is not None and precision.name in recipe.precisions))
        and recipe.seq_len in (None, row.count("seq_len"))
        and recipe.micro_batch in (None, row.count("micro_batch"))
        and (recipe.gpus_to is None or (row.count("gpus") or 0) <= recipe.gpus_to)
        and (recipe.expert_from is None or (row.count("ep") or 1) >= recipe.expert_from)
    )
