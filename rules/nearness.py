"""How near a candidate that does not meet the answers is to meeting them: the one that misses the least is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from rules.answers import AnswerError

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Finding, Remedy

NO_NUMBER = 1.0
"""What a conflict counts that no number of an answer removes: as much as doubling one."""
POWER_CAP = "facility.gpu_power_cap"
DIGITS = 3


def missed(candidate: Candidate, context: Context) -> float:
    """Return by how much a candidate misses the answers: of each conflict the smallest step that a remedy asks for, summed up.

    A step is the share by which a number moves (2 kW to 3 kW is 0.5, and 3 kW to 2 kW too), so that limits of all kinds compare.
    """
    steps = (_step(each, candidate, context) for each in candidate.rejections)
    return float(f"{plain_sum(steps):.{DIGITS}g}")


def _step(conflict: Finding, candidate: Candidate, context: Context) -> float:
    found = (_share(remedy, candidate, context) for remedy in conflict.remedies if remedy.value)
    return min((share for share in found if share is not None), default=NO_NUMBER)


def _share(remedy: Remedy, candidate: Candidate, context: Context) -> float | None:
    """Return how far a remedy moves its number as a share, None where it is none; a cap of the GPUs is held against their maximum."""
    answers = context.answers
    start = answers.number(remedy.key) if answers.given(remedy.key) else None
    if start is None and remedy.key == POWER_CAP and candidate.gpu.power.maximum is not None:
        start = candidate.gpu.power.maximum.to("W")
    try:
        wanted = answers.with_value(remedy.key, remedy.value).number(remedy.key)
    except AnswerError:
        return None
    return max(wanted / start, start / wanted) - 1.0 if start and wanted else None
