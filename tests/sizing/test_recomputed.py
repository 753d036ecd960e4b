"""What recomputation repeats and keeps, against counts by hand for a layer of Llama 3 70B."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.sizing.compute import LayerTime
from rules.sizing.memory_activations import ATTENTION_PRODUCTS, QUERY_KEY_VALUE, ActivationOptions, layer_activations
from rules.sizing.recomputed import repeated_seconds
from rules.sizing.techniques import TUNED
from wizard.imports.run_models import model_of
from wizard.imports.run_words import recompute_of

PRODUCTS_ALONE = LayerTime(1.0, 2.0, 0.0, 0.0, 0.0, 0.0)
ATTENTION_ALONE = LayerTime(0.0, 0.0, 1.0, 2.5, 0.0, 0.0)


@pytest.fixture(scope="module")
def llama():
    """Return the shape of Llama 3 70B: hidden 8,192, 64 and 8 heads of 128, gated feed-forward of 28,672."""
    return model_of("llama3-70b", {}, load_catalog())[0]


@pytest.mark.parametrize(
    ("module", "repeated"),
    [
        # output projection 8192², two of three products of the feed-forward 2·8192·28672, of 855.65 M weights
        (QUERY_KEY_VALUE, 536.87 / 855.65),
        (ATTENTION_PRODUCTS, 469.76 / 855.65),
        ("mlp", 704.64 / 855.65),
        ("core_attention", 0.0),
    ],
)
def test_products_that_are_made_again(llama, module, repeated):
    assert repeated_seconds(llama, TUNED, PRODUCTS_ALONE, False, (module,)) == pytest.approx(repeated, rel=1e-4)


def test_attention_that_is_named_is_run_again(llama):
    for module, repeated in ((QUERY_KEY_VALUE, 1.0), (ATTENTION_PRODUCTS, 1.0), ("core_attention", 1.0), ("mlp", 0.0), ("norm", 0.0)):
        assert repeated_seconds(llama, TUNED, ATTENTION_ALONE, False, (module,)) == repeated


@pytest.mark.parametrize(("policy", "kept"), [("save_qkv_proj", 8192 + 8192 + 2048), ("save_qkv_out_proj", 2 * 8192 + 8192 + 2048)])
def test_what_a_compiler_keeps_of_a_layer(llama, policy, kept):
    """Its input, queries, keys and values, and the output projection's result with the second: 16 bits each."""
    modules = recompute_of(policy).modules
    made = layer_activations(llama, "bf16", 8192, "selective", ActivationOptions(selective=modules), False)
    assert made.whole + made.split + made.key_value == 2 * kept


@pytest.mark.parametrize(("policy", "kind"), [("save_nothing", "full"), ("save_everything", "none"), ("save_dot_only", "selective")])
def test_policies_of_jax_are_known(policy, kind):
    assert recompute_of(policy).kind == kind
