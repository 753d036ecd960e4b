"""Logs of nccl-tests and rccl-tests as they are published, and what a design makes of one."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.candidate import Context
from rules.sizing.site_measured import implausible, left_aside, site_hardware
from rules.sizing.workload import describe_workload
from tests.wizard.calls import call
from wizard.imports.collective_log import CollectiveLogError, answers_from, read_log

HEAD = """
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
TWO_NODES = (
    "# nThread 1 nGpus 1 minBytes 10737418240 maxBytes 10737418240 step: 2(factor) warmup iters: 5 iters: 20\n# Using devices\n"
    + "\n".join(
        f"#  Rank {rank:2} Group  0 Pid    {361 + rank} on inst-{rank // 8}-gpu4-ol89 device  {rank % 8} [0x0f] NVIDIA A100-SXM4-40GB"
        for rank in range(16)
    )
    + HEAD
    + " 10737418240    2684354560     float     sum      -1    90330  118.87  222.88      0    91945  116.78  218.96      0\n"
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 220.921\n#\n"
)
"""Two servers of 8 A100 [Oracle Cloud, OKE GPU stack README]."""
RCCL = """# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
rccl-tests: Version develop:3f7f785
# Using devices
#   Rank  0 Pid  38629 on deep-visionscaper3 device  0 [0000:2f:00.0] AMD Instinct MI100
#   Rank  1 Pid  38629 on deep-visionscaper3 device  1 [0000:03:00.0] AMD Instinct MI100
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
    67108864      16777216     float     sum      -1   6521.8   10.29   10.29      0   6582.1   10.20   10.20      0
   134217728      33554432     float     sum      -1    12192   11.01   11.01      0    12354   10.86   10.86      0
# Errors with asterisks indicate errors that have exceeded the maximum threshold.
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 4.00614
"""
"""[ROCm/rccl-tests, an issue of 2024]."""
GATHER = """# Using devices
#  Rank  0 Group  0 Pid 548419 on spark-fb97 device  0 [000f:01:00] NVIDIA GB10
#  Rank  1 Group  0 Pid 546336 on spark-4440 device  0 [000f:01:00] NVIDIA GB10
  4294967296     536870912     float    none      -1  96986.7   44.28   22.14       0  95610.9   44.92   22.46       0
# Collective test concluded: all_gather_perf
"""
WITHOUT_MPI = """# Using devices
#   Rank  0 Pid   1320 on ip-172-31-20-228 device  0 [0x00] Tesla V100-SXM2-16GB
#   Rank  0 Pid   2066 on ip-172-31-22-230 device  0 [0x00] Tesla V100-SXM2-16GB
  1310720000     327680000     float     sum   3207.2  408.68    0.00  0e+00      2.1  619000    0.00  0e+00
"""
"""Without a root column, and every process a rank 0 [NVIDIA/nccl-tests issue 107]."""


def test_two_servers_of_a100():
    log = read_log(TWO_NODES)
    assert (log.operation, log.ranks, log.nodes, log.devices) == ("all_reduce", 16, 2, ("NVIDIA A100-SXM4-40GB",))
    assert (log.largest.size, log.largest.bus_gb_per_s) == (10_737_418_240, 222.88)
    assert log.largest.seconds == pytest.approx(0.09033)
    answers = answers_from(TWO_NODES)
    assert answers["measured.all_reduce_between"] == "222.88 GB/s"
    assert answers["measured.all_reduce_nodes"] == 2


def test_prefixes_of_launchers_do_not_matter():
    prefixed = "\n".join(f"[1,0]<stdout>:{line}" for line in TWO_NODES.splitlines())
    assert answers_from(prefixed) == answers_from(TWO_NODES)


def test_one_server_of_amd():
    log = read_log(RCCL)
    assert (log.operation, log.ranks, log.nodes) == ("all_reduce", 2, 1)
    assert answers_from(RCCL) == {
        "measured.all_reduce_inside": "11.01 GB/s",
        "measured.message_size": "0.134218 GB",
        "measured.ranks_per_node": 2,
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GATHER, "all_gather"),
        (WITHOUT_MPI, "MPI=1"),
        ("", "no rows"),
        ("hello\nworld", "no rows"),
        ("\n".join(line for line in TWO_NODES.splitlines() if "Rank" not in line), "Using devices"),
        (TWO_NODES.replace("222.88", "0.00").replace("218.96", "0.00").replace("all_reduce", ""), "another collective"),
        ("1" * 6_000_000, "characters"),
        (TWO_NODES + TWO_NODES, "several runs"),
        ("\n".join(line for line in TWO_NODES.splitlines() if "Rank  5" not in line), "15 of 16"),
        (TWO_NODES.replace("222.88      0", "222.88      3"), "3 values arrived wrong"),
        (TWO_NODES[: TWO_NODES.index("91945")], "no rows"),
        (TWO_NODES.replace("Out of bounds values : 0 OK", "Out of bounds values : 12 FAILED"), "12 values were out of bounds"),
        (TWO_NODES.replace(" 10737418240 ", " 1024 "), "the largest message has 1,024 bytes, which shows latency"),
        (TWO_NODES.replace("90330", "90.33"), "10,737,418,240 bytes in 90.33 µs are 1.189e\\+05 GB/s, and the row says 118.9"),
        (TWO_NODES.replace(" on inst-1-gpu4-ol89 device  7", " on inst-2-gpu4-ol89 device  0"), "not spread evenly over 3 servers"),
    ],
)
def test_what_is_no_log_of_an_all_reduce_says_what_it_is(text, says):
    with pytest.raises(CollectiveLogError, match=says):
        answers_from(text)


def test_one_half_of_a_row_is_enough():
    """Out of place without numbers, as where a test runs in place only; in place alone, as rccl-tests prints it."""
    inside = TWO_NODES.replace("90330  118.87  222.88      0", "N/A     N/A     N/A    N/A")
    assert answers_from(inside)["measured.all_reduce_between"] == "218.96 GB/s"
    alone = RCCL.replace("out-of-place                       in-place", "in-place")
    alone = alone.replace("6521.8   10.29   10.29      0   ", "").replace("12192   11.01   11.01      0    ", "")
    assert answers_from(alone)["measured.all_reduce_inside"] == "10.86 GB/s"


def test_a_log_that_is_cut_off_says_what_its_whole_rows_say():
    cut = RCCL[: RCCL.index("12354")]
    found = answers_from(cut)
    assert (found["measured.all_reduce_inside"], found["measured.message_size"]) == ("10.29 GB/s", "0.0671089 GB")


NODES = ("--set", "preferences.nodes=nvidia-dgx-a100-640gb", "--set", "scale.nodes=8", "--set", "scale.mode=fixed")


def test_a_design_counts_with_the_log_and_says_so(tmp_path):
    slow = TWO_NODES.replace("222.88", " 55.72").replace("218.96", " 54.74").replace("118.87", " 29.72").replace("90330", "361300")
    (tmp_path / "slow.log").write_text(slow, "utf-8")
    model = (*NODES, "--set", "model.preset=llama-3.1-8b", "--set", "measured.date=2026-11-03")
    plain = call("design", *model, "--json").json["design"]["performance"]
    measured = call("design", *model, "--measured", tmp_path / "slow.log", "--json").json
    told = measured["design"]["performance"]["measured_on_site"]
    assert len(told) == 1
    assert told[0].startswith("all-reduce over 2 servers: 55.72 GB/s, measured on site 2026-11-03, in place of ")
    assert told[0] in measured["design"]["performance"]["notes"]
    assert float(measured["design"]["performance"]["step"].split()[0]) > float(plain["step"].split()[0])
    assert "measured_on_site" not in plain


def test_a_log_that_cannot_be_read_is_one_message(tmp_path):
    (tmp_path / "odd.log").write_text(GATHER, "utf-8")
    for name in ("odd.log", "none.log"):
        call("design", *NODES, "--measured", tmp_path / name).assert_one_message()


def test_a_measured_step_scales_all_steps_of_its_server():
    """Twice the modelled time on 8 nodes is twice on 16 too, and the design says that its step is measured."""
    model = ("--set", "model.preset=llama-3.1-8b", "--set", "training.global_batch=512", "--set", "training.sequence_length=8192")
    sixteen = (*NODES[:2], "--set", "scale.nodes=16", "--set", "scale.mode=fixed", *model)
    seconds = [
        float(call("design", *each, "--json").json["design"]["performance"]["step"].split()[0]) for each in ((*NODES, *model), sixteen)
    ]
    told = ("--set", f"measured.step_time={2 * seconds[0]} s", "--set", "measured.gpus=64", "--set", "measured.date=2026-11-03")
    measured = call("design", *sixteen, *told, "--json").json["design"]["performance"]
    assert float(measured["step"].split()[0]) == pytest.approx(2 * seconds[1], rel=0.01)
    assert measured["kind"] == "measured"
    assert "measured on site 2026-11-03" in measured["measured_on_site"][0]


def test_what_was_measured_on_one_server_says_nothing_of_another():
    other = ("--set", "preferences.nodes=nvidia-dgx-h100", "--set", "scale.nodes=8", "--set", "scale.mode=fixed")
    told = ("--set", "measured.all_reduce_inside=100 GB/s", "--set", "measured.node=nvidia-dgx-a100-640gb")
    made = call("design", *other, *told, "--json")
    assert "measured_on_site" not in made.json["design"]["performance"]
    assert "not used: it holds for nvidia-dgx-a100-640gb, and nvidia-dgx-h100 is chosen" in made.err


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"measured.step_time": "7.2 s", "measured.gpus": "64"}, ["measured.node = nvidia-dgx-h100 if it was this one"]),
        ({"measured.step_time": "7.2 s", "measured.node": "nvidia-dgx-h100"}, ["says nothing without measured.gpus"]),
        ({"measured.all_reduce_between": "300 GB/s", "preferences.nodes": "nvidia-dgx-h100"}, ["without measured.all_reduce_nodes"]),
        ({"measured.step_time": "7.2 s", "measured.gpus": "64", "measured.node": "nvidia-dgx-h100"}, []),
        ({"measured.date": "2026-11-03"}, []),
    ],
)
def test_a_measurement_that_replaces_nothing_is_named_with_what_is_missing(answers, says):
    given = Answers()
    for key, value in answers.items():
        given = given.with_value(key, value)
    found = left_aside(load_catalog().nodes["nvidia-dgx-h100"], given)
    assert len(found) == len(says)
    assert all(end in sentence for sentence, end in zip(found, says, strict=True))


def test_a_server_that_the_catalog_does_not_have_is_named():
    called = call("design", *NODES, "--set", "measured.node=nvidia-dgx-h1000")
    called.assert_one_message()
    assert "measured.node" in called.err


NOT_POSSIBLE = {
    "step": (
        {"measured.step_time": "1 ms", "measured.gpus": "64"},
        "measured.step_time = 0.001 s is shorter than the 7.442 s that the arithmetic of the step takes at the dense peak of 64 GPUs",
    ),
    "inside": ({"measured.all_reduce_inside": "19000 GB/s"}, "measured.all_reduce_inside = 19,000 GB/s is 41."),
    "between": (
        {"measured.all_reduce_between": "0.5 GB/s", "measured.all_reduce_nodes": "8"},
        "measured.all_reduce_between = 0.5 GB/s is 0.00",
    ),
}
"""Llama 3.1 70B, 128 sequences of 8,192 tokens: 128 · 8,192 · 449.2 GFLOP over 64 · 989 TFLOP/s are 7.44 s."""


def context_of(answers):
    """Return the context of Llama 3.1 70B with 128 sequences of 8,192 tokens and further answers."""
    given, catalog = Answers(), load_catalog()
    own = {"model.preset": "llama-3.1-70b", "training.sequence_length": "8192", "training.global_batch": "128"}
    for key, value in (own | answers).items():
        given = given.with_value(key, value)
    return Context(given, catalog, describe_workload(given, catalog))


@pytest.mark.parametrize("case", NOT_POSSIBLE)
def test_what_cannot_have_been_measured_is_said_and_not_used(case):
    answers, says = NOT_POSSIBLE[case]
    context = context_of({"measured.node": "nvidia-dgx-h100"} | answers)
    node, gpu = context.catalog.nodes["nvidia-dgx-h100"], context.catalog.gpus["nvidia-h100-sxm-80gb"]
    (sentence,) = implausible(node, gpu, context)
    assert sentence.startswith(f"measured on site, but not used: {says}")
    assert "; check its unit" in sentence
    made = site_hardware(node, gpu, context)
    assert (made.time_factor, made.inside_factor, made.between_factor, made.measured) == (1.0, 1.0, 1.0, ())


@pytest.mark.parametrize(
    ("node", "gpu", "measured", "nodes", "ranks", "factor"),
    [
        ("nvidia-dgx-h100", "nvidia-h100-sxm-80gb", "47 GB/s", "2", "1", "between_factor"),
        ("nvidia-gb200-nvl72", "nvidia-gb200", "835 GB/s", "18", "4", "inside_factor"),
    ],
)
def test_a_log_counts_for_the_links_that_it_ran_over(node, gpu, measured, nodes, ranks, factor):
    """One GPU on each of two servers: 46 to 48 GB/s through an adapter of 400 Gb/s [NVIDIA/nccl-tests issue 290].

    All 72 GB200 of a rack, four on each of 18 trays: 835 GB/s over NVLink [CoreWeave nccl-tests]. Both are what is expected.
    """
    told = {"measured.all_reduce_between": measured, "measured.all_reduce_nodes": nodes, "measured.ranks_per_node": ranks}
    context = context_of({"measured.node": node} | told)
    made = site_hardware(context.catalog.nodes[node], context.catalog.gpus[gpu], context)
    factors = {"inside_factor": made.inside_factor, "between_factor": made.between_factor}
    assert factors.pop(factor) == pytest.approx(1.0, abs=0.1)
    assert list(factors.values()) == [1.0]
    assert made.measured[0].startswith(f"all-reduce over {nodes} servers: {measured}")
