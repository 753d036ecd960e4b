"""Errors, the null model and the nearest regime, on numbers that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalogs.schema import ValidatedRegime
from rules.answers import Answers
from rules.regimes import Estimate, Regime, band_text, model_kind_of, nearest, nearest_text, parallelism_of
from rules.sizing.results import Plan
from rules.sizing.workload import describe_workload
from rules.stages.validated import unlike
from rules.validation import Outcome, calibrations, memory_score, ninth_decile, null_errors, time_score, validated_regimes
from rules.validation_bars import choice_of, growths
from rules.validation_repeats import floor_of, repeats
from tests.published.asking import catalog
from wizard.validation_tables import growth_sentence

HOPPER = Regime("dense", "nvidia-h100-sxm-80gb", "Hopper", "NVIDIA", "bf16", "tp+pp", 512)


def outcome(id_: str, rate: float | None, measured: float | None, **values) -> Outcome:
    made = Outcome(
        id=id_,
        source="s",
        table="t",
        model="m",
        regime=HOPPER,
        plan="TP8 PP2 DP32",
        sequence_length=4096,
        memory_measured=None,
        memory=None,
        rate_measured=measured,
        rate=rate,
        rate_basis="rate",
        flops=None if rate is None else rate,
        verdict="fits",
        worked=True,
    )
    return replace(made, **values)


def test_errors_of_the_rate():
    """Estimates of 110, 90 and 130 for measured 100: off by 10, 10 and 30 %, 10 % too fast on average."""
    rows = [outcome("a", 110, 100), outcome("b", 90, 100), outcome("c", 130, 100), outcome("d", None, 100)]
    score = time_score(rows, {})
    assert score.runs == 3
    assert score.mean == pytest.approx(0.5 / 3)
    assert (score.median, score.p90, score.worst) == pytest.approx((0.10, 0.30, 0.30))
    assert score.bias == pytest.approx(0.10)
    assert score.null_mean is None
    assert score.beats_null is None


def test_errors_of_memory():
    """Measured 50 and 80 GiB, expected 60 (40 to 70) and 72 (60 to 78): off by 20 and 10 %, one of two inside, widths 50 and 25 %."""
    rows = [outcome("a", 1, 1, memory_measured=50, memory=(40, 60, 70)), outcome("b", 1, 1, memory_measured=80, memory=(60, 72, 78))]
    score = memory_score(rows)
    assert (score.runs, score.inside) == (2, 0.5)
    assert (score.mean, score.worst, score.bias, score.width) == pytest.approx((0.15, 0.20, 0.05, 0.375))


def test_the_null_model_is_the_median_of_the_others():
    """Runs that reached 100, 200 and 400 of one group: the first is expected at the median of 200 and 400, three times its own."""
    rows = [outcome("a", 100, 100), outcome("b", 200, 200), outcome("c", 400, 400), outcome("alone", 1, 1, source="other")]
    assert null_errors(rows) == pytest.approx({"a": 2.0, "b": 0.25, "c": -0.625})


def test_nine_tenths():
    assert ninth_decile([float(number) for number in range(1, 11)]) == 9
    assert ninth_decile([1.0, 2.0]) == 2
    assert ninth_decile([5.0]) == 5


def test_choosing_by_the_estimate():
    """Of five plans the estimate rates the second best one first: 95 instead of 100, 5 % are lost."""
    rates = [(10, 100), (20, 95), (5, 60), (4, 50), (3, 40)]
    rows = [outcome(str(number), ours, measured) for number, (ours, measured) in enumerate(rates)]
    assert choice_of(rows) == pytest.approx((1, 0.05, 0.05))
    assert choice_of(rows[:4]) is None


def test_growth():
    """100 on 64 GPUs and 90 on 2,048, estimated 110 and 110: the growth is 11 % too good, as the null model's."""
    rows = [outcome("a", 110, 100, regime=replace(HOPPER, gpus=64)), outcome("b", 110, 90, regime=replace(HOPPER, gpus=2048))]
    (found,) = growths(rows)
    assert (found.gpus_from, found.gpus_to, found.measured) == (64, 2048, pytest.approx(0.9))
    assert found.error == pytest.approx(1 / 9)
    assert found.null_error == pytest.approx(1 / 9)
    better, worse = replace(found, estimated=0.95), replace(found, measured=1.0, estimated=1.1)
    told = growth_sentence([found, better, worse])
    assert told == (
        "By whole percents ours is nearer in 1 of 3, as near in 1, the null model in 1: m in bf16 on 64 to 2,048 (t). "
        "Printed without any loss, as the null model says of every run: 1 of these 1."
    )


def test_calibration_is_measured_over_ours():
    """A rate estimated a fourth too high means steps a fourth longer than ours; 60 GiB expected for 66 measured is 1.1."""
    (found,) = calibrations([outcome("a", 125, 100, memory_measured=66, memory=(50, 60, 70))])
    assert (found.time_factor, found.memory_factor) == pytest.approx((1.25, 1.1))


@pytest.mark.parametrize(
    ("plan", "written"),
    [
        (Plan(data=8), ""),
        (Plan(data=8, zero_stage=3), "fsdp"),
        (Plan(tensor=8, pipeline=4, data=2, zero_stage=1), "tp+pp"),
        (Plan(tensor=2, context=2, expert=8, data=8, zero_stage=3), "fsdp+tp+cp+ep"),
        (Plan(tensor=8), "tp"),
    ],
)
def test_parallelism_is_named_by_what_cuts_the_model(plan, written):
    assert parallelism_of(plan) == written


def validated(gpu: str, precision: str = "bf16", parallelism: str = "tp+pp", gpus: tuple[int, int] = (65, 512), **values):
    about = {"nvidia-h100-sxm-80gb": ("Hopper", "NVIDIA"), "amd-mi300x": ("CDNA3", "AMD"), "nvidia-b200-sxm": ("Blackwell", "NVIDIA")}
    return ValidatedRegime(
        id=f"{gpu}.{precision}.{parallelism}.{gpus[1]}",
        model_kind="dense",
        gpu=gpu,
        architecture=about[gpu][0],
        vendor=about[gpu][1],
        precision=precision,
        parallelism=parallelism,
        gpus_from=gpus[0],
        gpus_to=gpus[1],
        **({"time_runs": 5, "time_mean": 0.05, "time_p90": 0.11, "time_source": ("dgxc",)} | values),
    )


def test_the_same_regime_is_no_extrapolation():
    found = nearest([validated("nvidia-h100-sxm-80gb"), validated("nvidia-b200-sxm")], HOPPER, Estimate.TIME)
    assert found.differs == ()
    text = nearest_text(found, Estimate.TIME)
    assert text == (
        "dense · nvidia-h100-sxm-80gb · bf16 · TP+PP · 65 to 512 GPUs, 5 runs (dgxc): off by 5% on average, 90% of them within 11%"
    )
    assert nearest_text(found, Estimate.TIME, ("offload optimizer",)).startswith("extrapolated: no published run with offload optimizer;")


UNLIKE = [
    # what no published run with a measured peak has: all of them train every weight of one transformer with AdamW on the GPUs alone
    ({"model.preset": "llama-3.1-8b"}, Plan(data=8), ()),
    ({"model.preset": "llama-3.1-8b", "training.optimizer": "muon"}, Plan(data=8), ("optimizer muon",)),
    ({"model.preset": "llama-3.1-8b"}, Plan(data=8, offload="optimizer"), ("offload optimizer",)),
    ({"model.preset": "llama-3.1-8b", "workload.kind": "fine_tuning_lora"}, Plan(data=8), ("workload fine_tuning_lora",)),
    (
        {"model.preset": "llama-3.1-8b", "workload.kind": "fine_tuning_full", "training.post_training": "dpo"},
        Plan(),
        ("post-training dpo",),
    ),
    ({"model.preset": "nemotron-h-56b"}, Plan(data=8), ("layers that are no transformer layers",)),
    ({"model.preset": "t5-11b"}, Plan(data=8), ("layers that are no transformer layers",)),
]


@pytest.mark.parametrize(("answers", "plan", "expected"), UNLIKE, ids=str)
def test_what_no_published_run_has_is_an_extrapolation(answers, plan, expected):
    assert unlike(plan, describe_workload(Answers.of(answers), catalog()), Estimate.MEMORY) == expected


def test_another_gpu_is_an_extrapolation_from_the_nearest():
    """MI325X is CDNA3 as MI300X is: nearer than NVIDIA's in its own precision and scale."""
    wanted = Regime("dense", "amd-mi325x", "CDNA3", "AMD", "bf16", "tp+pp", 512)
    regimes = [validated("nvidia-h100-sxm-80gb"), validated("amd-mi300x", gpus=(9, 64))]
    found = nearest(regimes, wanted, Estimate.TIME)
    assert found.regime.gpu == "amd-mi300x"
    assert nearest_text(found, Estimate.TIME).startswith("extrapolated: no published run with GPU amd-mi325x, scale 65 to 512 GPUs;")


def test_a_vision_transformer_is_a_transformer_of_which_no_run_is_published():
    """Rates of ResNet and EfficientNet say nothing of it, nor do mixtures while a dense model ran on the same GPU."""
    wanted = replace(HOPPER, model_kind=model_kind_of("vision_transformer"), parallelism="", gpus=8)
    made = validated("nvidia-h100-sxm-80gb", parallelism="", gpus=(1, 8))
    kinds = {kind: made.model_copy(update={"model_kind": kind}) for kind in ("dense", "moe", "vision")}
    found = nearest(kinds.values(), wanted, Estimate.TIME)
    assert found.regime is kinds["dense"]
    assert found.differs == ("model vision transformer",)


def test_rates_follow_the_gpu_and_memory_the_plan():
    other_plan = validated("nvidia-h100-sxm-80gb", parallelism="fsdp", memory_runs=5, memory_mean=0.1)
    other_gpu = validated("nvidia-b200-sxm", memory_runs=5, memory_mean=0.1)
    assert nearest([other_plan, other_gpu], HOPPER, Estimate.TIME).regime is other_plan
    assert nearest([other_plan, other_gpu], HOPPER, Estimate.MEMORY).regime is other_gpu


def test_nothing_validated():
    assert nearest([validated("nvidia-b200-sxm")], HOPPER, Estimate.MEMORY) is None
    assert nearest_text(None, Estimate.MEMORY) == "no published run validates this"


def test_regimes_gather_runs_of_one_kind_and_leave_noisy_rates_out():
    rows = [
        outcome("a", 110, 100),
        outcome("b", 130, 100, source="playbook", memory_measured=50, memory=(40, 55, 70)),
        outcome("c", 120, 100, rate_basis="flops"),
    ]
    (found,) = validated_regimes(rows)
    assert (found.time_runs, found.time_mean, found.time_source) == (1, 0.10, ("s",))
    assert (found.memory_runs, found.memory_mean, found.memory_inside, found.memory_source) == (1, 0.10, 1.0, ("playbook",))


def test_bands():
    assert band_text((65, 512)) == "65 to 512 GPUs"
    assert HOPPER.band == (65, 512)
    assert replace(HOPPER, gpus=8).band == (1, 8)
    assert replace(HOPPER, gpus=16_384).band[0] == 4_097
    assert band_text(replace(HOPPER, gpus=16_384).band) == "over 4,096 GPUs"


def test_one_plan_by_several_releases():
    """Rates of 100, 110 and 150: the middle one is off by 10 and 27 %, nearer than any other; a plan that ran once says nothing."""
    rows = [outcome(name, 120.0, rate, plan="TP8") for name, rate in (("a", 100.0), ("b", 110.0), ("c", 150.0))]
    rows.append(outcome("d", 120.0, 500.0, plan="TP4"))
    (found,) = repeats(rows)
    assert (found.runs, found.slowest, found.fastest, found.ours) == (3, 100.0, 150.0, 120.0)
    assert found.spread == pytest.approx(0.5)
    floor = floor_of(rows)
    assert floor is not None
    assert (floor.plans, floor.runs) == (1, 3)
    assert floor.mean == pytest.approx((0.10 + 0.0 + 0.2667) / 3, rel=1e-3)
    assert floor_of(rows[2:]) is None


def test_time_inside_its_range():
    """Estimated 110 for measured 100 per second: the step takes 1.1 times the estimate, inside 0.85 to 1.25 and outside 0.85 to 1.05."""
    wide, narrow = (replace(outcome("a", 110, 100), step_range=ends) for ends in ((0.85, 1.25), (0.85, 1.05)))
    assert (wide.time_inside, narrow.time_inside) == (True, False)
    assert outcome("a", 110, 100).time_inside is None
