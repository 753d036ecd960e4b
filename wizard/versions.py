"""What a design names so that a replay can tell what changed: tool version, catalog hash, rules hash, date."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wizard import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog

SHARED = "prices, costs and budget were taken out before this design was shared; a replay finds them again from the catalog's own prices"
"""The note of a design file without prices; one that is derived again has prices, and no longer the note."""


@lru_cache(maxsize=1)
def rules_hash() -> str:
    """Return a hash of the source of all rules and formulas."""
    import rules

    folder = Path(rules.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def meta_of(name: str, catalog: Catalog, earlier: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the meta table of a design; the date of an `earlier` meta table is kept."""
    meta = {"name": name, "created": (earlier or {}).get("created") or today()}
    meta |= {key: value for key, value in (earlier or {}).items() if key == "notes" and value != SHARED}
    return meta | {"tool_version": __version__, "catalog_hash": catalog.version, "rules_hash": rules_hash()}


def is_shared(meta: Mapping[str, Any]) -> bool:
    """Return whether a design file was written without prices, to be shown to others."""
    return meta.get("notes") == SHARED


def today() -> str:
    """Return the day by the clock, or by SOURCE_DATE_EPOCH where it is set [reproducible-builds.org]."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    except (OverflowError, ValueError, OSError):  # no year that a date can have
        moment = datetime.now(UTC)
    return moment.date().isoformat()
