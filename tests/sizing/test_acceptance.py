"""Acceptance: every published healthy curve passes the limits, every published fault fails them, and the plan covers each scale."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.sizing.acceptance import FAIL, LOOK, PASS, AcceptancePlan, CollectiveTest, acceptance_plan, point
from rules.sizing.acceptance_commands import GIB, command, suite_notes
from rules.sizing.collectives import ALL_REDUCE, ALL_TO_ALL, POINT_TO_POINT, Group
from rules.sizing.hardware import hardware_of

CATALOG = load_catalog()
H100, H200, A100, B200 = "nvidia-dgx-h100", "nvidia-dgx-h200", "nvidia-dgx-a100-640gb", "nvidia-dgx-b200"
GB200, MI300X, MI350X = "nvidia-gb200-nvl72", "supermicro-as-8125gs-tnmr2-mi300x", "supermicro-as-8126gs-tnmr-mi350x"
CURVES = {
    "aws-p4de-2node": (A100, 50.0), "aws-p5-2node": (H100, None), "a100-24gpu-4hdr": (A100, 100.0), "azure-a100-8gpu": (A100, None),
    "azure-gb200-4gpu": (GB200, None), "azure-h200-8gpu": (H200, None), "coreweave-gb200-72gpu": (GB200, None),
    "coreweave-gb200-144gpu": (GB200, None), "coreweave-gb200-1440gpu": (GB200, None), "coreweave-h100-64gpu": (H100, None),
    "mi300x-8gpu": (MI300X, None), "mi300x-2gpu": (MI300X, None), "mi350x-2node": (MI350X, None), "nccl-b200-8gpu": (B200, None),
    "nccl-h100-8gpu-nvls": (H100, None), "nccl-h100-8gpu-476": (H100, None), "nccl-h200-8gpu-475": (H200, None),
}  # fmt: skip
"""Published all-reduce results of healthy machines: the server that is like it, and its adapters in Gb/s per GPU where they differ."""


def hardware(node: str, gbps: float | None = None):
    record = CATALOG.nodes[node]
    return hardware_of(record, CATALOG.gpus[record.gpu], CATALOG, gbps)


def plan(node: str, nodes: int, **more: object) -> AcceptancePlan:
    answers = {"model.preset": "llama-3.1-70b", "scale.mode": "fixed", "scale.nodes": nodes, "preferences.nodes": [node]}
    considered = consider(Answers.of({**answers, **{key.replace("__", "."): value for key, value in more.items()}}), CATALOG)
    return acceptance_plan(considered.ranking.chosen.candidate, considered.context)


def own(gpu: str, nodes: int) -> AcceptancePlan:
    answers = {"model.preset": "llama-3.1-8b", "scale.mode": "fixed", "scale.nodes": nodes, "own_server.gpu": gpu, "own_server.gpus": 8}
    considered = consider(Answers.of({**answers, "own_server.nics": 8, "own_server.nic_speed": "400 Gb/s"}), CATALOG)
    return acceptance_plan(considered.ranking.chosen.candidate, considered.context)


def the(made: AcceptancePlan, where: str, operation: str = ALL_REDUCE) -> CollectiveTest:
    (found,) = [each for each in made.tests if (each.where, each.operation) == (where, operation)]
    return found


def at(test: CollectiveTest, size: float):
    return next(each for each in test.points if each.size == size)


class TestLimits:
    @pytest.mark.parametrize("name", sorted(CURVES))
    def test_every_published_healthy_curve_passes(self, name):
        (node, gbps), curve = CURVES[name], next(each for each in CATALOG.collectives if each.id == name)
        machine = hardware(node, gbps)
        sizes = curve.message_bytes or [8 * GIB]
        for size, measured in zip(sizes, curve.bus_bandwidth_gbyte_s, strict=True):
            expected = point(ALL_REDUCE, machine, Group(curve.gpus, min(curve.gpus, machine.domain)), size)
            assert expected.verdict(measured * 1e9) == PASS, (name, size, measured, expected)

    @pytest.mark.parametrize(
        ("node", "gbps", "who", "measured", "source"),
        [
            (H100, None, Group(128, 8), 10.0, "16 × 8 H100 on a part of their adapters [NVIDIA/nccl issue 1600]"),
            (A100, 100.0, Group(16, 8), 4 * 9.84, "access control services on: 9.84 GB/s per 200G adapter [NVIDIA/nccl-tests issue 112]"),
            (H100, None, Group(16, 8), 13.0, "collectives at 13 GB/s where perftest ran at line rate [NVIDIA/nccl issue 2409]"),
            (A100, None, Group(16, 8), 75.0, "8 × 100G RoCE, said to be low [NVIDIA/nccl issue 495]"),
        ],
        ids=["partial-adapters", "acs", "perftest-fine", "roce-low"],
    )
    def test_every_published_fault_fails(self, node, gbps, who, measured, source):
        assert point(ALL_REDUCE, hardware(node, gbps), who, 4 * GIB).verdict(measured * 1e9) == FAIL, source

    def test_one_adapter_of_200g_needs_80_percent(self):
        """The acceptance target of a 200G adapter is 20 GB/s or more, 80 % of 25 [case net-acs-enabled]."""
        limit = point(POINT_TO_POINT, hardware(A100, 200.0), Group(2, 1), 16 * GIB).limit
        assert 20e9 <= limit <= 24e9

    def test_128_h100_need_70_percent_of_each_adapter(self):
        """Bus bandwidth × (nodes - 1) / (GPUs - 1) is what each adapter carries: 70 % of 50 GB/s or more [net-16xh100-partial-nics]."""
        limit = point(ALL_REDUCE, hardware(H100), Group(128, 8), 4 * GIB).limit
        assert limit * 15 / 127 >= 0.7 * 50e9

    def test_small_messages_have_no_limit_and_middling_ones_a_soft_one(self):
        machine = hardware(H100)
        assert point(ALL_REDUCE, machine, Group(8, 8), 1024).verdict(0.0) == PASS
        assert point(ALL_REDUCE, machine, Group(8, 8), 256 * 2**20).verdict(1e9) == LOOK


class TestThePlan:
    def test_published_values_are_what_is_expected(self):
        """One H100 node 480 GB/s [nccl-tests 212], 64 GPUs 387 [CoreWeave], all-to-all over six nodes 48.5 [nccl-tests 267], one
        adapter 46 to 48 [nccl-tests 290].
        """
        made = plan(H100, 8, preferences__fabric="infiniband")
        assert at(the(made, "one node"), 16 * GIB).expected / 1e9 == pytest.approx(480, rel=0.05)
        assert at(the(made, "all nodes"), 4 * GIB).expected / 1e9 == pytest.approx(383, rel=0.05)
        assert at(the(made, "all nodes", ALL_TO_ALL), 16 * GIB).expected / 1e9 == pytest.approx(48.5, rel=0.05)
        assert 46e9 <= at(the(made, "one adapter of each of two nodes", POINT_TO_POINT), 16 * GIB).expected <= 48.1e9

    def test_racks_are_tested_as_racks(self):
        """72 GPUs 835 GB/s, 144 GPUs 810 GB/s [CoreWeave nccl-tests README]."""
        made = plan(GB200, 36)
        assert at(the(made, "one rack"), 4 * GIB).expected / 1e9 == pytest.approx(839, rel=0.08)
        (two,) = [each for each in made.tests if each.where.startswith("two racks") and each.operation == ALL_REDUCE]
        assert (two.nodes, two.ranks) == (36, 144)
        assert at(two, 16 * GIB).expected / 1e9 == pytest.approx(810, rel=0.12)

    def test_one_node_two_nodes_all_nodes(self):
        """Faults of large clusters do not show on few nodes [arXiv:2605.09370], so the last tests run on all."""
        made = plan(H100, 62)
        assert {1, 2, 62} <= {each.nodes for each in made.tests}
        assert made.tests[0].where == "one node"
        assert made.tests[-1].where == "all nodes"
        assert any("all nodes" in note for note in made.notes)

    def test_an_oversubscribed_fabric_is_expected_to_be_slower_only_where_its_spines_are_crossed(self):
        made = plan("nvidia-dgx-h100", 128, preferences__fabric="ethernet", model__preset="llama-3.1-8b")
        near = [each for each in made.tests if each.where == "two nodes of one unit" and each.operation == ALL_REDUCE]
        far = [each for each in made.tests if each.where == "two nodes of different units"]
        assert near
        assert far
        assert far[0].points[-1].expected <= near[0].points[-1].expected

    def test_commands_are_those_of_the_suite(self):
        nvidia, amd = plan(H100, 2), plan(MI300X, 2)
        assert (nvidia.suite, amd.suite) == ("nccl-tests", "rccl-tests")
        assert the(nvidia, "two nodes of one unit").command == (
            "srun -N 2 --ntasks-per-node=8 --mpi=pmix all_reduce_perf -b 8 -e 16G -f 2 -g 1 -n 20 -w 5 -c 1"
        )
        assert "alltoall_perf" in the(amd, "one node", ALL_TO_ALL).command

    def test_gaudi_runs_the_demo_of_its_library(self):
        """The wrapper's arguments and tests are those of HabanaAI/hccl_demo; with MPI as on Intel's page of collectives' performance."""
        gaudi = own("intel-gaudi-3", 2)
        assert gaudi.suite == "HCCL demo"
        assert the(gaudi, "one node").command == "python3 run_hccl_demo.py --test all_reduce --size 16g --loop 20 -mpi -np 8"
        pair = the(gaudi, "two nodes of one unit").command
        assert pair == "python3 run_hccl_demo.py --test all_reduce --size 16g --loop 20 -mpi -np 16 --hostfile HOSTS"
        assert {each.command for each in gaudi.tests if each.operation == ALL_TO_ALL} == {""}
        assert any("one size at a time" in note for note in gaudi.notes)

    def test_intel_gpus_run_the_benchmark_of_their_library(self):
        """Options and names as in the oneCCL benchmark user guide. Eight Max 1550 are 16 devices of 64 GB; 4 GiB are 1,073,741,824 elements
        of float32, which all-to-all counts per rank: 33,554,432 of 32.
        """
        intel = own("intel-max-1550", 2)
        assert intel.suite == "oneCCL benchmark"
        options = "-a gpu -m usm -u device -i 20 -j off -d float32 -p 0 -e in_order"
        assert the(intel, "one node").command == f"mpirun -n 16 -ppn 16 benchmark -l allreduce -f 1 -t 1073741824 {options}"
        pair = the(intel, "two nodes of one unit", ALL_TO_ALL).command
        assert pair == f"mpirun -n 32 -ppn 16 benchmark -l alltoall -f 1 -t 33554432 {options}"
        assert the(intel, "one adapter of each of two nodes", POINT_TO_POINT).command == "mpirun -n 2 -ppn 1 ccl_bw"
        assert any("prints times" in note for note in intel.notes)

    def test_other_software_gets_no_invented_command(self):
        assert command("Metal", ALL_REDUCE, 1, 8, 16 * GIB) == ""
        assert suite_notes("Metal") == ("Metal has no nccl-tests: ask the vendor for the like, the expected values hold for any",)

    def test_buffers_fit_a_small_gpu(self):
        """Send and receive buffers of the largest message, and one to check, in 24 GB."""
        made = plan("workstation-4x-rtx-4090", 1, model__preset="llama-3.2-1b")
        assert made.tests[0].points[-1].size == 4 * GIB

    def test_checks_come_before_collectives(self):
        """ACS on was the most frequent root cause; perftest alone accepts nothing; two GPUs on one adapter on some nodes only."""
        checks = plan(H100, 2).checks
        assert checks[0].command == "nvidia-smi topo -m"
        assert "PIX" in checks[0].passes
        assert "the same on every node" in checks[0].passes
        assert any("ACSCtl" in each.command for each in checks)
        assert "PCIe 5 x16" in checks[1].passes
        assert "360 of 400 Gb/s" in checks[-1].passes
        assert "accepts nothing" in checks[-1].passes


def test_servers_without_adapters_are_tested_alone():
    """An own server that says it has no adapter has nothing to test beyond its own links."""
    answers = Answers.of(
        {
            "own_server.gpu": "nvidia-h100-sxm-80gb",
            "own_server.gpus": 8,
            "own_server.nics": 0,
            "scale.nodes": 2,
            "model.preset": "llama-3.1-8b",
        }
    )
    considered = consider(answers, load_catalog())
    plan = acceptance_plan(considered.ranking.chosen.candidate, considered.context)
    assert {test.nodes for test in plan.tests} == {1}
    assert all(point.expected > 0 for test in plan.tests for point in test.points)
