"""The plan search: sane plans for known situations, constraints, determinism, and bounds that must hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.candidate import Context
from rules.proposals import propose
from rules.sizing.best_first import varied
from rules.sizing.hardware import hardware_of
from rules.sizing.memory import MemoryModel
from rules.sizing.placement import expert_domains, most_domains, placed_domain, spread_evenly
from rules.sizing.plan_counts import legal_gpu_counts, minimum_gpus, usable_gpus
from rules.sizing.plan_space import Fixed, enumerate_shardings
from rules.sizing.plans import run_time, search, search_plans, step_seconds
from rules.sizing.results import ModelShape, Plan
from rules.sizing.step import estimate_step
from rules.sizing.workload import describe_workload

CATALOG = load_catalog()
H100, H200, GB200, FOUR_4090 = "nvidia-dgx-h100", "nvidia-dgx-h200", "nvidia-gb200-nvl72", "workstation-4x-rtx-4090"


def hardware(node: str):
    record = CATALOG.nodes[node]
    return hardware_of(record, CATALOG.gpus[record.gpu], CATALOG)


def ask(**sections):
    answers = Answers.of(sections)
    return answers, describe_workload(answers, CATALOG)


def choose(node: str, gpus: int, *, exhaustive: bool = False, **sections):
    answers, workload = ask(**sections)
    return search_plans(workload, hardware(node), gpus, answers, exhaustive=exhaustive)


def test_70b_full_fine_tuning_does_not_fit_one_h100_server():
    """16 to 18 bytes per parameter are 1.1 to 1.3 TB against 0.64 TB [Rajbhandari 2020 §3.1]."""
    answers, workload = ask(workload={"kind": "fine_tuning_full"}, model={"preset": "llama-3.1-70b"})
    assert search_plans(workload, hardware(H100), 8, answers) is None
    result = search(workload, hardware(H100), 8, answers)
    assert result.rejected["does not fit in memory"] > 0
    assert result.nearest is not None
    assert result.nearest.memory[0] > hardware(H100).memory_bytes


def test_70b_qlora_fits_one_h100_server():
    choice = choose(H100, 8, workload={"kind": "fine_tuning_qlora"}, model={"preset": "llama-3.1-70b"})
    assert choice is not None
    assert choice.memory.verdict == "fits"


def test_405b_on_16384_h100_keeps_groups_inside_servers_and_16_stages():
    """As Llama 3 was trained, TP8 PP16 [arXiv:2407.21783 table 4]; a few context ranks may stand in for some of the tensor parallelism."""
    choice = choose(H100, 16_384, model={"preset": "llama-3.1-405b"}, training={"global_batch": 2048, "sequence_length": 8192})
    assert choice is not None
    assert choice.plan.pipeline == 16
    assert choice.plan.tensor in (4, 8)
    assert choice.plan.context <= 4
    assert choice.memory.verdict == "fits"


def test_405b_on_1024_h100_keeps_tensor_parallelism_in_the_server():
    choice = choose(H100, 1024, model={"preset": "llama-3.1-405b"})
    assert choice is not None
    assert choice.plan.tensor <= 8
    assert choice.plan.gpus == 1024
    assert choice.alternatives


DEEPSEEK = {"model": {"preset": "deepseek-v3"}, "training": {"precision": "mxfp8", "global_batch": 4608, "sequence_length": 4096}}


@pytest.mark.parametrize("gpus", [256, 512])
def test_deepseek_v3_on_gb200_spreads_experts_inside_the_rack(gpus):
    """256 GB200 with experts 64 ways are four racks with 64 GPUs of 72 each [Megatron Bridge performance summary]."""
    choice = choose(GB200, gpus, **DEEPSEEK)
    assert choice is not None
    assert choice.plan.expert == 64
    assert choice.memory.verdict == "fits"
    assert placed_domain(choice.plan, 72) == 64
    assert "64 of the 72 GPUs of each scale-up domain train, so that groups stay inside" in choice.step.notes


def test_experts_64_ways_straddle_full_racks():
    """Eight racks of 72 hold one whole group of 64 each, nine are needed: seven of nine groups lie in two racks."""
    _, workload = ask(**DEEPSEEK)
    inside, across = (
        estimate_step(replace(workload, global_batch=8 * data), Plan(expert=64, data=data, zero_stage=1), hardware(GB200))
        for data in (512, 576)
    )
    assert across.units_per_second / 576 < 0.8 * inside.units_per_second / 512
    assert across.terms["expert_parallel"].magnitude > 4 * inside.terms["expert_parallel"].magnitude
    assert across.inter_node_bytes_per_gpu.magnitude > 10 * inside.inter_node_bytes_per_gpu.magnitude
    assert "groups of 64 do not divide a domain of 72 GPUs: those that lie in two set the pace" in across.notes


@pytest.mark.parametrize("per_domain", [64, 72])
def test_a_plan_remembers_how_many_gpus_of_a_rack_it_uses(per_domain):
    """Nine racks with 64 used GPUs and eight full ones have 576 each; only in the former do 32 or 64 experts' ranks share a rack."""
    answers, workload = ask(**DEEPSEEK)
    choice = search_plans(workload, replace(hardware(GB200), per_domain=per_domain), 576, answers)
    assert choice is not None
    assert (choice.plan.expert in (32, 64)) is (per_domain == 64)
    again = estimate_step(workload, choice.plan, hardware(GB200))
    assert again.expected.magnitude == pytest.approx(choice.step.expected.magnitude)


def test_nine_racks_train_with_64_gpus_each():
    """A design of 648 GPUs may leave eight of each rack idle, as published runs do, where experts 32 or 64 ways then share a rack."""
    given = {**DEEPSEEK, "scale": {"gpus": 648}, "preferences": {"nodes": [GB200]}, "facility": {"cooling": ["liquid"]}}
    answers, workload = ask(**given)
    (candidate,) = propose(Context(answers, CATALOG, workload)).candidates
    assert candidate.choice is not None
    plan = candidate.choice.plan
    assert (candidate.units, candidate.gpus) == (9, 648)
    assert (plan.gpus, plan.per_domain) == (576, 64)
    assert plan.expert in (32, 64)


@pytest.mark.parametrize(
    ("gpus", "domain", "used"), [(512, 72, 64), (256, 72, 64), (576, 72, 72), (96, 72, 48), (48, 72, 48), (1024, 72, 64), (100, 8, 8)]
)
def test_jobs_are_spread_evenly_over_the_fewest_racks_that_can(gpus, domain, used):
    assert spread_evenly(gpus, domain) == used


@pytest.mark.parametrize(
    ("plan", "domain", "domains"),
    [
        (Plan(tensor=8, data=8), 8, 1),
        (Plan(tensor=16, data=4), 8, 2),
        (Plan(expert=64, data=576), 72, 2),
        (Plan(expert=64, data=512), 72, 1),
        (Plan(expert=128, data=512), 72, 2),
        (Plan(expert=8, data=576), 72, 1),
        (Plan(tensor=3, data=8), 8, 2),
    ],
)
def test_domains_of_a_group(plan, domain, domains):
    """Counted by hand: 64 ranks in a full rack of 72 can start in one and end in the next; 64 of each rack hold them whole."""
    assert most_domains(plan, domain) == domains


@pytest.mark.parametrize(
    ("plan", "domain", "domains"),
    [
        (Plan(expert=64, data=576), 72, 2),
        (Plan(expert=64, data=512), 72, 1),
        (Plan(expert=48, data=144), 72, 2),
        (Plan(expert=16, data=64), 8, 2),
        (Plan(tensor=16, data=64), 8, 1),
    ],
)
def test_domains_of_an_expert_group(plan, domain, domains):
    """48 of 72 fit in a rack, yet the second group lies half in the next one; tensor groups do not count."""
    assert expert_domains(plan, domain) == domains


@pytest.mark.parametrize(("experts", "largest"), [(256, 8), (160, 8), (72, 72), (144, 72), (60, 12), (128, 8)])
def test_expert_sizes_fill_racks_of_72(experts, largest):
    """The widest of 8, 9, 12, 18, 24, 36 and 72 that divides the experts is among the sizes that are searched."""
    shape = ModelShape("m", "moe", layers=8, hidden_size=2048, attention_heads=16, experts=experts, experts_per_token=2)
    space = enumerate_shardings(shape, hardware(GB200), 576, 576, 4096, Fixed(tensor=1, pipeline=1), exhaustive=False)
    assert largest in {sharding.expert for sharding in space.shardings}


def test_tensorflow_trains_data_parallel_only():
    """Its strategies copy the whole model to every GPU [tensorflow.org/guide/distributed_training]."""
    software = {"framework": "tensorflow"}
    small = choose(H100, 16, model={"preset": "gpt2-xl"}, software=software)
    assert small is not None
    assert (small.plan.tensor, small.plan.pipeline, small.plan.context, small.plan.zero_stage) == (1, 1, 1, 0)
    assert any("TensorFlow" in note for note in small.step.notes)
    assert choose(H100, 128, model={"preset": "llama-3.1-70b"}, software=software) is None
    asked = choose(H100, 128, model={"preset": "llama-3.1-70b"}, software=software, parallelism={"tensor": 8, "pipeline": 4})
    assert asked is not None
    assert (asked.plan.tensor, asked.plan.pipeline) == (8, 4)


def test_8b_on_one_server_needs_neither_pipeline_nor_much_tensor_parallelism():
    choice = choose(H100, 8, workload={"kind": "fine_tuning_full"}, model={"preset": "llama-3.1-8b"})
    assert choice is not None
    assert choice.plan.pipeline == 1
    assert choice.plan.tensor <= 2


def test_7b_lora_on_four_4090_avoids_tensor_parallelism():
    """No peer to peer: every exchange goes through host memory [NVIDIA/nccl issue 1127]."""
    choice = choose(FOUR_4090, 4, workload={"kind": "fine_tuning_lora"}, model={"preset": "llama-2-7b"}, training={"sequence_length": 2048})
    assert choice is not None
    assert choice.plan.tensor == 1


def test_long_sequences_get_context_parallelism():
    choice = choose(H200, 128, model={"preset": "llama-3.1-70b"}, training={"sequence_length": 131_072, "global_batch": 128})
    assert choice is not None
    assert choice.plan.context > 1


def test_given_parallelism_is_kept():
    given = {"mode": "given", "tensor": 4, "pipeline": 2, "zero_stage": 1, "micro_batch": 2, "recompute": "full"}
    choice = choose(H100, 64, model={"preset": "llama-3.1-8b"}, parallelism=given)
    assert choice is not None
    plan = choice.plan
    assert (plan.tensor, plan.pipeline, plan.data, plan.zero_stage, plan.micro_batch, plan.recompute) == (4, 2, 8, 1, 2, "full")


def test_impossible_parallelism_finds_nothing_and_says_why():
    answers, workload = ask(model={"preset": "llama-3.1-8b"}, parallelism={"tensor": 5})
    result = search(workload, hardware(H100), 40, answers)
    assert result.found == ()
    assert "tensor parallelism does not divide the attention heads" in result.rejected


@pytest.mark.parametrize("gpus", [1, 3, 7, 8, 24, 56, 100, 512])
def test_every_plan_is_whole(gpus):
    answers, workload = ask(model={"preset": "llama-3.1-8b"}, training={"global_batch": 512})
    for found in search(workload, hardware(H100), gpus, answers).found:
        plan = found.plan
        assert plan.gpus == gpus
        assert workload.global_batch % (plan.data * plan.micro_batch) == 0
        assert workload.model.attention_heads % plan.tensor == 0
        assert found.memory[2] <= hardware(H100).memory_bytes or not found.fits


def test_more_memory_never_makes_it_slower():
    slower, faster = (choose(node, 64, model={"preset": "llama-3.1-70b"}) for node in (H100, H200))
    assert slower is not None
    assert faster is not None
    assert faster.step.expected.magnitude <= 1.05 * slower.step.expected.magnitude


@pytest.mark.parametrize("preset", ["llama-3.1-70b", "deepseek-v3", "llama-3.1-8b"])
@pytest.mark.parametrize("node", [H100, "supermicro-as-4125gs-tnrt2-l40s"])
def test_a_search_within_a_time_finds_what_the_whole_search_finds(preset, node):
    from rules.sizing import plans

    answers, workload = ask(model={"preset": preset}, training={"global_batch": 240, "sequence_length": 8192})
    for gpus in (8, 16, 40, 48, 128, 240):
        plans._SEARCHES.clear()
        plans._PACES.clear()
        whole = step_seconds(workload, hardware(node), gpus, answers)
        for share in (0.5, 0.9, 0.9999, 1.0, 1.0001, 1.004, 1.1, 2.0):
            plans._SEARCHES.clear()
            plans._PACES.clear()
            limit = share * (whole or 100.0)
            within = step_seconds(workload, hardware(node), gpus, answers, limit)
            assert (within if within is None or within <= limit else None) == (whole if whole is not None and whole <= limit else None)
            plans._SEARCHES.clear()
            plans._PACES.clear()
            in_time = whole is not None and whole <= limit
            assert plans.reaches(workload, hardware(node), gpus, answers, limit) == in_time
            for other in (0.98 * limit, 1.02 * limit, limit):  # what was found before must not change what is said of another time
                assert plans.reaches(workload, hardware(node), gpus, answers, other) == (whole is not None and whole <= other)


def test_a_varied_plan_is_the_plan_that_would_have_been_made():
    plan = Plan(tensor=8, data=4, schedule="1f1b", recompute_modules=("mlp",))
    assert varied(plan, data=2, recompute="full") == Plan(tensor=8, data=2, recompute="full", recompute_modules=("mlp",))
    assert hash(varied(plan, data=2)) == hash(Plan(tensor=8, data=2, recompute_modules=("mlp",)))
    assert plan.data == 4


def test_the_search_is_deterministic():
    labels = set()
    for _ in range(2):
        from rules.sizing import plans

        plans._SEARCHES.clear()
        plans._choose.cache_clear()
        choice = choose(H100, 256, model={"preset": "llama-3.1-70b"})
        assert choice is not None
        labels.add((choice.plan.label, tuple(plan.label for plan, _, _ in choice.alternatives)))
    assert len(labels) == 1


def test_exhaustive_is_never_worse():
    bounded = choose(H100, 64, model={"preset": "llama-3.1-70b"})
    thorough = choose(H100, 64, model={"preset": "llama-3.1-70b"}, exhaustive=True)
    assert bounded is not None
    assert thorough is not None
    assert thorough.enumerated > bounded.enumerated
    assert thorough.enumerated == thorough.ranked + sum(thorough.rejected.values())
    assert len(thorough.alternatives) <= 4
    assert thorough.front[0][1] <= thorough.step.expected.to("s").magnitude
    assert thorough.step.expected.magnitude <= 1.005 * bounded.step.expected.magnitude


def test_the_smallest_cluster_for_405b_holds_its_state():
    """At least 16 bytes per parameter, 6.5 TB, over 80 GB each: more than 81 GPUs [Rajbhandari 2020 §3.1]."""
    answers, workload = ask(model={"preset": "llama-3.1-405b"})
    smallest = minimum_gpus(workload, hardware(H100), answers)
    assert smallest is not None
    assert 81 < smallest <= 256
    assert minimum_gpus(workload, hardware(H100), answers, largest=64) is None


def test_counts_that_the_batch_allows():
    answers, workload = ask(model={"preset": "llama-3.1-8b"}, training={"global_batch": 512})
    counts = legal_gpu_counts(workload, hardware(H100), answers, 40)
    assert {8, 16, 32, 64} <= set(counts)
    assert 37 * 8 not in counts  # 37 is prime, no divisor of 512 sequences, and more than 32 layers
    assert usable_gpus(workload, hardware(H100), answers, 37 * 8 + 3) == 36 * 8


def test_quick_form_agrees_with_the_choice():
    answers, workload = ask(model={"preset": "llama-3.1-70b"})
    choice = search_plans(workload, hardware(H100), 64, answers)
    assert choice is not None
    assert step_seconds(workload, hardware(H100), 64, answers) == pytest.approx(choice.step.expected.magnitude)


def test_llama_3_405b_pretraining_takes_weeks():
    """15.6 T tokens on 16,384 H100; the run took 54 days with interruptions, above 90 % effective [arXiv:2407.21783 §3.3.4, §2]."""
    training = {"global_batch": 2048, "sequence_length": 8192, "tokens": "15.6T"}
    answers, workload = ask(model={"preset": "llama-3.1-405b"}, training=training)
    choice = search_plans(workload, hardware(H100), 16_384, answers)
    assert choice is not None
    assert 50 <= run_time(workload, choice.step).to("day").magnitude <= 75


def test_vision_models_train_data_parallel():
    choice = choose("nvidia-dgx-a100-640gb", 8, workload={"kind": "vision"}, model={"preset": "resnet-50"})
    assert choice is not None
    assert choice.plan.label.startswith("TP1 PP1 DP8")


def test_whole_layers_are_recomputed_in_as_few_as_it_takes():
    """One layer less would not surely fit; with the answer given, all layers recompute or so many as it says [--recompute-num-layers]."""
    training, given = {"global_batch": 48, "sequence_length": 8192}, {"tensor": 8, "pipeline": 3, "micro_batch": 2}
    choice = choose(H100, 24, model={"preset": "llama-3.1-70b"}, training=training, parallelism=given)
    assert choice is not None
    count, limit = choice.plan.recompute_layers, hardware(H100).memory_bytes
    assert (choice.plan.recompute, choice.memory.verdict) == ("full", "fits")
    assert 0 < count < 27
    kernel = MemoryModel(ask(model={"preset": "llama-3.1-70b"}, training=training)[1])
    assert kernel.peak_bytes(choice.plan)[2] <= limit < kernel.peak_bytes(replace(choice.plan, recompute_layers=count - 1))[2]
    every = choose(H100, 24, model={"preset": "llama-3.1-70b"}, training=training, parallelism={**given, "recompute": "full"})
    asked = choose(H100, 24, model={"preset": "llama-3.1-70b"}, training=training, parallelism={**given, "recompute_layers": 26})
    assert every is not None
    assert asked is not None
    assert (every.plan.recompute_layers, asked.plan.recompute_layers) == (0, 26)
    assert choice.step.expected < asked.step.expected < every.step.expected


@pytest.mark.parametrize("exhaustive", [False, True])
def test_a_zero_bubble_schedule_is_searched_with_when_it_is_asked_for(exhaustive):
    """ZB-H1 idles (p − 1)(F + B − W) of 1F1B's (p − 1)(F + B + W), a third where they take equally long [arXiv:2401.10241 table 1]."""
    sections = {"model": {"preset": "llama-3.1-70b"}, "training": {"global_batch": 63, "sequence_length": 4096}}
    given = {"tensor": 8, "pipeline": 4, "micro_batch": 1}
    flat, zero = (
        choose(H100, 32, exhaustive=exhaustive, **sections, parallelism={**given, "schedule": each}) for each in ("1f1b", "zb_h1")
    )
    assert flat is not None
    assert zero is not None
    assert (flat.plan.virtual_stages, zero.plan.schedule) == (1, "zb_h1")
    share = (zero.step.terms["pipeline_bubble"] / flat.step.terms["pipeline_bubble"]).magnitude
    assert 1 / 3 < share < 0.5
    assert "ZB-H1" in zero.plan.label


def test_named_modules_are_recomputed_when_they_are_asked_for():
    """The FFN of Llama 3 8B holds 176 of the 218 million weights of a layer, so that its products take 81 % of those of a forward pass, and
    leaves 6·f of the h·(12 + 4/4) + 6·f bytes per token [arXiv:2205.05198 §5; --recompute-modules mlp]."""
    sections = {"model": {"preset": "llama-3.1-8b"}, "training": {"global_batch": 64, "sequence_length": 4096}}
    given = {"tensor": 1, "pipeline": 1, "context": 1, "micro_batch": 1, "zero_stage": 3}
    whole, some, full = (
        choose(H100, 8, **sections, parallelism=given | each)
        for each in ({"recompute": "none"}, {"recompute_modules": ["mlp"]}, {"recompute": "full"})
    )
    assert whole is not None
    assert some is not None
    assert full is not None
    assert (some.plan.recompute, some.plan.recompute_modules) == ("selective", ("mlp",))
    assert "recompute selective (mlp)" in some.plan.label
    kept = some.memory.terms["activations"] / whole.memory.terms["activations"]
    assert kept.magnitude == pytest.approx(13 * 4096 / (13 * 4096 + 6 * 14_336), rel=0.01)
    assert 0.6 < (some.step.terms["recompute"] / full.step.terms["recompute"]).magnitude < 0.81
