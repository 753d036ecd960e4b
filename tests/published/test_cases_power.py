"""Power, racks and cooling of machines that were built or planned in public."""

from __future__ import annotations

import pytest

from catalogs.quantities import magnitude
from catalogs.schema import Node
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.sizing.placed import placed_racks
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


@case(
    "pow-puget-4x3090",
    "https://www.thefpsreview.com/2020/10/22/puget-systems-tests-four-blower-style-geforce-rtx-3090-cards-in-a-single-workstation-1717-watt-peak-power-draw/",
)
def test_four_cards_at_300_w_on_one_supply_of_1600_w():
    """1,717 W at the wall: predicted 1,550 to 1,850; the supply is over 95 % loaded and the outlet carries 1,440 W continuously."""
    box: dict[str, object] = {
        **RIG, "facility.gpu_power_cap": "300 W", "own_server.supplies": 1, "own_server.supply_rating": "1600 W",
    }  # fmt: skip
    tested = asked(box, facility__feed="120v_single_phase")
    assert 1.55 <= tested.fact("node_power_kw") <= 1.85
    assert tested.fact("supply_load_percent") > 95
    assert "power.supply_exhausted" in tested.rejections
    assert "power.circuit_overloaded" in tested.hard_rejections
    cooler = asked(box, facility__gpu_power_cap="235 W", own_server__supply_rating="2000 W", facility__feed="230v_single_phase")
    assert not set(cooler.rejections) & {"power.supply_exhausted", "power.circuit_overloaded"}


@pytest.mark.parametrize(
    ("node", "kilowatts"),
    [
        ("nvidia-dgx-a100-640gb", 6.5),  # NVIDIA DGX A100 user guide
        ("nvidia-dgx-h100", 10.2),  # NVIDIA DGX H100 user guide
        ("nvidia-dgx-h200", 10.2),  # NVIDIA DGX H200 user guide
        ("nvidia-dgx-b200", 14.3),  # NVIDIA DGX B200 user guide
        ("nvidia-dgx-b300", 14.0),  # DGX SuperPOD B300: four in a rack, about 56 kW
        ("nvidia-gb200-nvl72", 132.0),  # NVIDIA Enterprise Reference Architectures
        ("nvidia-gb300-nvl72", 142.0),  # NVIDIA AI factory, up to 142 kW
        ("supermicro-gb300-nvl72", 140.0),  # Supermicro's brochure: 132 to 140 kW; the same shelves and trays
        ("nvidia-gb200-nvl36x2", 66.0),  # 66 kW for each of its two racks, as commonly quoted
    ],
)
def test_systems_of_nvidia_within_ten_percent(node, kilowatts):
    record = catalog().nodes[node]
    draw = node_draw(record, catalog().gpus[record.gpu], catalog(), Answers())
    assert magnitude(draw.maximum, "kW") == pytest.approx(kilowatts, rel=0.10)


@pytest.mark.parametrize(
    ("node", "per_rack", "units", "kilowatts", "hall"),
    [
        ("nvidia-dgx-h100", 4, "42 U", 40.8, {}),  # DGX SuperPOD H100
        ("nvidia-dgx-b200", 2, "42 U", 28.6, {}),  # DGX B200 data-centre planning
        ("nvidia-dgx-b200", 4, "52 U", 57.2, {"facility.cooling": "liquid, rear_door"}),  # the same, in specialised sites
        ("nvidia-dgx-b300", 4, "52 U", 56.0, {}),  # DGX SuperPOD B300, air, in specialised sites
        ("nvidia-gb200-nvl72", 1, "48 U", 132.0, {"facility.cooling": "liquid"}),
        ("nvidia-gb300-nvl72", 1, "48 U", 142.0, {"facility.cooling": "liquid"}),
    ],
)
def test_racks_of_nvidia_within_ten_percent(node, per_rack, units, kilowatts, hall):
    """Power of a full rack; where the vendor goes beyond what air or a rear door takes, from the system figure alone."""
    record = catalog().nodes[node]
    draw = node_draw(record, catalog().gpus[record.gpu], catalog(), Answers())
    assert per_rack * magnitude(draw.maximum, "kW") == pytest.approx(kilowatts, rel=0.10)
    if kilowatts > 50 and not record.is_rack:
        return
    wanted: dict[str, object] = {"model.preset": "llama-3.1-8b", "preferences.nodes": [node], "facility.rack_units": units, **hall}
    size = {"scale.gpus": 72 * 2} if record.is_rack else {"scale.nodes": per_rack * 2}
    design = asked({**wanted, **size})
    assert design.fact("nodes_per_rack") == per_rack
    assert design.fact("rack_nodes_kw") == pytest.approx(kilowatts, rel=0.10)


@pytest.mark.parametrize(
    ("rack_kw", "per_rack", "racks"),
    [(15.0, 1, 64), (42.0, 4, 16)],  # Network-Automation pull request 160: 64 racks of 15 kW, 16 of 42 kW for 512 GPUs
)
def test_every_rack_names_what_binds_it(rack_kw, per_rack, racks):
    """512 H100 in 64 systems: the power of the rack binds in both; the last rack holds what is left."""
    node = catalog().nodes["nvidia-dgx-h100"]
    candidate = Candidate("c", node, catalog().gpus[node.gpu], 64, 64, 512)
    hall = {"facility.rack_power": f"{rack_kw} kW"}
    placed = placed_racks(candidate, Context(Answers.of(hall), catalog(), None))
    full = [rack for rack in placed if sum(slot.role == "node" for slot in rack.slots) == per_rack]
    assert len(full) == racks
    assert {rack.binding for rack in full} == {"power"}
    assert all(rack.binding_words for rack in placed)


def test_a_soft_limit_returns_the_larger_design_and_says_so():
    """100 kW wished for, eight systems asked for: they are designed, with the excess named and a cap offered."""
    hall: dict[str, object] = {
        "model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-h100"], "facility.total_power": "100 kW", "facility.pue": 1.3,
        "scale.nodes": 8, "facility.power_limit": "soft",
    }  # fmt: skip
    soft = asked(hall)
    assert soft.candidate.units == 8
    assert not soft.hard_rejections
    found = soft.finding("power.total_over_soft")
    assert "100 kW that were wished for" in found.because
    assert any(remedy.key == "facility.gpu_power_cap" for remedy in found.remedies)


def test_a_cap_makes_a_design_fit_and_costs_speed():
    """The cap that the rejection offers is applied: the design fits and its step takes longer."""
    hall: dict[str, object] = {
        "model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-h100"], "facility.total_power": "100 kW", "facility.pue": 1.3,
        "scale.nodes": 8, "preferences.storage": "object_store",
    }  # fmt: skip
    over = asked(hall)
    offered = next(each.value for each in over.finding("power.total_exceeded").remedies if each.key == "facility.gpu_power_cap")
    capped = asked(hall, facility__gpu_power_cap=offered)
    assert "power.total_exceeded" not in capped.rejections
    assert magnitude(capped.candidate.choice.step.expected, "s") > magnitude(over.candidate.choice.step.expected, "s")


def test_beside_others_a_soft_limit_counts_by_its_excess():
    """Eight A100 systems of 6.5 kW keep to 100 kW at a PUE of 1.3, eight H100 systems of 10.2 kW do not: the excess is the penalty."""
    answers: dict[str, object] = {
        "model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-h100", "nvidia-dgx-a100-640gb"], "scale.nodes": 8,
        "facility.total_power": "100 kW", "facility.pue": 1.3, "budget.objective": "best_per_kw", "preferences.storage": "object_store",
    }  # fmt: skip
    hard, soft = asked(answers), asked(answers, facility__power_limit="soft")
    assert hard.candidate.node.id == "nvidia-dgx-a100-640gb"
    assert len(soft.considered.ranking.good) == 2
    fastest = asked(answers, facility__power_limit="soft", budget__objective="fastest")
    assert fastest.candidate.node.id == "nvidia-dgx-h100"
