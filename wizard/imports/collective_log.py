"""Logs of nccl-tests and rccl-tests: what a collective reached on which ranks, and the answers that follow from it.

Formats: nccl-tests from 2.0 (without a root column) to today, rccl-tests, with the prefixes that mpirun and Slurm put before lines
[NVIDIA/nccl-tests README and src/common.cu; ROCm/rccl-tests README]. A row ends in time, algorithm and bus bandwidth and a count of
errors, twice: out of place and in place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_CHARACTERS = 5_000_000
_RANK = re.compile(r"Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+\s+\[[^\]]*\]\s*(.*)")
_TEST = re.compile(r"\b(all_reduce|all_gather|reduce_scatter|alltoallv?|sendrecv|broadcast|reduce|gather|scatter|hypercube)_perf\b")
_TYPES = frozenset({"int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16"})
_TYPES |= {"fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"}
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d+)\s+FAILED")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_TAIL = 8
"""Columns that end a row: time, algorithm bandwidth, bus bandwidth, errors; out of place, then in place."""
HUNDREDTH = 0.01
SAME = 0.02
"""Bus over algorithm bandwidth tells the collective; both are rounded to a hundredth of a GB/s."""
SUPPORTED = "all_reduce"
LEAST_BYTES = 2**20
"""Messages below a mebibyte show latency, not bandwidth (a judgement): half of the bandwidth is reached at 16 to 256 MiB
[Azure AI-benchmarking-guide; CoreWeave nccl-tests]."""


class CollectiveLogError(ValueError):
    """A log that cannot be read; the text says why and what to do."""


@dataclass(frozen=True)
class Row:
    """One size: bytes per rank, seconds and algorithm bandwidth of one run, and the better of both bus bandwidths; in GB/s."""

    size: int
    seconds: float
    algorithm_gb_per_s: float
    bus_gb_per_s: float

    @property
    def agrees(self) -> bool:
        """Return whether size, time and algorithm bandwidth agree, as printed in bytes, microseconds and GB/s."""
        return abs(self.size / self.seconds / 1e9 - self.algorithm_gb_per_s) <= SAME * self.algorithm_gb_per_s + HUNDREDTH


@dataclass(frozen=True)
class CollectiveLog:
    """One run: the collective, how many ranks on how many nodes, what the devices are called, and the rows by size."""

    operation: str
    ranks: int
    nodes: int
    devices: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def largest(self) -> Row:
        """Return the row of the largest message."""
        return self.rows[-1]


def read_log(text: str) -> CollectiveLog:
    """Return what a log of nccl-tests or rccl-tests says; raises CollectiveLogError."""
    if len(text) > MOST_CHARACTERS:
        raise CollectiveLogError(f"the log has more than {MOST_CHARACTERS:,} characters; cut it down to one run of all_reduce_perf")
    ranks: dict[int, tuple[str, str]] = {}
    rows: dict[int, Row] = {}
    ratios: list[float] = []
    repeated, damaged, both = False, 0, "out-of-place" in text
    for line in text.splitlines():
        found = _RANK.search(line)
        if found:
            repeated |= int(found[1]) in ranks
            ranks.setdefault(int(found[1]), (found[2], found[3].strip()))
            continue
        row = _row(line, both)
        if row is not None:
            rows[row[0].size] = row[0]
            ratios.append(row[1])
            damaged += row[2]
    if not rows:
        raise CollectiveLogError("no rows of sizes, times and bandwidths; expected what all_reduce_perf of nccl-tests or rccl-tests prints")
    if not ranks:
        raise CollectiveLogError("no lines 'Rank … on … device …'; give the whole output, from 'Using devices' on")
    if repeated and len(ranks) > 1:
        raise CollectiveLogError(
            "the log holds several runs, or processes that each ran alone (nccl-tests built without MPI=1); give the output of one run"
        )
    if len(ranks) <= max(ranks):
        raise CollectiveLogError(
            f"lines of ranks are missing: {len(ranks)} of {max(ranks) + 1}; give the whole output, from 'Using devices' on"
        )
    if damaged and "#wrong" in text:
        raise CollectiveLogError(
            f"{damaged:,} values arrived wrong (#wrong): the network or a GPU damages data; mend that, then measure again"
        )
    if len(ranks) == 1:
        raise CollectiveLogError("every process is rank 0 of its own: nccl-tests was built without MPI=1, or run on one GPU; measure again")
    failed = _OUT_OF_BOUNDS.search(text)
    if failed:
        raise CollectiveLogError(f"{failed[1]} values were out of bounds: the network or a GPU damages data; mend that, then measure again")
    operation = _operation(text, ratios[-1], len(ranks))
    hosts = {host for host, _ in ranks.values()}
    devices = tuple(sorted({device for _, device in ranks.values()}))
    return CollectiveLog(operation, len(ranks), len(hosts), devices, tuple(rows[size] for size in sorted(rows)))


def _row(line: str, both: bool) -> tuple[Row, float, int] | None:
    """Return a row, its ratio of bus to algorithm bandwidth and its count of errors, None for any other line.

    `both`: rows have columns out of place and in place; rccl-tests prints the second alone unless told otherwise, and a test that runs
    in place only has no numbers in the first.
    """
    words = line.split()
    start = next((at for at in range(len(words) - 2) if words[at].isdigit() and words[at + 1].isdigit() and words[at + 2] in _TYPES), None)
    if start is None:
        return None
    after = len(words) - start - 3
    columns = _TAIL if both or after >= _TAIL else _TAIL // 2
    if after < columns:
        return None
    tail = words[-columns:]
    blocks = [block for block in (tail[:4], tail[4:]) if block and all(_NUMBER.fullmatch(each) for each in block[:3])]
    if not blocks or float(blocks[0][0]) <= 0:
        return None
    algorithm, first = float(blocks[0][1]), float(blocks[0][2])
    bus = max(float(block[2]) for block in blocks)
    errors = sum(int(block[3]) for block in blocks if block[3].isdigit())
    return Row(int(words[start]), float(blocks[0][0]) / 1e6, algorithm, bus), first / algorithm if algorithm else 0.0, errors


def _operation(text: str, ratio: float, ranks: int) -> str:
    """Return the collective: as the log names it, else as its ratio of bandwidths tells."""
    named = set(_TEST.findall(text))
    if len(named) == 1:
        return str(named.pop())
    share = (ranks - 1) / ranks
    if abs(ratio - 2 * share) <= SAME * 2 * share and ratio > 1 + SAME:
        return SUPPORTED
    if ranks == 2 and abs(ratio - 1) <= SAME:
        return SUPPORTED
    return "another collective"


def answers_from(text: str) -> dict[str, str | int]:
    """Return the answers that follow from a log of all_reduce_perf; raises CollectiveLogError for any other."""
    log = read_log(text)
    row = log.largest
    if row.size < LEAST_BYTES:
        raise CollectiveLogError(f"the largest message has {row.size:,} bytes, which shows latency, not bandwidth; measure up to -e 8G")
    if log.operation != SUPPORTED:
        raise CollectiveLogError(f"this is a log of {log.operation}; measure all_reduce_perf, from which all other collectives are derived")
    if row.bus_gb_per_s <= 0:
        raise CollectiveLogError("the bus bandwidth of the largest message is 0; measure again")
    if not row.agrees:
        raise CollectiveLogError(
            f"{row.size:,} bytes in {row.seconds * 1e6:,.6g} µs are {row.size / row.seconds / 1e9:,.4g} GB/s, and the row says "
            f"{row.algorithm_gb_per_s:,.4g}; give the output as all_reduce_perf prints it, in bytes, µs and GB/s"
        )
    if log.ranks % log.nodes:
        raise CollectiveLogError(f"{log.ranks} ranks are not spread evenly over {log.nodes} servers; measure with as many on each")
    size: dict[str, str | int] = {"measured.message_size": f"{row.size / 1e9:.6g} GB", "measured.ranks_per_node": log.ranks // log.nodes}
    if log.nodes == 1:
        return {"measured.all_reduce_inside": f"{row.bus_gb_per_s:g} GB/s", **size}
    return {"measured.all_reduce_between": f"{row.bus_gb_per_s:g} GB/s", "measured.all_reduce_nodes": log.nodes, **size}
