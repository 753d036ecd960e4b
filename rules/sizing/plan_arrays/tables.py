"""Columns of values that few different arguments decide: each value is worked out once and spread over the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Reals = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]


def spread(keys: Sequence[Whole], value: Callable[[int], Sequence[float]]) -> Reals:
    """Return a table of shape (values, rows): `value(row)` gives them for one row, and is called once for rows with equal `keys`.

    Raises ValueError without rows.
    """
    if not len(keys[0]):
        raise ValueError("expected at least one row")
    code = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        code = code * (int(key.max()) + 1) + key
    _, first, where = np.unique(code, return_index=True, return_inverse=True)
    made = np.array([value(int(row)) for row in first], dtype=np.float64)
    return np.ascontiguousarray(made[where].T)
