"""Checkpoints: how often, how long each stops the training, and the write rate that storage must offer.

A synchronous checkpoint stops the training while it is written. An asynchronous one stops it only while the state is copied to
host memory and is written in the background; a failure then also loses what was not yet written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import format_number
from rules.sizing.lookup import threshold_number

if TYPE_CHECKING:
    from catalogs import Catalog

LONGEST_INTERVAL_S = 3 * 3600.0
"""Nobody risks more than this much work, however rare failures are: BLOOM saved every three hours (BigScience tr11 log)."""
USUAL_INTERVAL_S = 900.0
"""Where storage is fast enough, checkpoints are taken this often: what 16,000 H100 were run with (VAST, one tenth of 150 minutes)."""
HOST_COPY_BYTES_PER_S = 25e9
"""Copy from GPU to pinned host memory, per GPU: lower end of 25 to 50 GB/s that PCIe 4.0 and 5.0 reach."""
DRAIN_SHARE = 0.1
"""Share of the interval in which a background write should finish: the median run takes 3.6 of 40 minutes (VAST, 85,000 checkpoints)."""


@dataclass(frozen=True)
class CheckpointPlan:
    """How checkpoints are taken. Times in seconds, rates in bytes per second of the whole cluster.

    `mode` is synchronous or asynchronous; `pause` is what one checkpoint stops the training for, `write` how long its writing takes,
    `lost` the work that an average failure throws away. `needed` is the write rate of the chosen mode.
    """

    mode: str
    size_bytes: float
    interval: float
    pause: float
    write: float
    needed: float
    needed_synchronous: float
    needed_asynchronous: float

    @property
    def stall_share(self) -> float:
        """Return the share of time that checkpoints stop the training, 0 to 1."""
        return self.pause / (self.interval + self.pause)

    @property
    def lost(self) -> float:
        """Return the seconds of work that an average failure throws away: half an interval, and a background write."""
        return self.interval / 2 + (self.write if self.mode == "asynchronous" else 0.0)


def in_words(seconds: float) -> str:
    """Return a time as people say it, with three digits: "14 ms", "12.7 s", "7.42 min", "3.09 h", "264 days"."""
    for most, scale, unit in ((1.0, 1e-3, "ms"), (120.0, 1.0, "s"), (5400.0, 60.0, "min"), (172_800.0, 3600.0, "h")):
        if seconds < most:
            return f"{format_number(seconds / scale, 3)} {unit}"
    return f"{format_number(seconds / 86_400.0, 3)} days"


def rate_in_words(bytes_per_s: float) -> str:
    """Return a rate in bytes per second as people say it, with three digits: "59.7 kB/s", "11.8 MB/s", "43 GB/s", "1.2 TB/s"."""
    for most, scale, unit in ((1e6, 1e3, "kB/s"), (1e9, 1e6, "MB/s"), (1e12, 1e9, "GB/s")):
        if bytes_per_s < most:
            return f"{format_number(bytes_per_s / scale, 3)} {unit}"
    return f"{format_number(bytes_per_s / 1e12, 3)} TB/s"


def young_interval(pause_s: float, mtbf_s: float) -> float:
    """Return the interval between checkpoints, in seconds, that wastes least: √(2·pause·MTBF).

    Source: Young, "A first order approximation to the optimum checkpoint interval", CACM 17 (1974).
    """
    return math.sqrt(2.0 * pause_s * mtbf_s)


def daly_interval(pause_s: float, mtbf_s: float) -> float:
    """Return the higher-order optimum interval in seconds; the MTBF itself where a pause takes twice the MTBF or more.

    Source: Daly, "A higher order estimate of the optimum checkpoint interval", Future Generation Computer Systems 22 (2006), eq. 37.
    """
    if pause_s >= 2.0 * mtbf_s:
        return mtbf_s
    ratio = pause_s / (2.0 * mtbf_s)
    return young_interval(pause_s, mtbf_s) * (1.0 + math.sqrt(ratio) / 3.0 + ratio / 9.0) - pause_s


def daly_goodput(interval_s: float, pause_s: float, restart_s: float, mtbf_s: float) -> float:
    """Return the share of time that makes progress, 0 to 1, with failures at random also during pauses and restarts.

    `interval_s` of work, then `pause_s` of checkpoint; after a failure `restart_s` and the lost work. Source: Daly 2006, eq. 20.
    """
    if interval_s <= 0.0 or mtbf_s <= 0.0:
        raise ValueError(f"an interval of {interval_s} s and an MTBF of {mtbf_s} s give no goodput: both must be positive")
    exponent = (interval_s + pause_s) / mtbf_s
    if exponent + restart_s / mtbf_s > 500.0:
        return 0.0
    return interval_s / mtbf_s / (math.exp(restart_s / mtbf_s) * math.expm1(exponent))


def effective_training_time_ratio(interval_s: float, pause_s: float, restart_s: float, mtbf_s: float) -> float:
    """Return the effective training time ratio, 0 to 1, by the first-order formula of Kokolis et al.

    Each failure costs the restart and half an interval, each interval a pause. Source: arXiv:2410.21680, expected ETTR.
    """
    lost = (restart_s + interval_s / 2.0) / mtbf_s
    return max(0.0, (1.0 - lost) / (1.0 + pause_s / interval_s))


def plan_checkpoints(
    size_bytes: float,
    gpus: int,
    mtbf_s: float,
    catalog: Catalog,
    *,
    usual_write: float = 0.0,
    offered_write: float | None = None,
    run_s: float | None = None,
    mode: str = "any",
) -> CheckpointPlan:
    """Return how checkpoints of `size_bytes` are taken on `gpus` GPUs whose job fails every `mtbf_s` seconds.

    Synchronous writing is simpler and is chosen where the rate it needs is no more than `usual_write` (bytes per second, what storage of
    this cluster offers anyway); otherwise the background. `offered_write` is the rate of storage that was chosen, where known.
    A run of `run_s` seconds, where its length is known, saves at its end at the latest. `mode` is "synchronous" or "asynchronous" where
    one of them was asked for.
    """
    share = threshold_number(catalog.thresholds, "sto-ckpt-bw", "stall_share_high_percent") / 100.0
    most = threshold_number(catalog.thresholds, "sto-global-ckpt-cap") * 1e12
    synchronous = size_bytes / min(2.0 * mtbf_s * share**2, share * LONGEST_INTERVAL_S)
    interval = min(2.0 * share * mtbf_s, LONGEST_INTERVAL_S)
    longest = min(LONGEST_INTERVAL_S, run_s) if run_s else LONGEST_INTERVAL_S
    asynchronous = min(size_bytes / (DRAIN_SHARE * interval), most)
    if mode == "synchronous" or (mode == "any" and synchronous <= usual_write):
        pause = size_bytes / (offered_write or max(synchronous, usual_write))
        interval = max(min(young_interval(pause, mtbf_s), longest), pause)
        return CheckpointPlan("synchronous", size_bytes, interval, pause, pause, synchronous, synchronous, asynchronous)
    pause = size_bytes / gpus / HOST_COPY_BYTES_PER_S
    write = size_bytes / (offered_write or asynchronous)
    if offered_write:
        interval = min(interval, max(write / DRAIN_SHARE, USUAL_INTERVAL_S))
    interval = max(min(max(interval, young_interval(pause, mtbf_s)), longest), write)
    return CheckpointPlan("asynchronous", size_bytes, interval, pause, write, asynchronous, synchronous, asynchronous)
