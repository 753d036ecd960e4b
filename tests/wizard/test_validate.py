"""`cluster-wizard validate RUNS.toml`: a person's own measured runs, read, compared and calibrated."""

from __future__ import annotations

import pytest

from tests.wizard.calls import call
from wizard import schemas

# Korthikanti et al. 2022, tables 3 and 5: 22B in 1.42 s and 1.10 s, 175B in 18.13 s and 13.75 s on A100
MODELS = """
[models.gpt-22b]
layers = 48
hidden = 6144
ffn = 24576
heads = 64
vocab = 51200
glu = false
tied_embeddings = true

[models.gpt-175b]
layers = 96
hidden = 12288
ffn = 49152
heads = 96
vocab = 51200
glu = false
tied_embeddings = true
"""
RUN = """
[[run]]
id = "{id}"
model = "{model}"
gpu = "A100-SXM-80GB"
gpus = {gpus}
tp = 8
pp = {pp}
vpp = {vpp}
seq_len = 2048
micro_batch = {micro}
global_batch = {batch}
recompute = "{recompute}"
sequence_parallel = {together}
zero_stage = 0
precision = "fp16"
{measured}
"""


def small(id_: str, measured: str, recompute: str = "full", together: str = "false") -> str:
    return RUN.format(
        id=id_, model="gpt-22b", gpus=8, pp=1, vpp=1, micro=4, batch=4, recompute=recompute, together=together, measured=measured
    )


def large(id_: str, measured: str, recompute: str = "full", together: str = "false") -> str:
    return RUN.format(
        id=id_, model="gpt-175b", gpus=64, pp=8, vpp=3, micro=1, batch=64, recompute=recompute, together=together, measured=measured
    )


@pytest.fixture
def runs(tmp_path):
    def write(*rows: str) -> object:
        path = tmp_path / "runs.toml"
        path.write_text("".join([*rows, MODELS]), "utf-8")
        return path

    return write


def published(scale: float = 1.0) -> list[str]:
    """The four published rows, as a cluster would measure them whose steps take `scale` times as long."""
    return [
        small("22b-full", f"iteration_s = {1.42 * scale}"),
        small("22b-selective", f"iteration_s = {1.10 * scale}", "selective", "true"),
        large("175b-full", f"iteration_s = {18.13 * scale}"),
        large("175b-selective", f"iteration_s = {13.75 * scale}", "selective", "true"),
    ]


def test_own_runs_are_compared_one_by_one(runs):
    found = call("validate", runs(*published()), "--json")
    assert found.code == 0
    results = {row["id"]: row for row in found.json["results"]}
    # 4 sequences of 2,048 tokens in 1.42 s on 8 GPUs; 64 in 13.75 s on 64
    assert results["22b-full"]["rate_measured"] == pytest.approx(721.1, rel=1e-3)
    assert results["175b-selective"]["rate_measured"] == pytest.approx(148.9, rel=1e-3)
    assert all(abs(row["rate_error"]) <= 0.09 for row in results.values())
    assert {row["source"] for row in results.values()} == {"own"}
    assert found.json["bars"] == []


def test_a_slower_cluster_is_calibrated(runs):
    """Steps 1.5 times as long as published: the factor is 1.5 within our error on these runs."""
    (found,) = call("validate", runs(*published(1.5)), "--json").json["calibration"]
    assert (found["gpu"], found["precision"], found["time_runs"]) == ("nvidia-a100-sxm-80gb", "fp16", 4)
    assert found["time_factor"] == pytest.approx(1.5, rel=0.05)
    assert found["time_range"][0] > 1
    assert found["apply_time"] is True
    assert found["memory_factor"] is None
    text = call("validate", runs(*published(1.5))).out
    assert "multiply our step times by 1." in text


def test_too_few_or_undecided_runs_are_not_calibrated(runs):
    few = call("validate", runs(*published(1.5)[:2]), "--json").json["calibration"][0]
    both = call("validate", runs(*published(1.5)[:2], *published(0.5)[2:]), "--json").json["calibration"][0]
    assert few["time_runs"] == 2
    assert not few["apply_time"]
    assert both["time_range"][0] < 1 < both["time_range"][1]
    assert not both["apply_time"]
    assert "No calibration" in call("validate", runs(*published(1.5)[:2])).out


def test_the_null_model_leaves_out_the_run_itself(runs):
    """Of two runs of one group, each is expected to reach the FLOP/s of the other."""
    rows = [small("one", "iteration_s = 1.42"), small("two", "iteration_s = 2.84")]
    results = {row["id"]: row for row in call("validate", runs(*rows), "--json").json["results"]}
    assert results["one"]["null_error"] == pytest.approx(-0.5, rel=1e-3)
    assert results["two"]["null_error"] == pytest.approx(1.0, rel=1e-3)


def test_nearest_published_runs_are_named(runs):
    (near,) = call("validate", runs(small("22b", "iteration_s = 1.42")), "--json").json["nearest"]
    assert "nvidia-a100-sxm-80gb" in near["time"]
    assert "korthikanti2022" in near["time"]
    assert near["memory"].startswith("extrapolated")


def test_memory_in_decimal_gigabytes_is_converted(runs):
    """80 GB are 74.5 GiB."""
    rows = [small("gb", "peak_mem_gb = 80"), small("gib", "peak_mem_gib = 74.506")]
    results = call("validate", runs(*rows), "--json").json["results"]
    assert results[0]["memory_measured_gib"] == pytest.approx(74.51, rel=1e-3)
    assert results[0]["memory_error"] == pytest.approx(results[1]["memory_error"], abs=1e-3)


def test_runs_that_died_for_lack_of_memory_are_told_from_those_that_worked(runs):
    """22B in FP16 with Adam is 18 bytes per parameter, 396 GB: it runs on eight A100 of 80 GB, not on eight of 40 GB."""
    died = small("died", "fits = false").replace("A100-SXM-80GB", "A100-SXM-40GB")
    found = call("validate", runs(died, small("ran", "iteration_s = 1.42")), "--json")
    assert found.json["verdicts"] == {"worked": 1, "refused": 0, "died": 1, "foreseen": 1}
    assert found.json["unanswered"] == []


def test_output_meets_the_schema_and_fits_100_columns(runs):
    path = runs(*published(), small("none", ""))
    found = call("validate", path, "--json").json
    assert [error.message for error in schemas.validator("validate").iter_errors(found)] == []
    assert [row["id"] for row in found["unanswered"]] == ["none"]
    assert [line for line in call("validate", path).out.splitlines() if len(line) > 100] == []


def test_standard_input_is_read(runs):
    path = runs(*published())
    assert call("validate", "-", "--json", stdin=path.read_bytes()).json == call("validate", path, "--json").json


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        ('iteration_s = "fast"', "iteration_s: expected a number above 0"),
        ("iteration_s = 0", "iteration_s: expected a number above 0"),
        ("peak_mem_gib = -3", "peak_mem_gib: expected a number above 0"),
        ("tokens_per_s_per_gpu = nan", "tokens_per_s_per_gpu: expected a number above 0"),
        ("images_per_s = true", "images_per_s: expected a number above 0"),
        ("source = 4", "source: expected a text in quotes"),
    ],
)
def test_what_was_not_measured_is_refused(runs, measured, said):
    found = call("validate", runs(small("odd", measured)))
    found.assert_one_message()
    assert said in found.err
    assert "odd" in found.err


def test_files_that_are_none(tmp_path):
    call("validate", tmp_path / "missing.toml").assert_one_message()
    (tmp_path / "other.toml").write_text("[answers]\n", "utf-8")
    call("validate", tmp_path / "other.toml").assert_one_message()
    assert call("validate", "--json", "--markdown").code == 2
