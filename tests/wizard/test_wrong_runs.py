"""Rows of a table of runs that cannot be right: each says why, in one message, and the others are answered all the same."""

from __future__ import annotations

import json

import pytest

from tests.wizard.calls import call

GOOD = {
    "model": "llama3-70b", "gpu": "H100-SXM-80GB", "gpus": 64, "precision": "bf16", "seq_len": 8192, "tp": 4, "pp": 4, "micro_batch": 1,
    "global_batch": 128, "zero_stage": 1, "iteration_s": 14.66,
}  # fmt: skip
"""Llama 3.1 70B on 64 H100: 14.66 s [dgxc-benchmarking]."""
WRONG = {
    "no-model": ({"model": None}, "model: expected"),
    "no-gpus": ({"gpus": 0}, "gpus: expected a whole number from 1"),
    "negative": ({"tp": -2}, "tp: expected"),
    "not-a-number": ({"seq_len": float("nan")}, "seq_len: expected"),
    "infinite": ({"global_batch": float("inf")}, "global_batch: expected"),
    "half": ({"micro_batch": 1.5}, "micro_batch: expected"),
    "text": ({"gpus": "64"}, "gpus: expected"),
    "stage": ({"zero_stage": 5}, "zero_stage: expected a whole number from 0 to 3"),
    "precision": ({"precision": "int3"}, "'int3' is not known"),
    "heads": ({"tp": 7, "gpus": 112}, "tp 7 does not divide 64 attention heads"),
    "stages": ({"pp": 128, "gpus": 2048}, "80 layers cannot be split over 128"),
    "unequal": ({"gpus": 63}, "63 GPUs cannot be split"),
    "experts": ({"model": "deepseek-v3", "ep": 7, "gpus": 112}, "ep 7 does not divide 256 experts"),
    "ranks": ({"model": "deepseek-v3", "ep": 256, "pp": 16}, "ep 256 × etp 1 are more than the 4 ranks"),
    "shared": ({"model": "shared"}, "models.shared: kv_heads: 4 query heads cannot share 8 heads"),
    "shape": ({"model": "mine"}, "models.mine: layers: expected"),
}
NOTED = {
    "batch": ({"global_batch": 127}, "127 is no multiple of 4 data-parallel ranks"),
    "dense": ({"ep": 8}, "ep 8 is left out"),
    "sharding": ({"sharding": "zzz"}, "sharding 'zzz' is not known"),
    "chunks": ({"vpp": 3}, "vpp 3 does not divide the 20 layers of a stage"),
    "alone": ({"vpp": 4, "pp": 1}, "vpp 4 is left out: there is no pipeline"),
    "mixers": ({"model": "nemotron-h-56b", "tp": 8, "pp": 1}, "state-space mixers are counted"),
    "recompute": ({"recompute": "zzz"}, "recompute 'zzz' is not known"),
}


def written(value: object) -> str:
    """Return a value as TOML has it."""
    return str(value) if isinstance(value, float) else json.dumps(value)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a file with a right row between every two wrong ones."""
    rows = []
    for name, (changed, _) in (WRONG | NOTED).items():
        rows += [{"id": name, **GOOD, **changed}, {"id": f"good-{name}", **GOOD}]
    lines = ["[models.mine]\nlayers = 0\nhidden = 64\n", "[models.shared]\nlayers = 2\nhidden = 64\nheads = 4\nkv_heads = 8\n"]
    lines += ["\n".join(["[[run]]", *(f"{key} = {written(value)}" for key, value in row.items() if value is not None)]) for row in rows]
    path = tmp_path_factory.mktemp("runs") / "runs.toml"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_each_says_why_and_right_rows_are_answered(table):
    called = call("estimate", table, "--json")
    assert called.code == 2, "what cannot be read is said by the exit code too"
    answers = {row["id"]: row for row in called.json}
    for name, (_, said) in WRONG.items():
        assert answers[name]["iteration_s"] is None
        assert said in answers[name]["notes"][0]
        assert answers[f"good-{name}"]["iteration_s"] == pytest.approx(14.66, rel=0.05)
    for name, (_, said) in NOTED.items():
        assert any(said in note for note in answers[name]["notes"])
        assert answers[name]["iteration_s"] > 0
    assert called.err.count("tp: expected a whole number from 1") == 1


def test_validate_leaves_out_what_it_cannot_read(table, tmp_path):
    path = tmp_path / "mine.toml"
    head, last = table.read_text("utf-8").rsplit("iteration_s = 14.66", 1)
    path.write_text(f"{head}iteration_s = -1{last}", "utf-8")
    called = call("validate", path)
    assert called.code == 2
    assert called.err.count("good-recompute: left out: iteration_s: expected a number above 0") == 1
    assert called.err.count("no-gpus: not read: gpus: expected a whole number from 1") == 1
    assert "good-heads" in called.out
