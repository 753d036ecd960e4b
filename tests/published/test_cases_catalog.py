"""Errors in documents and lists that a catalog must not take over, and lessons of earlier expert systems."""

from __future__ import annotations

import importlib.metadata
import sys

import pytest
import tomli_w

from catalogs import load_catalog
from catalogs.lint import check
from rules.advisor import advise
from rules.answers import Answers
from rules.cases import all_rules
from tests.published.asking import Asked, case, catalog, consider
from wizard.files import design_text
from wizard.replay import replay
from wizard.versions import meta_of


def changed(tmp_path, name: str, *changes: tuple[str, str]):
    """Return a catalog whose record `name` ("gpus/…") has texts replaced, each of which must be there."""
    shelf, _, id_ = name.partition("/")
    text = getattr(catalog(), shelf).file(id_).read_text()
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after)
    (tmp_path / shelf).mkdir(exist_ok=True)
    (tmp_path / shelf / f"{id_}.toml").write_text(text)
    return load_catalog([tmp_path])


@case("cat-h100-sparsity", "https://github.com/stas00/ml-engineering/blob/master/compute/accelerator/README.md#tflops-comparison-table")
def test_a_sparse_peak_fails_the_check(tmp_path):
    """H100 multiplies 989 TFLOP/s dense; 1,979 is printed with sparsity; about 794 were measured in large products."""
    bf16 = catalog().gpus["nvidia-h100-sxm-80gb"]
    assert bf16.peak_dense["bf16"].to("TFLOP/s") == 989
    assert 0.9 * 794.5 <= bf16.sustained["bf16"].to("TFLOP/s") <= 794.5
    assert check(catalog(), ["peaks_are_dense"]) == []
    sparse = changed(tmp_path, "gpus/nvidia-h100-sxm-80gb", ('bf16 = { value = "989 TFLOP/s"', 'bf16 = { value = "1979 TFLOP/s"'))
    found = {problem.record for problem in check(sparse, ["peaks_are_dense"])}
    assert found == {"gpus/nvidia-h100-sxm-80gb"}


@case("cat-hf-h100-267", "https://huggingface.co/hardware/h100")
def test_a_list_of_mixed_precisions_fails_the_check(tmp_path):
    """A popular list gives the H100 267.6 TFLOP/s: less than is measured, and no half of its FP8."""
    listed = changed(tmp_path, "gpus/nvidia-h100-sxm-80gb", ('bf16 = { value = "989 TFLOP/s"', 'bf16 = { value = "267.6 TFLOP/s"'))
    problems = {problem.check for problem in check(listed) if problem.record == "gpus/nvidia-h100-sxm-80gb"}
    assert {"peaks_are_dense", "sustained_within_peak"} <= problems
    b300 = catalog().gpus["nvidia-b300-sxm"]
    assert b300.peak_dense["bf16"].to("TFLOP/s") == pytest.approx(2250, rel=0.05)
    assert b300.power.maximum.to("W") < 1400, "the list's 1,400 W are another platform's; a DGX B300 documents less"


@case(
    "cat-b200-180-vs-192",
    "https://github.com/stas00/ml-engineering/blob/master/compute/accelerator/README.md#accelerator-memory-size-and-speed",
)
def test_both_printed_sizes_of_the_b200_are_kept():
    """One source prints 180 GB and another 192: the catalog holds both and counts with what the driver shows."""
    memory = catalog().gpus["nvidia-b200-sxm"].memory
    assert memory.printed.to("GB") == 180
    assert [conflict.value for conflict in memory.printed.conflicts] == ["192 GB"]
    assert memory.capacity.to("MiB") == 183_359


@case("eng-xcon-regression", "https://studylib.net/doc/13677093/assessing--the--maintainability-of--xcqn-in-rime-")
def test_a_new_product_is_a_file_and_touches_no_rule(tmp_path):
    """XCON's parts lived in 6,200 rules, half of which changed every year; here a new GPU in a new server is two files."""
    rules_before = set(all_rules())
    new_gpu = catalog().gpus.file("nvidia-h200-sxm-141gb").read_text()
    aliases = next(line for line in new_gpu.splitlines() if line.startswith("aliases"))
    name = next(line for line in new_gpu.splitlines() if line.startswith("name"))
    changes = (("nvidia-h200-sxm-141gb", "acme-x1"), (aliases, ""), (name, 'name = "ACME X1"'))
    for before, after in changes:
        new_gpu = new_gpu.replace(before, after)
    (tmp_path / "gpus").mkdir()
    (tmp_path / "gpus" / "acme-x1.toml").write_text(new_gpu)
    node = {
        "id": "acme-box", "name": "ACME Box", "vendor": "ACME", "status": "available", "gpu": "acme-x1", "gpu_count": 8,
        "topology": "nvswitch", "scale_up_domain": 8, "cooling": "air", "power": {"maximum": {"value": "9 kW", "source": "you"}},
    }  # fmt: skip
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "acme-box.toml").write_text(tomli_w.dumps(node))
    answers = Answers.of({"model.preset": "llama-3.1-70b", "scale.nodes": 16, "preferences.nodes": ["acme-box"]})
    design = Asked(consider(answers, load_catalog([tmp_path]), strict=True))
    assert design.accepted
    assert design.candidate.gpu.id == "acme-x1"
    assert len({found.rule for found in design.candidate.findings}) > 40
    assert set(all_rules()) == rules_before


@case("eng-xcon-regression", "https://studylib.net/doc/13677093/assessing--the--maintainability-of--xcqn-in-rime-")
def test_a_change_of_the_catalog_lists_every_conclusion_that_changed(tmp_path):
    """A saved design is derived again: a node that draws 12 instead of 10.2 kW changes power, racks and cost, and nothing else unnamed."""
    answers = Answers.of({"model.preset": "llama-3.1-70b", "scale.nodes": 16, "preferences.nodes": ["nvidia-dgx-h100"]})
    saved = tmp_path / "saved.toml"
    saved.write_text(design_text(advise(answers, load_catalog()), meta_of("saved", load_catalog())))
    assert replay(saved, load_catalog()).changes == ()
    again = replay(saved, changed(tmp_path, "nodes/nvidia-dgx-h100", ('"10.2 kW"', '"12 kW"')))
    where = {change.where for change in again.changes}
    assert {"design.power.node_maximum", "design.power.it_maximum", "design.cost.energy_per_year.expected"} <= where
    assert not any(place.startswith(("design.parallelism", "design.fabric.compute.leaf")) for place in where)
    assert [cause for cause in again.causes if "catalog" in cause]


@case("eng-experta-dead", "https://github.com/nilp0inter/experta/issues/34")
def test_the_rules_engine_is_one_that_runs_on_current_python():
    """The best-known forward-chaining library cannot be imported since Python 3.10; this project does not need it."""
    needed = importlib.metadata.requires("cluster-wizard") or []
    assert any(name.startswith("durable-rules") for name in needed)
    assert not any("experta" in name for name in needed)
    assert advise(Answers.of({"scale.nodes": 1}), catalog()).findings
    assert any(name.startswith("durable.") for name in sys.modules)
    assert "experta" not in sys.modules
    assert sys.version_info >= (3, 11)
