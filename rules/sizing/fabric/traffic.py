"""What the plan asks of the network: bytes between scale-up domains, the time they may hide in, and what a slower network costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from catalogs.sums import plain_sum
from rules.sizing.exposure import TUNED
from rules.sizing.hardware import BITS_PER_BYTE, GIGA
from rules.sizing.site_measured import site_hardware
from rules.sizing.step import estimate_step

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.hardware import Hardware

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


NO_TRAFFIC = Traffic(0.0, 0.0, 0.0, 0.0, 0.0)


def traffic_of(candidate: Candidate) -> Traffic:
    """Return the traffic of the candidate's plan; none where no plan was found."""
    if candidate.choice is None:
        return NO_TRAFFIC
    step = candidate.choice.step
    total = magnitude(step.expected, "s")
    idle = plain_sum(magnitude(step.terms[name], "s") for name in _IDLE_TERMS if name in step.terms)
    return Traffic(
        magnitude(step.inter_node_bytes_per_gpu, "GB"),
        total,
        HIDING_SHARE * max(0.0, total * (1.0 - step.exposed_share) - idle),
        step.exposed_share,
        magnitude(step.largest_message, "MiB"),
    )


class StepAtRate:
    """The step time of the candidate's plan on a network of another rate, by the same model that rated the plan."""

    def __init__(self, candidate: Candidate, context: Context, traffic: Traffic) -> None:
        self._candidate, self._context, self._traffic = candidate, context, traffic
        self._hardware: Hardware | None = None

    @property
    def hardware(self) -> Hardware:
        """Return the hardware that the plan was rated with."""
        if self._hardware is None:
            self._hardware = site_hardware(self._candidate.node, self._candidate.gpu, self._context)
        return self._hardware

    def longer(self, gbps: float) -> float:
        """Return by which share the step is longer at `gbps` Gb/s per GPU than it was rated; negative where it is shorter."""
        rate = gbps * GIGA / BITS_PER_BYTE / self.hardware.devices
        return self._longer(replace(self.hardware, nic_bytes_per_s=rate)) if gbps > 0 else 0.0

    def longer_at_floor(self, factor: float) -> float:
        """Return by which share the step is longer where an empty message between nodes takes `factor` times as long."""
        hardware = self.hardware
        return self._longer(replace(hardware, network_latency_s=factor * hardware.network_latency_s))

    def _longer(self, hardware: Hardware) -> float:
        candidate, traffic = self._candidate, self._traffic
        if candidate.choice is None or traffic.gigabytes <= 0 or traffic.step_s <= 0:
            return 0.0
        step = estimate_step(self._context.workload, candidate.choice.plan, hardware)
        return magnitude(step.expected, "s") / traffic.step_s - 1.0
