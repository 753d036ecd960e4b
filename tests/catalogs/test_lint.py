"""Each check of the catalog finds the fault of one broken record, and the shipped catalog has none."""

import tomllib

import pytest
import tomli_w

from catalogs import load_catalog
from catalogs.lint import BANDS, CHECKS, check
from catalogs.loading import OWN_FOLDER, Catalog

SOURCE = {"source": "paper"}


def value(text, **more):
    return {"value": text, **SOURCE, **more}


def gpu(**changes):
    record = {
        "id": "good-gpu",
        "name": "Good GPU",
        "vendor": "somebody",
        "architecture": "Hopper",
        "form_factor": "SXM",
        "memory": {"kind": "HBM3", "capacity": value("80 GB"), "printed": value("80 GB")},
        "peak_dense": {"bf16": value("989 TFLOP/s"), "fp8": value("1979 TFLOP/s")},
        "sustained": {"bf16": value("751 TFLOP/s")},
        "precisions": ["bf16", "fp8"],
        "scale_up": {"kind": "NVLink 4", "domain": value(8)},
        "host_link": {"generation": value(5)},
        "power": {"maximum": value("700 W")},
        "stack": "CUDA",
    }
    return record | changes


def nic(**changes):
    record = {"id": "good-nic", "name": "Good adapter", "vendor": "v", "speed": value("400 Gb/s"), "protocols": ["ethernet"]}
    return record | {"pcie_generation": value(5), "power": value("24 W")} | changes


def switch(**changes):
    record = {
        "id": "good-switch",
        "name": "Good switch",
        "vendor": "v",
        "protocol": "ethernet",
        "ports": 64,
        "port_speed": value("800 Gb/s"),
    }
    return record | {"throughput": value("51.2 Tb/s"), "power_typical": value("940 W"), "weight": value("23.5 kg")} | changes


def node(**changes):
    record = {
        "id": "good-node",
        "name": "Good node",
        "vendor": "v",
        "gpu": "good-gpu",
        "gpu_count": 8,
        "topology": "nvswitch",
        "scale_up_domain": 8,
        "cpus": [{"id": "good-cpu", "count": 2}],
        "nics": {"compute": [{"id": "good-nic", "count": 8}]},
        "power": {"maximum": value("10.2 kW")},
        "cooling": "air",
    }
    return record | changes


def cpu(**changes):
    return {"id": "good-cpu", "name": "Good processor", "vendor": "v", "cores": value(56), "power": value("350 W")} | changes


def price(**changes):
    record = {"id": "good-price", "item": "good-nic", "what": "adapter", "unit": "USD", "low": 2000.0, "high": 2500.0, "date": "2026-09"}
    return record | SOURCE | {"confidence": "low"} | changes


def threshold(**changes):
    row = {"id": "good-threshold", "stage": "power", "condition": "c", "conclusion": "d", "strength": "advice", **SOURCE}
    return row | changes


def fact(**changes):
    return {"id": "good-fact", "topic": "t", "values": {"power": value("10 kW", range=["9 kW", "11 kW"])}} | changes


def write_catalog(folder, broken=None):
    """Write a small sound catalog into `folder`; `broken` replaces or adds files by path."""
    files = {
        "gpus/good-gpu.toml": gpu(),
        "nics/good-nic.toml": nic(),
        "switches/good-switch.toml": switch(),
        "nodes/good-node.toml": node(),
        "cpus/good-cpu.toml": cpu(),
        "prices/p.toml": {"price": [price()]},
        "thresholds/t.toml": {"threshold": [threshold()]},
        "facts/f.toml": {"fact": [fact()]},
        "sources.toml": {"source": [{"id": "paper", "title": "A paper", "kind": "paper"}]},
    } | (broken or {})
    for name, record in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record if isinstance(record, str) else tomli_w.dumps(record), encoding="utf-8")
    return Catalog((folder,))


SPARSE = gpu(peak_dense={"bf16": value("1979 TFLOP/s"), "fp8": value("1979 TFLOP/s")}, sustained={})
BROKEN = {
    "not TOML": ("files_load", {"nics/good-nic.toml": "id = "}, "not valid TOML"),
    "a file called otherwise": ("ids_match_files", {"nics/other.toml": nic(id="another", name="B")}, "rename the file to another.toml"),
    "an alias used twice": ("names_are_unique", {"nics/b.toml": nic(id="b", name="B", aliases=["Good Adapter"])}, "also leads to"),
    "a source nobody lists": ("sources_exist", {"nics/good-nic.toml": nic(power={"value": "24 W", "source": "hearsay"})}, "'hearsay'"),
    "a conflict's source": (
        "sources_exist",
        {"nics/good-nic.toml": nic(power=value("24 W", conflicts=[{"value": "30 W", "source": "rumour"}]))},
        "'rumour'",
    ),
    "a threshold's source": ("sources_exist", {"thresholds/t.toml": {"threshold": [threshold(source="lost")]}}, "'lost'"),
    "a node's GPU": ("references_exist", {"nodes/good-node.toml": node(gpu="no-gpu")}, "'no-gpu'"),
    "a node's processor": ("references_exist", {"nodes/good-node.toml": node(cpus=[{"id": "no-cpu", "count": 2}])}, "'no-cpu'"),
    "a node's adapter": ("references_exist", {"nodes/good-node.toml": node(nics={"storage": [{"id": "no-nic", "count": 2}]})}, "'no-nic'"),
    "a dissent from nothing": ("references_exist", {"thresholds/t.toml": {"threshold": [threshold(dissents_from=["gone"])]}}, "'gone'"),
    "software for no GPU": (
        "references_exist",
        {"software/s.toml": {"support": [{"id": "s", "gpus": ["amd-*"], "scope": "x", "status": "y", "fact": "z", **SOURCE}]}},
        "'amd-*'",
    ),
    "a price of what is spelled like a product": (
        "priced_items_exist",
        {"prices/p.toml": {"price": [price(item="good-nics")]}},
        "'good-nics'",
    ),
    "a currency in small letters": ("files_load", {"prices/p.toml": {"price": [price(unit="usd")]}}, "three capital letters"),
    "a price per month of a part": ("files_load", {"prices/p.toml": {"price": [price(unit="USD/kW/month")]}}, "three capital letters"),
    "a price beyond all money": ("files_load", {"prices/p.toml": {"price": [price(high=1e300)]}}, "nothing costs over"),
    "a price beyond any bill": ("files_load", {"prices/p.toml": {"price": [price(unit="EUR", high=9.9e8, usd_rate=1.1)]}}, "apiece"),
    "half of a price": (
        "files_load",
        {"prices/p.toml": {"price": [{key: each for key, each in price().items() if key != "high"}]}},
        "one of low and high",
    ),
    "a price of nothing": ("priced_items_exist", {"prices/p.toml": {"price": [price(item="unicorn")]}}, "'unicorn'"),
    "low above high": ("files_load", {"prices/p.toml": {"price": [price(low=3000.0)]}}, "low 3000 above high 2500"),
    "a date in words": ("prices_are_sound", {"prices/p.toml": {"price": [price(date="last summer")]}}, "not an ISO date"),
    "a month that does not exist": ("prices_are_sound", {"prices/p.toml": {"price": [price(date="2026-13")]}}, "not an ISO date"),
    "a price of zero": ("files_load", {"prices/p.toml": {"price": [price(low=0.0, high=0.0)]}}, "nothing costs nothing"),
    "an hour in euros without a rate": (
        "prices_are_sound",
        {"prices/p.toml": {"price": [price(unit="EUR per GPU-hour")]}},
        "counts only at its own rate",
    ),
    "a rate of nothing": ("files_load", {"prices/p.toml": {"price": [price(unit="CHF", usd_rate=0.0)]}}, "what one unit is worth"),
    "no currency": ("files_load", {"prices/p.toml": {"price": [price(unit="each")]}}, "currency"),
    "a sparse BF16 peak": ("peaks_are_dense", {"gpus/good-gpu.toml": SPARSE}, "looks like a sparse figure"),
    "a sparse FP8 peak": (
        "peaks_are_dense",
        {"gpus/good-gpu.toml": gpu(peak_dense={"bf16": value("989 TFLOP/s"), "fp8": value("3958 TFLOP/s")})},
        "fp8 is 4 times bf16",
    ),
    "a peak far above what is measured": (
        "peaks_are_dense",
        {"gpus/good-gpu.toml": gpu(peak_dense={"bf16": value("1979 TFLOP/s")})},
        "times the measured product",
    ),
    "a product faster than its peak": (
        "sustained_within_peak",
        {"gpus/good-gpu.toml": gpu(sustained={"bf16": value("1100 TFLOP/s")})},
        "above the peak",
    ),
    "a GPU in kilowatts": ("values_are_plausible", {"gpus/good-gpu.toml": gpu(power={"maximum": value("700 kW")})}, "outside 70 to 3000 W"),
    "a heavy switch": ("values_are_plausible", {"switches/good-switch.toml": switch(weight=value("2350 kg"))}, "outside 2 to 150 kg"),
    "a node below its GPUs": ("node_power_fits_gpus", {"nodes/good-node.toml": node(power={"maximum": value("1.02 kW")})}, "0.18 times"),
    "gigabytes for gigabits": ("speeds_are_standard", {"nics/good-nic.toml": nic(speed=value("400 GB/s"))}, "not a link speed"),
    "200 gigabytes for gigabits": (
        "adapters_fit_their_slots",
        {"nics/good-nic.toml": nic(speed=value("200 GB/s"))},
        "more than 2 x16 slots",
    ),
    "a map that lacks a GPU": (
        "maps_name_every_gpu",
        {
            "nodes/good-node.toml": node(
                pcie={"layout": value("a part"), "generation": 5, "port": [{"socket": 0, "path": "PIX", "devices": ["gpu:0", "compute:a"]}]}
            )
        },
        "names the GPUs 0 of 8",
    ),
    "PCIe 7": ("speeds_are_standard", {"nics/good-nic.toml": nic(pcie_generation=value(7))}, "PCIe generation 7"),
    "an unverified field that is not marked": ("unverified_marks_agree", {"nics/good-nic.toml": nic(unverified=["power"])}, "not marked"),
    "a range beside its value": (
        "facts_are_quantities",
        {"facts/f.toml": {"fact": [fact(values={"a": value("5 kW", range=["9 kW", "11 kW"])})]}},
        "outside its range",
    ),
    "an unknown unit": ("facts_are_quantities", {"facts/f.toml": {"fact": [fact(values={"a": value("5 parsnips")})]}}, "unknown unit"),
    "throughput of both directions": (
        "throughput_is_one_way",
        {"switches/good-switch.toml": switch(throughput=value("102.4 Tb/s"))},
        "one way",
    ),
}


def test_the_shipped_catalog_is_clean():
    assert [str(problem) for problem in check(load_catalog())] == []


def test_the_small_catalog_is_clean(tmp_path):
    assert check(write_catalog(tmp_path)) == []


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_record_fails_its_check(tmp_path, fault):
    name, broken, said = BROKEN[fault]
    problems = check(write_catalog(tmp_path, broken), [name])
    assert problems, fault
    assert all(problem.check == name and problem.fix for problem in problems)
    assert any(said in str(problem) for problem in problems), [str(problem) for problem in problems]


def test_lines_of_a_bill_that_are_no_product_have_prices_too(tmp_path):
    named = ("home-file-server", "management-server", "copper-cable-100-gb-s-1-link-per-switch-cage-up-to-2-m", "good-node-support")
    rows = [price(id=f"p{number}", item=item) for number, item in enumerate(named)]
    assert check(write_catalog(tmp_path, {"prices/p.toml": {"price": rows}})) == []


def test_every_check_is_described_and_proven():
    assert {name for name, _, _ in BROKEN.values()} == set(CHECKS)
    assert all(function.__doc__ for function in CHECKS.values())


def test_every_band_is_of_a_field_that_exists():
    shelves = {band.shelf for band in BANDS}
    catalog = load_catalog()
    assert all(len(getattr(catalog, shelf)) for shelf in shelves)
    assert all(band.low < band.high and band.why for band in BANDS)


def test_a_person_s_own_folder_is_checked_with_the_catalog(tmp_path):
    path = tmp_path / "nics" / "mine.toml"
    path.parent.mkdir()
    path.write_text(tomli_w.dumps(nic(id="mine", name="Mine", speed=value("37 Gb/s"))))
    found = {problem.check for problem in check(load_catalog([tmp_path]))}
    assert found == {"sources_exist", "speeds_are_standard"}


def test_no_source_is_listed_twice():
    rows = tomllib.loads((OWN_FOLDER / "sources.toml").read_text(encoding="utf-8"))["source"]
    assert len({row["id"] for row in rows}) == len(rows)
