"""Where sources disagree, the design shows both."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import Answers


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def test_bytes_of_adam_are_disputed(catalog):
    """ZeRO counts 16 bytes per parameter, Megatron with FP32 gradients 18: a design that rests on one names the other."""
    design = advise(
        Answers.of({"model.preset": "llama-3.1-70b", "scale.nodes": 16, "preferences.nodes": ["nvidia-dgx-h100"]}), catalog, strict=True
    )
    adam = [each for each in design.dissents if each.rule == "vram.fits"]
    assert adam
    both = adam[0].taken + adam[0].other
    assert "16" in both
    assert "18" in both
    assert adam[0].taken_source != adam[0].other_source


def test_every_disputed_threshold_can_appear(catalog):
    """Each pair of disagreeing thresholds is applied by a rule, so that some design shows it; or stands in a formula's docstring."""
    disputed = [each for each in catalog.thresholds if each.dissents_from]
    assert len(disputed) >= 6
    assert all(other in catalog.thresholds for each in disputed for other in each.dissents_from)


def test_a_pair_is_shown_once(catalog):
    design = advise(Answers.of({"model.preset": "llama-3.1-405b", "scale.gpus": 1024}), catalog, strict=True)
    pairs = [frozenset((each.taken, each.other)) for each in design.dissents]
    assert len(pairs) == len(set(pairs))
