"""The command of each collective of the acceptance plan, in the test suite of the GPU's software stack."""

from __future__ import annotations

from rules.sizing.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, MIB, POINT_TO_POINT, REDUCE_SCATTER

GIB = 1024 * MIB
SUITES = {"CUDA": "nccl-tests", "ROCm": "rccl-tests", "Gaudi": "HCCL demo", "oneAPI": "oneCCL benchmark"}
PROGRAMS = {ALL_REDUCE: "all_reduce_perf", ALL_GATHER: "all_gather_perf", REDUCE_SCATTER: "reduce_scatter_perf",
            ALL_TO_ALL: "alltoall_perf", POINT_TO_POINT: "sendrecv_perf"}  # fmt: skip
"""The programs of nccl-tests, which rccl-tests has by the same names [NVIDIA/nccl-tests; ROCm/rccl-tests]."""
HCCL_TESTS = {ALL_REDUCE: "all_reduce", ALL_GATHER: "all_gather", REDUCE_SCATTER: "reduce_scatter", POINT_TO_POINT: "send_recv"}
"""The tests of Intel's HCCL demo, which has none of all-to-all [HabanaAI/hccl_demo]."""
ONECCL_TESTS = {ALL_REDUCE: "allreduce", ALL_GATHER: "allgatherv", REDUCE_SCATTER: "reduce_scatter", ALL_TO_ALL: "alltoall"}
"""The collectives of oneCCL's benchmark; `ccl_bw` beside it sends between two ranks [oneCCL benchmark user guide]."""
PER_RANK = (ALL_GATHER, ALL_TO_ALL)
"""Collectives whose elements oneCCL's benchmark counts for one rank, not for the whole message [oneCCL, examples/benchmark]."""
ONECCL_OPTIONS = "-a gpu -m usm -u device -i 20 -j off -d float32 -p 0 -e in_order"
"""GPU buffers in the device's memory, 20 iterations at every size, nothing cached [the guide's example for GPUs]."""
FLOAT32_BYTES = 4


def command(stack: str, operation: str, nodes: int, ranks: int, largest: float) -> str:
    """Return the command up to messages of `largest` bytes; "" where the software stack has no such program.

    CUDA and ROCm start by Slurm, Gaudi by Open MPI, oneAPI by Intel MPI.
    """
    if stack in ("CUDA", "ROCm"):
        per_node, end = max(1, ranks // nodes), _size(largest, "G", "M")
        program = PROGRAMS[operation]
        return f"srun -N {nodes} --ntasks-per-node={per_node} --mpi=pmix {program} -b 8 -e {end} -f 2 -g 1 -n 20 -w 5 -c 1"
    if stack == "Gaudi" and operation in HCCL_TESTS:
        hosts = "" if nodes == 1 else " --hostfile HOSTS"
        test, size = HCCL_TESTS[operation], _size(largest, "g", "m")
        return f"python3 run_hccl_demo.py --test {test} --size {size} --loop 20 -mpi -np {ranks}{hosts}"
    return _oneccl(operation, nodes, ranks, largest) if stack == "oneAPI" else ""


def _oneccl(operation: str, nodes: int, ranks: int, largest: float) -> str:
    start = f"mpirun -n {ranks} -ppn {max(1, ranks // nodes)}"
    if operation == POINT_TO_POINT:
        return f"{start} ccl_bw"
    most = int(largest) // FLOAT32_BYTES // (ranks if operation in PER_RANK else 1)
    return f"{start} benchmark -l {ONECCL_TESTS[operation]} -f 1 -t {most} {ONECCL_OPTIONS}"


def _size(size: float, giga: str, mega: str) -> str:
    return f"{size / GIB:g}{giga}" if size >= GIB else f"{size / MIB:g}{mega}"


def suite_notes(stack: str) -> tuple[str, ...]:
    """Return what is to be said of a stack's suite beside its commands."""
    if stack == "Gaudi":
        return (
            "HCCL demo runs one size at a time: repeat its command with --size for the other rows; its NW Bandwidth is the bus bandwidth; "
            "HOSTS names the file of hosts",
        )
    if stack == "oneAPI":
        return (
            "oneCCL's benchmark prints times (t_avg in µs): bus bandwidth is message ÷ time × 2(n - 1)/n for all-reduce of n ranks, "
            "× (n - 1)/n for the others; it counts the elements of all-gather and all-to-all per rank",
        )
    return () if stack in SUITES else (f"{stack} has no nccl-tests: ask the vendor for the like, the expected values hold for any",)
