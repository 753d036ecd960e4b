"""Values that are kept between calls, by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

Kind = TypeVar("Kind")


class Kept(Generic[Kind]):
    """Values by key, at most `most`; then the older half goes. Threads may share it: at worst a value is worked out twice."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: dict[Hashable, Kind] = {}

    def get(self, key: Hashable) -> Kind | None:
        """Return the value of a key, None where none is kept."""
        return self._values.get(key)

    def put(self, key: Hashable, value: Kind) -> Kind:
        """Keep a value and return it."""
        if len(self._values) >= self.most:
            for old in list(self._values)[: self.most // 2]:
                self._values.pop(old, None)
        self._values[key] = value
        return value

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
