"""`cluster-wizard estimate`: the rows of its contract, what is assumed where a row is silent, and input that cannot be read."""

from __future__ import annotations

import pytest

from tests.wizard.calls import call
from wizard.schemas import validator

LLAMA = """
[models.llama]
layers = 32
hidden = 4096
ffn = 14336
heads = 32
kv_heads = 8
vocab = 128256
"""
RUN = {
    "model": "llama", "seq_len": 8192, "gpu": "H100-SXM-80GB", "gpus": 8, "tp": 1, "pp": 1, "dp": 4, "cp": 2, "micro_batch": 1,
    "global_batch": 128, "zero_stage": 1, "precision": "bf16", "recompute": "none",
}  # fmt: skip
"""dgxc-benchmarking v25.04.02, Llama 3.1 8B on 8 H100: 12.27 s per step."""


def text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def table(*rows: dict, models: str = LLAMA, kind: str = "run") -> bytes:
    made = models
    for number, row in enumerate(rows):
        made += f"[[{kind}]]\n" + "".join(f"{key} = {text(value)}\n" for key, value in ({"id": f"r{number}"} | row).items())
    return made.encode()


def estimate(*rows: dict, **options) -> list[dict]:
    called = call("estimate", "-", "--json", stdin=table(*rows, **options))
    assert called.code == 0, called.err
    assert list(validator("estimate").iter_errors(called.json)) == []
    return called.json


def one(**changes) -> dict:
    """The estimate of the run with these changes; None leaves a key out."""
    return estimate({key: value for key, value in (RUN | changes).items() if value is not None})[0]


class TestTheContract:
    def test_a_published_run(self):
        row = one()
        assert row["iteration_s"] == pytest.approx(12.27, rel=0.1)
        assert row["tokens_per_s_per_gpu"] == pytest.approx(128 * 8192 / 8 / 12.27, rel=0.1)
        assert 0.3 < row["mfu"] < 0.6
        memory = row["memory_gib"]
        assert memory["low"] <= memory["expected"] <= memory["high"]
        assert sum(memory["terms"].values()) == pytest.approx(memory["expected"], rel=1e-4)
        assert row["verdict"] in ("fits", "at_risk")

    @pytest.mark.parametrize(
        "changes", [{}, {"micro_batch": 4, "recompute": None, "cp": 1, "dp": 8}, {"model": "dlrm-22.8b", "cp": 1, "dp": 8}]
    )
    def test_the_terms_of_the_step_add_up_to_it(self, changes):
        """The second run recomputes only as far as memory asks for it; the third has no transformer layers."""
        row = one(**changes)
        assert sum(row["step_terms"].values()) == pytest.approx(row["iteration_s"], rel=1e-4)
        assert min(row["step_terms"].values()) > 0

    def test_rows_keep_their_order_and_both_kinds_of_table_are_read(self):
        assert [row["id"] for row in estimate(RUN | {"id": "z"}, RUN | {"id": "a"}, RUN | {"id": "z"})] == ["z", "a", "z"]
        assert estimate(RUN, kind="memory")[0] == estimate(RUN)[0]

    def test_what_was_measured_changes_nothing(self):
        measured = {"iteration_s": 1.0, "tokens_per_s_per_gpu": 5, "peak_mem_gib": 7.0, "fits": False, "mfu": 0.9, "colour": "red"}
        assert one(**measured) == one()

    def test_the_source_changes_nothing(self):
        assert one(source="vtrain") == one(source="playbook") == one()

    def test_a_gpu_by_id_and_by_alias(self):
        assert one(gpu="nvidia-h100-sxm-80gb") == one()

    def test_text_is_an_aligned_table(self):
        called = call("estimate", "-", "--notes", stdin=table(RUN, RUN | {"id": "longer", "gpu": "TPUv4"}))
        header, first, second = called.out.splitlines()[:3]
        assert header.split()[0] == "id"
        assert first[header.index("verdict") :] in ("fits", "at_risk")
        assert second.split()[1] == "?"
        assert "TPUv4" in called.out


class TestWhatCannotBeEstimated:
    def test_an_unknown_gpu_has_memory_but_no_time(self):
        row = one(gpu="TPUv4")
        assert (row["iteration_s"], row["mfu"], row["verdict"]) == (None, None, "unknown")
        assert row["memory_gib"]["expected"] == pytest.approx(one()["memory_gib"]["expected"])
        assert any("TPUv4" in note for note in row["notes"])

    @pytest.mark.parametrize(
        ("changes", "word"),
        [
            ({"model": "lama"}, "llama"),
            ({"tp": 3}, "8 GPUs"),
            ({"precision": "fp7"}, "fp7"),
            ({"seq_len": None}, "seq_len"),
            ({"pp": 64, "gpus": 128}, "64 pipeline stages"),
            ({"tp": None, "pp": None, "cp": None, "dp": None}, "parallel sizes"),
        ],
    )
    def test_everything_is_null_with_the_reason(self, changes, word):
        row = one(**changes)
        assert row["verdict"] == "unknown"
        assert row["memory_gib"] is row["iteration_s"] is row["tflops_per_gpu"] is None
        assert word in row["notes"][0]

    def test_the_table_says_why(self):
        called = call("estimate", "-", stdin=table(RUN | {"tp": 4, "gpus": 6}, RUN))
        assert "r0: 6 GPUs cannot be split into tp 4 × pp 1 × cp 2; expected a multiple of 8" in called.out
        assert "\nr1:" not in called.out

    def test_other_rows_are_estimated_all_the_same(self):
        rows = estimate(RUN | {"model": "nobody-knows"}, RUN)
        assert rows[0]["verdict"] == "unknown"
        assert rows[1]["iteration_s"] is not None

    def test_a_model_without_a_shape_is_looked_up_in_the_catalog(self):
        models = LLAMA + "[models.'llama-3-8b']\nparams_b = 8.03\n[models.nemotron-3-ultra]\nparams_b = 0\n"
        known, unknown = estimate(RUN | {"model": "llama-3-8b"}, RUN | {"model": "nemotron-3-ultra"}, models=models)
        assert known["iteration_s"] == pytest.approx(one()["iteration_s"], rel=0.01)
        assert "does not state" in unknown["notes"][0]


class TestWhatARowDoesNotSay:
    def test_names_of_the_frameworks_are_read(self):
        """By Megatron's arguments: tensor 2, context 2, so two ranks; the time is that of the row in short words."""
        named = {"tp": None, "cp": None, "dp": None, "tensor_model_parallel_size": 2, "context_parallel_size": 2, "global_batch": None}
        assert one(**named, global_batch_size=128)["iteration_s"] == one(tp=2, dp=2)["iteration_s"]

    def test_a_misspelt_key_is_named(self):
        notes = one(tp=None, tpp=2)["notes"]
        assert "'tpp' is not read; 'tp' would be" in notes
        assert not any("is not read" in note for note in one(loss_scale=3, iteration_s=12.27)["notes"])

    def test_a_kernel_that_nobody_knows_changes_nothing(self):
        row = one(kernel="zzz")
        assert row["iteration_s"] == one()["iteration_s"]
        assert "kernel 'zzz' is not known: taken as not stated" in row["notes"]

    def test_recomputation_is_only_what_memory_asks_for(self):
        """Eight sequences of 8,192 tokens do not fit 80 GB without it; a single one on four GPUs does."""
        roomy, tight = one(recompute=None, tp=4, cp=1, dp=2), one(recompute=None, micro_batch=8, cp=1, dp=8)
        assert any("recompute none" in note for note in roomy["notes"])
        assert any("recompute full" in note for note in tight["notes"])
        assert tight["step_range"] == roomy["step_range"] == {"low": 0.85, "high": 1.25}, "multiples of the time that is printed"
        assert one(recompute="none", micro_batch=8, cp=1, dp=8)["verdict"] == "does_not_fit"

    def test_sizes_of_a_proxy(self):
        """Half the layers take half the time and less memory; a fixed number of layers overrides the model's."""
        half = one(layers_override=16)
        assert half["iteration_s"] == pytest.approx(one()["iteration_s"] / 2, rel=0.15)
        assert half["memory_gib"]["expected"] < one()["memory_gib"]["expected"]

    def test_dense_layers_of_a_proxy(self):
        models = (
            LLAMA
            + "[models.moe]\nlayers = 8\nhidden = 2048\nffn = 8192\nheads = 16\nvocab = 32000\nexperts = 8\ntopk = 2\nmoe_ffn = 8192\n"
        )
        run = RUN | {"model": "moe", "ep": 4, "cp": 1, "dp": 8}
        mixed, dense = estimate(run, run | {"dense_layers_override": 4}, models=models)
        assert dense["memory_gib"]["terms"]["parameters"] < mixed["memory_gib"]["terms"]["parameters"]

    def test_data_parallel_ranks_follow_from_the_gpus(self):
        assert one(dp=None)["iteration_s"] == one()["iteration_s"]
        wrong = one(dp=8)
        assert wrong["iteration_s"] == one()["iteration_s"]
        assert any("dp 8 contradicts" in note for note in wrong["notes"])

    def test_a_rate_without_a_batch_has_no_step_time(self):
        row = one(global_batch=None)
        assert row["iteration_s"] is None
        assert row["tokens_per_s_per_gpu"] > 0
        assert one(global_batch=None, grad_accum=32)["iteration_s"] == one()["iteration_s"]

    def test_attention_before_flash_attention_is_slower_and_larger(self):
        kernel = {"gpu": "A100-SXM-80GB", "seq_len": 8192}
        old, new = one(**kernel, kernel="torch"), one(**kernel, kernel="flash_attention2")
        assert old["iteration_s"] > new["iteration_s"]
        assert old["memory_gib"]["expected"] > 1.5 * new["memory_gib"]["expected"]

    def test_hybrid_sharding_keeps_a_copy_per_server(self):
        run = {"gpus": 64, "cp": 1, "dp": 64, "zero_stage": 3, "global_batch": 64}
        assert one(**run, sharding="HSDP")["memory_gib"]["expected"] > one(**run, sharding="FSDP")["memory_gib"]["expected"]


class TestOtherWorkloads:
    MODELS = (
        "[models.resnet50]\nparams_b = 0.0256\nfwd_gmacs_per_image = 4.1\n"
        "[models.dlrm]\nembedding_gib = 84.9\ntables = 26\noptimizer = 'sgd'\n"
    )

    def test_images(self):
        """2,470 images/s with mixed precision on one A100 [NVIDIA DeepLearningExamples ConvNets]: 61 TFLOP/s."""
        row = estimate(
            {"workload": "vision", "model": "resnet50", "gpu": "A100-SXM-80GB", "gpus": 1, "precision": "amp"}, models=self.MODELS
        )[0]
        assert row["tflops_per_gpu"] == pytest.approx(61, rel=0.15)
        assert (row["iteration_s"], row["tokens_per_s_per_gpu"], row["verdict"]) == (None, None, "unknown")
        assert row["images_per_s"] == pytest.approx(2470, rel=0.15)

    def test_samples(self):
        """13.8 million samples/s of DLRM 22.8B on 8 A100 with 65,536 samples [NVIDIA DeepLearningExamples DLRM]; within 35 %."""
        run = {"workload": "recsys", "model": "dlrm", "gpu": "A100-SXM-80GB", "gpus": 8, "dp": 8, "batch_per_gpu": 8192, "precision": "amp"}
        row = estimate(run, models=self.MODELS)[0]
        assert row["samples_per_s"] == pytest.approx(13.8e6, rel=0.35)
        assert row["samples_per_s"] == pytest.approx(65_536 / row["iteration_s"], rel=1e-3)
        assert row["verdict"] == "fits"
        assert row["memory_gib"]["expected"] * 8 == pytest.approx(84.9, rel=0.1)


class TestUnreadableInput:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("gpus", "eight"), ("gpus", 0), ("gpus", 1.5), ("tp", -1), ("micro_batch", True), ("zero_stage", 4), ("sequence_parallel", 1),
            ("precision", 16), ("gpu", ["H100"]), ("global_batch", "12"), ("layers_override", 0),
        ],
    )  # fmt: skip
    def test_one_message_names_the_row_and_the_key(self, key, value):
        called = call("estimate", "-", stdin=table(RUN | {"id": "bad-one", key: value}))
        called.assert_one_message()
        assert "bad-one" in called.err
        assert f"{key}: expected" in called.err

    def test_the_other_rows_are_answered(self):
        called = call("estimate", "-", "--json", stdin=table(RUN, RUN | {"id": "bad-one", "gpus": 0}))
        assert called.code == 2
        assert [row["iteration_s"] is None for row in called.json] == [False, True]

    @pytest.mark.parametrize(
        "document",
        [
            b"", b"run = 3", b"[[run]]\nmodel = 'a'", b"[[run]]\nid = 'a'", b"[[run]]\nid = 3", b"= =",
            b"[models]\nx = 1\n[[run]]\nid='a'\nmodel='x'",
            b"[[run]]\nid='a'\nmodel='x'\n[[memory]]\nid='a'\nmodel='x'", b"[models.x]\nlayers = -1\n[[run]]\nid='a'\nmodel='x'",
            b"[models.x]\nexperts = 4\ntopk = 8\n[[run]]\nid='a'\nmodel='x'",
        ],
    )  # fmt: skip
    def test_documents_that_hold_no_runs(self, document):
        call("estimate", "-", stdin=document).assert_one_message()

    def test_a_file_that_is_not_there(self, tmp_path):
        call("estimate", tmp_path / "none.toml").assert_one_message()
