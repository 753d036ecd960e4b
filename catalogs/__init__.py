"""Facts about the world: products, prices, models, thresholds and their sources, loaded from TOML."""

from __future__ import annotations

from catalogs.loading import Catalog, CatalogError, load_catalog

__all__ = ["Catalog", "CatalogError", "load_catalog"]
