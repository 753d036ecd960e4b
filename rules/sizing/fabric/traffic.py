"""What the plan asks of the network: bytes between scale-up domains, the time they may hide in, and what a slower network costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.exposure import TUNED

if TYPE_CHECKING:
    from rules.candidate import Candidate

HIDING_SHARE = TUNED.hidden
"""Share of a step's computing time behind which exchanges can hide, as the step time is estimated (`rules.sizing.exposure`)."""
_IDLE_TERMS = ("pipeline_bubble",)


@dataclass(frozen=True)
class Traffic:
    """One step's traffic of one GPU between scale-up domains. `budget_s` is the computing time that it may hide in."""

    gigabytes: float
    step_s: float
    budget_s: float
    exposed_share: float
    message_mib: float

    @property
    def needed_gbps(self) -> float:
        """Return the rate in Gb/s per GPU at which all of it hides behind computing; 0 where nothing is sent."""
        return 8.0 * self.gigabytes / self.budget_s if self.budget_s > 0 and self.gigabytes > 0 else 0.0

    def seconds_at(self, gbps: float) -> float:
        """Return the seconds that it takes at `gbps` Gb/s per GPU; 0 where nothing is sent."""
        return 8.0 * self.gigabytes / gbps if gbps > 0 and self.gigabytes > 0 else 0.0

    def slower_at(self, gbps: float) -> float:
        """Return by which share of the step its traffic outlasts the computing that could hide it, at `gbps` Gb/s per GPU."""
        return max(0.0, self.seconds_at(gbps) - self.budget_s) / self.step_s if self.step_s > 0 else 0.0


NO_TRAFFIC = Traffic(0.0, 0.0, 0.0, 0.0, 0.0)


def traffic_of(candidate: Candidate) -> Traffic:
    """Return the traffic of the candidate's plan; none where no plan was found."""
    if candidate.choice is None:
        return NO_TRAFFIC
    step = candidate.choice.step
    total = magnitude(step.expected, "s")
    idle = sum(magnitude(step.terms[name], "s") for name in _IDLE_TERMS if name in step.terms)
    budget = HIDING_SHARE * max(0.0, total * (1.0 - step.exposed_share) - idle)
    return Traffic(
        magnitude(step.inter_node_bytes_per_gpu, "GB"),
        total,
        budget,
        step.exposed_share,
        magnitude(step.largest_message, "MiB"),
    )
