"""Power, racks and cooling of machines that were built or planned in public."""

from __future__ import annotations

import pytest

from catalogs.quantities import magnitude
from catalogs.schema import Node
from rules.answers import Answers
from rules.sizing.power import gpu_sum_w, node_draw
from tests.published.asking import asked, asks_for, case, catalog

NVL72: dict[str, object] = {"model.preset": "llama-3.1-70b", "scale.gpus": 576, "preferences.nodes": ["nvidia-gb200-nvl72"]}
RIG: dict[str, object] = {"model.preset": "gpt2-xl", "scale.nodes": 1, "own_server.gpu": "nvidia-rtx-3090", "own_server.gpus": 4}


@case(
    "pow-gb200-su",
    "https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-gb200/latest/dgx-superpod-architecture.html",
)
def test_a_unit_of_eight_nvl72_racks():
    """576 GPUs in eight racks, 1.2 MW: not for halls of 50 kW per rack, and not for halls without water."""
    fits = asked(NVL72, facility__cooling="liquid", facility__rack_power="150 kW")
    assert fits.accepted
    assert (fits.candidate.gpus, fits.candidate.facility.racks[0].racks) == (576, 8)
    assert fits.fact("it_power_kw") == pytest.approx(1200, rel=0.1)
    weak = asked(NVL72, facility__cooling="liquid", facility__rack_power="50 kW")
    assert weak.hard_rejections == {"power.rack_power_exceeded"}
    dry = asked(NVL72, facility__cooling="air", facility__rack_power="150 kW")
    assert dry.hard_rejections == {"power.liquid_missing"}


@case("pow-gb300-rack-135", "https://github.com/stas00/ml-engineering/blob/master/compute/accelerator/README.md#power-consumption")
def test_rack_power_is_not_the_sum_of_its_gpus():
    """GB300: 18 trays of 7.5 kW are 135 kW; 72 × 1.4 kW are 100.8 and a quarter too little."""
    node = catalog().nodes["nvidia-gb300-nvl72"]
    gpu = catalog().gpus[node.gpu]
    draw = node_draw(node, gpu, catalog(), Answers())
    assert gpu_sum_w(node, gpu) == pytest.approx(100_800)
    assert magnitude(draw.typical, "kW") == 135
    assert magnitude(draw.maximum, "kW") >= 135
    design = asked(
        {"model.preset": "llama-3.1-70b", "scale.gpus": 72, "preferences.nodes": ["nvidia-gb300-nvl72"]}, facility__cooling="liquid"
    )
    assert design.fact("rack_power_kw") >= 135


@case("pow-gpus-alone-claim", "https://ziash.github.io/nvidia-nca-aiio-study-guide/02-ai-infrastructure/03-power-and-cooling/")
def test_a_dgx_h100_is_more_than_its_gpus_and_may_be_air_cooled():
    """A study guide gives the system's 10.2 kW to the GPUs alone and requires liquid; four systems of a rack are air-cooled by NVIDIA."""
    design = asked({"model.preset": "llama-3.1-8b", "scale.nodes": 4, "preferences.nodes": ["nvidia-dgx-h100"]}, facility__cooling="air")
    assert design.fact("gpu_sum_kw") == pytest.approx(5.6)
    assert design.fact("node_power_kw") == pytest.approx(10.2)
    assert design.accepted
    assert design.fact("nodes_per_rack") == 4
    assert design.fact("rack_power_kw") == pytest.approx(40.8)
    assert design.fact("cooling") == "air"
    assert not any(rule.startswith("power.") for rule in design.rejections)


@case("pow-4x3090-15a", "https://jbarrow.ai/2026-05-18-gpu-workstation/")
def test_four_cards_on_one_outlet_of_120_v_and_15_a():
    """80 % of 1,800 W are 1,440: 4 × 450 W and 280 W of CPU are too much; 235 W per card, losses of the supply included, are not."""
    uncapped = asked(RIG, own_server__power="2080 W", facility__feed="120v_single_phase")
    assert uncapped.hard_rejections == {"power.circuit_overloaded"}
    assert uncapped.fact("circuit_usable_kw") == pytest.approx(1.44)
    assert "cap on the GPUs costs less speed" in uncapped.finding("power.power_cap").because
    capped = asked(RIG, own_server__power=f"{(4 * 235 + 280) / 0.9:.0f} W", facility__feed="120v_single_phase")
    assert capped.accepted
    assert capped.finding("power.circuit_overloaded") is None


@case("pow-7x4090", "https://www.mov-axbx.com/wopr/wopr_power.html")
def test_seven_cards_need_more_than_one_outlet():
    """7 × 450 W and 280 W are 3,430 W: one circuit of 120 V is rejected, 240 V carries it."""
    rig: dict[str, object] = {
        "model.preset": "llama-3.2-1b", "training.sequence_length": 2048, "scale.nodes": 1, "own_server.gpu": "nvidia-rtx-4090",
        "own_server.gpus": 7,
    }  # fmt: skip
    by_parts = asked(rig)
    assert by_parts.fact("gpu_sum_kw") == pytest.approx(7 * 0.450)
    assert by_parts.fact("node_power_kw") >= 3.43
    outlet = asked(rig, own_server__power="3430 W", facility__feed="120v_single_phase")
    assert "power.circuit_overloaded" in outlet.hard_rejections
    for feed in ("208v_three_phase", "230v_single_phase"):
        assert "power.circuit_overloaded" not in asked(rig, own_server__power="3430 W", facility__feed=feed).rejections


@case("pow-a100-tower-psu", "https://github.com/l4rz/reverse-engineering-dell-idrac-to-get-rid-of-gpu-throttling/issues/3")
def test_a_gpu_in_a_chassis_that_is_not_made_for_it_is_asked_about():
    """An A100 of 400 W in a tower with one supply of 1,400 W was capped near 240 W."""
    tower = asked({"model.preset": "gpt2-xl", "scale.nodes": 1, "own_server.gpu": "nvidia-a100-sxm-80gb", "own_server.gpus": 1})
    assert asks_for(tower, "list of qualified gpus", "400 w")
    sold = asked({"model.preset": "gpt2-xl", "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"]})
    assert not asks_for(sold, "list of qualified gpus")


@case("pow-sc24-cap", "https://ryanscherbarth.com/sc24")
def test_three_nodes_of_four_h100_nvl_under_a_cap():
    """2,100 W of processors and 4,800 W of GPUs before memory and fans; where the site's cap binds, capping GPUs is offered."""
    node = Node(
        id="student-node", name="student node", vendor="own", gpu="nvidia-h100-nvl-94gb", gpu_count=4, topology="bridge",
        scale_up_domain=2, cpu_count={"value": 2, "source": "you"}, cooling="air",
    )  # fmt: skip
    gpu = catalog().gpus[node.gpu]
    draw = node_draw(node, gpu, catalog(), Answers())
    assert 3 * gpu_sum_w(node, gpu) == pytest.approx(4800)
    assert 6.9 <= 3 * magnitude(draw.maximum, "kW") <= 1.5 * 6.9
    cluster: dict[str, object] = {
        "model.preset": "llama-3.1-8b", "scale.nodes": 3, "own_server.gpu": "nvidia-h100-nvl-94gb", "own_server.gpus": 4,
        "own_server.power": "2.3 kW", "facility.pue": 1.0, "budget.objective": "best_per_kw",
    }  # fmt: skip
    capped = asked(cluster, facility__total_power="6 kW")
    assert capped.hard_rejections == {"power.total_exceeded"}
    assert capped.finding("power.power_cap") is not None
    assert "power.total_exceeded" not in asked(cluster, facility__total_power="20 kW").rejections


@case("pow-planner-power-budget", "https://github.com/llm-d-incubation/llm-d-planner/issues/70")
def test_a_limit_of_100_kw_holds_seven_nodes():
    """100 kW at a PUE of 1.3 and nodes of 10.2 kW: seven, with the switches and an object store that is elsewhere."""
    hall: dict[str, object] = {
        "model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-h100"], "facility.total_power": "100 kW", "facility.pue": 1.3,
        "preferences.storage": "object_store",
    }  # fmt: skip
    assert asked(hall, scale__nodes=7).accepted
    over = asked(hall, scale__nodes=8)
    assert over.hard_rejections == {"power.total_exceeded"}
    assert over.finding("power.total_exceeded").remedies
