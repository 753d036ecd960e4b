"""The compute catalog against published figures, and its records against each other."""

from __future__ import annotations

from collections import defaultdict
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from catalogs import Catalog, load_catalog
from catalogs.schema import Conflict, Sourced
from rules.sizing.model import shape_from_preset
from rules.sizing.parameters import count_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTED_AS_PUBLISHED = ("dense", "moe", "encoder")
"""Kinds whose whole model is in the shape; vision towers, cross-attention and state-space layers are not."""
MORE_THAN_THE_MODEL = ("falcon-7b", "falcon-180b", "qwen1.5-0.5b", "deepseek-v3.2", "glm-4.5", "glm-5.2", "mimo-7b")
"""Their published totals hold copies of embeddings, an indexer or multi-token-prediction modules besides the model."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


# Dense BF16 TFLOP/s, printed GB, W, one-way scale-up GB/s: the vendors' data sheets of each product, sparse figures halved.
PUBLISHED = {
    "A100-SXM-40GB": (312, 40, 400, 300),
    "A100-SXM-80GB": (312, 80, 400, 300),
    "H100-SXM-80GB": (989, 80, 700, 450),
    "H200-SXM-141GB": (989, 141, 700, 450),
    "H800": (989, 80, 700, 200),
    "B200": (2250, 180, 1000, 900),
    "B300": (2250, 288, 1100, 900),
    "GB200": (2450, 186, 1200, 900),
    "GB300": (2450, 288, 1400, 900),
    "MI300X": (1307.4, 192, 750, 448),
    "MI325X": (1307.4, 256, 1000, 448),
    "MI355X": (2500, 288, 1400, 535.5),
    "L40S": (362.05, 48, 350, None),
    "RTX 4090": (165.2, 24, 450, None),
    "RTX 5090": (209.5, 32, 575, None),
    "Gaudi 3": (1677, 128, 900, 525),
}


@pytest.mark.parametrize(("name", "figures"), PUBLISHED.items())
def test_gpu_figures_are_those_of_the_data_sheets(catalog: Catalog, name: str, figures: tuple[float, ...]) -> None:
    gpu = catalog.gpus[name]
    link = gpu.scale_up.per_direction
    assert gpu.power.maximum is not None
    assert (
        gpu.peak_dense["bf16"].to("TFLOP/s"),
        gpu.memory.printed.to("GB"),
        gpu.power.maximum.to("W"),
        None if link is None else link.to("GB/s"),
    ) == pytest.approx(figures)


@pytest.mark.parametrize(("name", "mebibytes"), [("H100", 81559), ("A100", 81920), ("B200", 183359), ("L40S", 46068), ("GB300", 284208)])
def test_memory_is_what_the_driver_reports(catalog: Catalog, name: str, mebibytes: int) -> None:
    capacity = catalog.gpus[name].memory.capacity
    assert capacity.kind == "measured"
    assert capacity.to("MiB") == pytest.approx(mebibytes)


def test_fp4_of_blackwell_ultra_is_not_halved_twice(catalog: Catalog) -> None:
    # NVIDIA HGX B300: 108 PFLOP/s dense for eight GPUs.
    assert 8 * catalog.gpus["B300"].peak_dense["fp4"].to("PFLOP/s") == pytest.approx(108)


def test_memory_never_exceeds_the_printed_number_read_as_gib(catalog: Catalog) -> None:
    for gpu in catalog.gpus:
        share = gpu.memory.capacity.to("GiB") / gpu.memory.printed.to("GB")
        assert 0.92 < share <= 1.0, gpu.id


def test_no_sustained_rate_exceeds_the_dense_peak(catalog: Catalog) -> None:
    for gpu in catalog.gpus:
        for precision, rate in gpu.sustained.items():
            assert rate.ends("TFLOP/s")[2] <= gpu.peak_dense[precision.removesuffix("_block")].to("TFLOP/s"), (gpu.id, precision)


def test_geforce_has_no_peer_to_peer_and_no_nvlink(catalog: Catalog) -> None:
    for name in ("RTX 4090", "RTX 5090"):
        link = catalog.gpus[name].scale_up
        assert (link.peer_to_peer, link.technology) == (False, "pcie")


def test_unpublished_power_stays_unknown(catalog: Catalog) -> None:
    assert {gpu.id for gpu in catalog.gpus if gpu.power.maximum is None} == {"nvidia-rubin", "amd-mi455x"}


def test_dgx_h100_is_that_of_its_user_guide(catalog: Catalog) -> None:
    node = catalog.nodes["DGX H100"]
    assert node.power.maximum is not None
    assert node.height is not None
    assert node.heat is not None
    assert node.nics.compute_speed is not None
    assert node.power.maximum.to("kW") == pytest.approx(10.2)
    assert node.heat.to("kW") == pytest.approx(11.3)  # 38,557 BTU/h, more than the electrical maximum
    assert node.height.to("U") == pytest.approx(8)
    assert sum(part.count for part in node.nics.compute) * node.nics.compute_speed.to("GB/s") == pytest.approx(8 * 50)


@pytest.mark.parametrize("name", ["GB200 NVL72 rack", "GB300 NVL72 rack", "nvidia-vera-rubin-nvl72", "supermicro-gb300-nvl72"])
def test_nvl72_rack_counts_the_whole_rack(catalog: Catalog, name: str) -> None:
    rack = catalog.nodes[name]
    assert (rack.is_rack, rack.gpu_count, rack.trays, rack.scale_up_domain) == (True, 72, 18, 72)
    assert sum(part.count for part in rack.cpus) == 36


def test_power_of_the_large_systems(catalog: Catalog) -> None:
    published = {
        "DGX A100": 6.5,
        "DGX H200": 10.2,
        "DGX B200": 14.3,
        "DGX B300": 14.5,
        "nvidia-gb200-nvl72": 132,
        "nvidia-gb300-nvl72": 142,
    }
    found = {name: power.to("kW") for name in published if (power := catalog.nodes[name].power.maximum)}
    assert found == pytest.approx(published)


def test_nodes_name_records_that_exist(catalog: Catalog) -> None:
    for node in catalog.nodes:
        for shelf, ids in (
            (catalog.gpus, (node.gpu, *node.gpu_alternatives)),
            (catalog.cpus, tuple(part.id for part in node.cpus)),
            (catalog.nics, tuple(part.id for part in (*node.nics.compute, *node.nics.storage))),
        ):
            assert [name for name in ids if shelf.get(name) is None or shelf[name].id != name] == [], node.id


RACKS_OF_A_DOMAIN = {"nvidia-gb200-nvl36x2": 2}
"""Racks that cross cables join to one scale-up domain; every other record is at least one domain of its own."""


def test_node_topology_follows_the_gpu(catalog: Catalog) -> None:
    allowed = {"nvlink": {"nvswitch", "bridge", "pcie_switch", "pcie"}, "xgmi": {"full_mesh"}, "pcie": {"pcie_switch", "pcie", "unified"}}
    for node in catalog.nodes:
        gpu = catalog.gpus[node.gpu]
        assert node.topology in allowed[gpu.scale_up.technology], node.id
        cabled = RACKS_OF_A_DOMAIN.get(node.id, 1)
        assert node.scale_up_domain <= max(node.gpu_count, 1) * cabled, node.id


def test_usable_power_of_the_supplies_covers_the_stated_maximum(catalog: Catalog) -> None:
    checked = [node for node in catalog.nodes if node.supplies.usable and node.power.maximum]
    assert len(checked) >= 4
    for node in checked:
        assert node.supplies.usable is not None
        assert node.power.maximum is not None
        assert node.supplies.usable.to("kW") >= node.power.maximum.to("kW"), node.id


def test_llama_405b_has_the_shape_of_its_report(catalog: Catalog) -> None:
    # Llama 3 report, arXiv:2407.21783 table 3.
    preset = catalog.models["llama3.1-405b"]
    keys = ("layers", "hidden_size", "ffn_size", "attention_heads", "key_value_heads", "vocabulary_size")
    assert [preset.shape[key] for key in keys] == [126, 16384, 53248, 128, 8, 128256]
    assert preset.published_parameters is not None
    assert preset.published_parameters.value == 405_853_388_800


def test_presets_count_what_was_published(catalog: Catalog) -> None:
    checked = 0
    for preset in catalog.models:
        total = preset.published_parameters
        if preset.kind not in COUNTED_AS_PUBLISHED or total is None or total.note or preset.id in MORE_THAN_THE_MODEL:
            continue
        checked += 1
        assert count_parameters(shape_from_preset(preset), 2048).total == pytest.approx(total.to(""), rel=0.006), preset.id
    assert checked > 80


def test_names_are_unique_within_a_kind(catalog: Catalog) -> None:
    for shelf in (catalog.gpus, catalog.nodes, catalog.cpus, catalog.models):
        owners: dict[str, set[str]] = defaultdict(set)
        for record in shelf:
            for name in (record.id, record.name, *record.aliases):
                owners["".join(letter for letter in name.lower() if letter.isalnum() or letter in ".+")].add(record.id)
        assert {name: ids for name, ids in owners.items() if len(ids) > 1} == {}


def _sources(value: object) -> Iterator[str]:
    if isinstance(value, (Sourced, Conflict)):
        yield from value.sources if isinstance(value, Sourced) else (value.source,)
    if isinstance(value, BaseModel):
        named = getattr(value, "source", ())
        yield from (named,) if isinstance(named, str) else named
        for name in type(value).model_fields:
            yield from _sources(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from _sources(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _sources(item)


def test_every_source_is_listed_once(catalog: Catalog) -> None:
    listed = {source.id for source in catalog.sources}
    for shelf in (catalog.gpus, catalog.nodes, catalog.cpus, catalog.models, catalog.prices, catalog.software):
        for record in shelf:
            assert set(_sources(record)) - listed == set(), record.id


def test_prices_are_ranges_and_unknown_ones_say_so(catalog: Catalog) -> None:
    for price in catalog.prices:
        known = price.low is not None and price.high is not None
        assert known == (price.confidence != "none"), price.id
        assert not known or 0 < (price.low or 0) <= (price.high or 0), price.id
    assert catalog.prices["mi325x-purchase"].low is None


def test_software_rows_apply_to_gpus_that_exist(catalog: Catalog) -> None:
    ids = [gpu.id for gpu in catalog.gpus]
    for row in catalog.software:
        assert [pattern for pattern in row.gpus if not any(fnmatch(id_, pattern) for id_ in ids)] == [], row.id


def test_blackwell_needs_cuda_12_8_and_blackwell_ultra_13(catalog: Catalog) -> None:
    floors = {id_: row.minimum for row in catalog.software if row.scope == "cuda" and row.minimum for id_ in row.gpus}
    assert (floors["nvidia-b200-sxm"], floors["nvidia-b300-sxm"]) == ("12.8", "13.0")
