"""Faults that were found in other tools of this trade: each is a test of ours, against what vendors and papers print.

Tools: AutoLink (github.com/bangbang8000-cell/AutoLink), AIDC-Studio (github.com/haanjack/AIDC-Studio), NetDesign AI
(github.com/Amit33-design/Network-Automation), DIET (github.com/hedgehog, open network fabric). The cases of `test_cases_*.py` hold
further ones: units, calculators of memory, racks, bills. What needs ports, addresses or exports waits for those features.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from catalogs.quantities import magnitude, quantity
from rules.advisor import advise
from rules.answers import Answers
from rules.cases import all_rules
from rules.feedback import MOST_REENTRIES
from rules.sizing.fabric import FabricInput, count_fabric
from rules.sizing.feeds import circuit_usable_kw
from rules.sizing.hardware import hardware_of
from rules.sizing.memory import MemoryModel, estimate_memory
from rules.sizing.memory_states import stage_layers
from rules.sizing.model import count_parameters, shape_from_answers
from rules.sizing.plans import search_plans
from rules.sizing.results import Plan
from rules.sizing.step import estimate_step
from rules.sizing.workload import describe_workload
from tests.published.asking import asked, catalog

DGX: dict[str, object] = {"model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-dgx-h100"]}
NDR = {"nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}


def fabric(nodes: int, **more: object):
    return count_fabric(FabricInput.of({**NDR, "nodes": nodes, **more}))


def workload(preset: str, **more: object):
    answers = {"model.preset": preset, **{key.replace("__", "."): value for key, value in more.items()}}
    return describe_workload(Answers.of(answers), catalog())


def hardware(node: str, network_gbps: float | None = None):
    record = catalog().nodes[node]
    return hardware_of(record, catalog().gpus[record.gpu], catalog(), network_gbps)


# ---------------------------------------------------------------------------------------------------------- memory and time


def test_a_step_is_the_sum_of_its_parts_and_nothing_is_counted_twice():
    """AIDC-Studio multiplies an end-to-end utilisation and adds communication again."""
    work = workload("llama-3.1-70b")
    step = estimate_step(work, Plan(tensor=8, pipeline=4, data=32, zero_stage=1), hardware("nvidia-dgx-h100"))
    assert sum(magnitude(term, "s") for term in step.terms.values()) == pytest.approx(magnitude(step.expected, "s"), rel=1e-6)
    assert step.model_flops_utilization < 0.6


def test_a_faster_network_is_never_slower_and_a_slow_one_shows():
    """max(0, communication − share of computing) makes all fabrics tie (AIDC-Studio): here 10, 100 and 400 Gb/s per GPU differ."""
    work = workload("llama-3.1-8b", training__global_batch=128)
    plan = Plan(data=128, zero_stage=3)
    times = [
        magnitude(estimate_step(work, plan, hardware("nvidia-dgx-h100", speed)).expected, "s")
        for speed in (10.0, 50.0, 100.0, 200.0, 400.0)
    ]
    assert times == sorted(times, reverse=True)
    assert times[0] > 2 * times[1] > 1.5 * times[2]
    assert times[-1] < times[-2]


@pytest.mark.parametrize("node", ["nvidia-dgx-h100", "nvidia-dgx-b300", "supermicro-as-8125gs-tnmr2-mi300x"])
def test_every_view_shows_the_same_step_and_days(node):
    """AIDC-Studio gives 71, 84 and 69 days for one plan: here one step time serves speed, network, cost and failures."""
    design = asked({"model.preset": "llama-3.1-70b", "training.tokens": "1T", "scale.nodes": 32, "preferences.nodes": [node]})
    step = magnitude(design.candidate.choice.step.expected, "s")
    facts = design.candidate.facts
    assert {round(stage["step_s"] / step, 3) for stage in facts.values() if "step_s" in stage} == {1.0}
    chosen = design.considered.ranking.chosen
    undisturbed = 1e12 / design.candidate.choice.step.units_per_second / 86_400
    goodput = design.candidate.reliability.goodput
    assert chosen.figures.days == pytest.approx(undisturbed / goodput, rel=0.01)
    for days in (stage["run_days"] for stage in facts.values() if stage.get("run_days")):
        assert undisturbed * 0.99 <= days <= chosen.figures.days * 1.01
    assert design.fact("run_gpu_hours") == pytest.approx(24 * chosen.figures.days * design.candidate.gpus, rel=0.02)


def test_noise_does_not_choose_a_plan():
    """AIDC-Studio's sweep prefers plans that are 1.0002 times faster: among plans within noise the simplest is taken."""
    design = asked({"model.preset": "llama-3.2-1b", "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"]})
    plan = design.candidate.choice.plan
    assert (plan.tensor, plan.pipeline, plan.context) == (1, 1, 1)
    best = min(magnitude(step.expected, "s") for _, _, step in design.candidate.choice.alternatives)
    assert magnitude(design.candidate.choice.step.expected, "s") <= 1.05 * best


def test_experts_are_spread_and_the_rest_is_not():
    """AutoLink and AIDC-Studio divide dense weights by the expert-parallel ranks too."""
    work = workload("mixtral-8x7b")
    whole, spread = (MemoryModel(work).allocated_terms(Plan(data=8, expert=ranks))[0][0] for ranks in (1, 8))
    total, routed = work.parameters.total, work.parameters.by_part["routed_experts"]
    assert whole == pytest.approx(2 * total, rel=0.01)
    assert spread == pytest.approx(2 * (total - routed * 7 / 8), rel=0.01)


def test_checker_and_search_use_the_same_sharding():
    """AIDC-Studio's checker assumes another ZeRO stage than its engine: the estimate of the chosen plan is the one that was searched."""
    work, machine = workload("llama-3.1-8b"), hardware("nvidia-dgx-h100")
    choice = search_plans(work, machine, 64, Answers())
    again = estimate_memory(work, choice.plan, quantity(machine.memory_bytes, "byte"))
    assert again.expected == choice.memory.expected
    assert again.verdict == choice.memory.verdict


@pytest.mark.parametrize(
    ("model", "nodes", "key", "value"),
    [
        ("mixtral-8x7b", 2, "parallelism.expert", 16),  # it has eight experts
        ("deepseek-moe-16b", 1, "parallelism.expert", 16),  # eight GPUs are fewer than the ranks
        ("mixtral-8x7b", 3, "parallelism.tensor", 3),  # divides neither heads nor hidden size
    ],
)
def test_illegal_plans_are_not_designs(model, nodes, key, value):
    """Expert parallelism wider than the ranks or the experts, or dimensions that do not divide, are accepted elsewhere."""
    design = asked({"model.preset": model, "scale.nodes": nodes, "preferences.nodes": ["nvidia-dgx-h200"]}, **{key: value})
    assert design.candidate.choice is None
    assert not design.accepted
    legal = asked({"model.preset": model, "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h200"]}, **{key: 8})
    assert getattr(legal.candidate.choice.plan, key.split(".")[1]) == 8


def test_stages_may_be_uneven():
    """Llama 3 405B puts 126 layers on 16 stages (arXiv:2407.21783 §3.3.2); a tool demands that they divide."""
    layers = stage_layers(126, 16)
    assert sum(layers) == 126
    assert (layers[0], layers[-1]) == (7, 7)
    assert set(layers[1:-1]) == {8}


@pytest.mark.parametrize(
    ("preset", "head_dim", "billion"),
    [("qwen3-32b", 128, 32.8), ("qwen3-30b-a3b", 128, 30.5), ("gpt-oss-20b", 64, 20.9), ("gemma-3-12b", 256, 11.8), ("glm-4.5", 128, 355)],
)
def test_heads_need_not_divide_the_hidden_size(preset, head_dim, billion):
    """AIDC-Studio takes hidden size over heads for the width of a head; these models state another, and their cards a total."""
    # the layers alone, without what a stated total holds beside them, such as Gemma's vision tower
    shape = replace(shape_from_answers(Answers.of({"model.preset": preset}), catalog()), parameters=0.0)
    assert shape.head_dim == head_dim != shape.hidden_size // shape.attention_heads
    assert count_parameters(shape, 4096).total == pytest.approx(billion * 1e9, rel=0.02)
    narrow = replace(shape, head_dim=shape.hidden_size // shape.attention_heads)
    assert count_parameters(narrow, 4096).flops_per_token != pytest.approx(count_parameters(shape, 4096).flops_per_token, rel=0.01)


@pytest.mark.parametrize(("gpu", "fp8", "bandwidth"), [("nvidia-h100-sxm-80gb", 1979, 3350), ("nvidia-b200-sxm", 4500, 7700)])
def test_peaks_are_dense_and_bandwidth_is_of_the_memory(gpu, fp8, bandwidth):
    """A sparse FP8 peak changed days by a third; a bandwidth of 1.1 for 8 TB/s changed 80 GPUs into 144 (AIDC-Studio)."""
    record = catalog().gpus[gpu]
    assert record.peak_dense["fp8"].to("TFLOP/s") == fp8
    assert record.memory.bandwidth.to("GB/s") >= bandwidth


def test_llama_3_405b_is_accepted_as_it_was_trained():
    """TP8 × PP16 on 16,384 H100 without recomputation (arXiv:2407.21783): rejected by AIDC-Studio's formula; AutoLink sees 2,676 GiB."""
    design = asked(
        {"model.preset": "llama-3.1-405b", "training.sequence_length": 8192, "training.global_batch": 2048, "scale.gpus": 16_384},
        preferences__nodes=["nvidia-dgx-h100"], parallelism__tensor=8, parallelism__pipeline=16, parallelism__zero_stage=1,
        parallelism__micro_batch=1, parallelism__recompute="none",
    )  # fmt: skip
    assert design.accepted
    memory = design.candidate.choice.memory
    assert memory.verdict in ("fits", "at_risk")
    assert magnitude(memory.low, "GiB") < 80 < 2676


def test_feedback_ends():
    """AIDC-Studio's overload raises the GPUs needed, which raises the overload: here edges are bounded, and sizes as answered stay."""
    for rack_power in ("10.5 kW", "15 kW"):
        design = asked(DGX, scale__nodes=64, facility__rack_power=rack_power, facility__racks=8, facility__total_power="300 kW")
        assert len(design.considered.judged[0].reentries) <= MOST_REENTRIES
        assert design.candidate.units == 64
        assert "power.total_exceeded" in design.hard_rejections


# ------------------------------------------------------------------------------------------------------ power, racks and money


def test_2048_gpus_are_not_two_racks():
    """NetDesign AI closed racks by height alone: 66 kW in one, and 2 racks for 2,048 GPUs. Racks of spare nodes come on top."""
    design = asked(DGX, scale__gpus=2048, facility__rack_power="45 kW")
    compute, spares = design.candidate.facility.racks[0], design.candidate.reliability.spare_nodes
    assert (design.candidate.nodes, compute.nodes_per_rack) == (256, 4)
    assert compute.racks == 64 + math.ceil(spares / 4)
    assert spares == sum(line.quantity for line in design.candidate.bom if line.category == "spares")
    assert magnitude(compute.power, "kW") <= 45


def test_one_power_of_a_node_serves_every_place():
    """NetDesign AI looked a node's power up in three places that disagreed."""
    design = asked(DGX, scale__nodes=64)
    facility = design.candidate.facility
    each = magnitude(facility.node_power_maximum, "kW")
    assert each == catalog().nodes["nvidia-dgx-h100"].power.maximum.to("kW") == design.fact("node_power_kw")
    assert magnitude(facility.racks[0].power, "kW") == pytest.approx(facility.racks[0].nodes_per_rack * each)


def test_switches_and_optics_are_load_too_and_nodes_count_in_full():
    """AutoLink leaves switches out; AIDC-Studio takes 0.9 of the nodes, though a synchronous job loads all of them at once."""
    design = asked(DGX, scale__nodes=128)
    nodes_kw = 128 * design.fact("node_power_kw")
    switches_kw = magnitude(design.candidate.fabric.compute.power_maximum, "kW")
    assert switches_kw > 48 * 0.747, "NVIDIA QM9700 datasheet: 747 W typical without optics"
    assert design.fact("it_power_kw") >= nodes_kw + switches_kw


@pytest.mark.parametrize(
    ("volts", "phases", "amperes", "share", "kilowatts"),
    [(120, 1, 15, 0.8, 1.44), (208, 1, 30, 0.8, 4.99), (415, 3, 60, 0.8, 34.5), (400, 3, 32, 1.0, 22.2)],
)
def test_continuous_load_of_circuits(volts, phases, amperes, share, kilowatts):
    """80 % of a breaker in North America, the rating under IEC: printed on PDUs as 1.44, 5.0, 34.5 and 22.2 kW."""
    assert circuit_usable_kw(volts, phases, amperes, share) == pytest.approx(kilowatts, rel=0.005)
    if share == 1.0:
        return  # the catalog is more careful with IEC feeds than their rule asks for, and says so in its notes
    (known,) = [
        pdu.usable.to("kW")
        for pdu in catalog().pdus
        if pdu.phases == phases and pdu.voltage.to("V") == volts and pdu.id.endswith(f"-{amperes}a")
    ]
    assert known == pytest.approx(kilowatts, rel=0.01)


def test_an_unknown_price_is_never_zero():
    """AutoLink prices parts at 0 and shows a total: a part without a price is named, a server without one leaves no total."""
    design = asked(DGX, scale__nodes=16)
    assert all(line.unit_low is None or line.unit_low > 0 for line in design.candidate.cost.bom)
    assert design.candidate.cost.missing
    unpriced = asked({"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["mitac-8x-mi325x"]})
    assert unpriced.candidate.cost.purchase is None
    assert unpriced.considered.ranking.chosen.figures.purchase_usd is None
    assert unpriced.finding("money.price_unknown") is not None


def test_ownership_includes_the_servers():
    """A total cost that leaves out the GPUs (AutoLink)."""
    design = asked(DGX, scale__nodes=16)
    cost = design.candidate.cost
    servers = next(line for line in cost.bom if line.item == "nvidia-dgx-h100")
    assert servers.quantity == 16
    assert magnitude(cost.ownership.low, "USD") > 16 * servers.unit_low


def test_the_budget_changes_the_design():
    """AutoLink's budget tiers change nothing."""
    sizes = [
        asked({**DGX, "model.preset": "llama-3.1-8b", "scale.mode": "budget", "budget.purchase": budget}).candidate.units
        for budget in ("1M USD", "4M USD", "16M USD")
    ]
    assert sizes == sorted(set(sizes))


def test_servers_gpus_and_racks_are_told_apart():
    """Templates of AutoLink mix GPUs, servers and racks in one number."""
    rack = asked(
        {"model.preset": "llama-3.1-70b", "scale.gpus": 144, "preferences.nodes": ["nvidia-gb200-nvl72"]}, facility__cooling="liquid"
    )
    assert (rack.candidate.units, rack.candidate.nodes, rack.candidate.gpus) == (2, 36, 144)
    boxes = asked(DGX, scale__gpus=144).candidate
    assert (boxes.units, boxes.nodes, boxes.gpus) == (18, 18, 144)


def test_electricity_of_the_catalog_is_in_a_sane_band():
    """A tariff of 0.8 USD/kWh slipped into a tool: industrial averages of the regions here are 0.04 to 0.45 USD/kWh."""
    prices = [value.to("USD/kWh") for fact in catalog().facts if fact.id.startswith("electricity-") for value in fact.values.values()]
    assert len(prices) >= 20
    assert all(0.03 <= price <= 0.45 for price in prices)


# ------------------------------------------------------------------------------------------------------------------ software


def test_no_rule_reads_a_fact_that_nobody_states():
    """A rule of AutoLink read another spelling of its key and never fired for months."""
    facts = set()
    for answers in (
        {**DGX, "scale.nodes": 16},
        {"model.preset": "gpt2-xl", "scale.nodes": 1, "own_server.gpu": "nvidia-rtx-3090", "own_server.gpus": 4},
    ):
        facts |= {name for stage in asked(answers).candidate.facts.values() for name in stage}
    assert {name for rule in all_rules().values() for name in rule.reads} - facts == set()


def test_a_design_is_plain_data_of_sane_size():
    """AutoLink's export of 512 nodes took a gigabyte; a design of 2,048 nodes is text of some hundred kilobytes."""
    design = advise(Answers.of({**DGX, "scale.nodes": 2048}), catalog())
    text = json.dumps(design.document())
    assert 10_000 < len(text) < 1_000_000


def test_nothing_is_left_over_from_an_earlier_question():
    """NetDesign AI shows results of the use case before: an answer changed and changed back gives the same design."""
    answers = Answers.of({**DGX, "scale.nodes": 16})
    first = advise(answers, catalog()).document()
    other = advise(answers.with_value("workload.kind", "fine_tuning_lora"), catalog()).document()
    assert other["design"]["summary"] != first["design"]["summary"]
    assert advise(answers, catalog()).document() == first
