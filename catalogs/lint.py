"""Check the catalog's own facts: `check(catalog)` lists every problem found, and a shipped catalog has none.

Each check is a function with a name and a docstring in `CHECKS`; adding one is adding a function. Plausible bands are data (`BANDS`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from catalogs.loading import CatalogError, plain
from catalogs.priced import PRODUCT_SHELVES, can_be_priced
from catalogs.quantities import QuantityError
from catalogs.schema import Conflict, Sourced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from catalogs.loading import Catalog, Shelf

MEASURED_SHELVES = ("measurements", "measured_models", "recipes", "validation")
SHELVES = (*PRODUCT_SHELVES, "software", "models", "prices", "facts", "collectives", *MEASURED_SHELVES, "thresholds", "sources")
ONE_PER_FILE = (*PRODUCT_SHELVES, "models")
LINK_SPEEDS_GBIT = frozenset({1, 10, 25, 40, 50, 100, 200, 400, 800, 1600})
PCIE_GENERATIONS = frozenset({3, 4, 5, 6})
SLOT_GBIT = {3: 126.0, 4: 252.0, 5: 504.0, 6: 968.0}
"""Raw rate of an x16 slot by PCIe generation; a Gen5 port reports 504.1 Gb/s to the kernel (imbue-ai cluster-health)."""
MOST_SLOTS = 2
"""An adapter takes at most two x16 connections (Socket Direct, ConnectX-8)."""
NODE_POWER_PER_GPU_POWER = (0.6, 2.5)
RATIO_TOLERANCE = 0.1
LOWEST_SUSTAINED_SHARE = 0.45
"""Large BF16 products reach at least 0.51 of a dense peak on every accelerator measured (ML Engineering, accelerators)."""
FP8_OVER_BF16 = 2.0
FP8_OVER_BF16_BY_ARCHITECTURE = {"Gaudi 3": 1.0, "Rubin": 4.375}
"""Architectures whose dense FP8 rate is not twice the BF16 rate, as their vendors print it (ML Engineering, accelerators)."""
STARTS_WITH_NUMBER = re.compile(r"^[+\-.]?\d")
DATE = re.compile(r"^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$")


@dataclass(frozen=True)
class Problem:
    """One fault: the record (or file) and key it is in, what is wrong, and what to do."""

    record: str
    key: str
    message: str
    fix: str
    check: str = ""

    def __str__(self) -> str:
        return f"{self.record}: {self.key}: {self.message}; {self.fix}"


@dataclass(frozen=True)
class Band:
    """The range in which a value of a shelf must lie, in `unit`, and why; `key` is a path of fields."""

    shelf: str
    key: str
    unit: str
    low: float
    high: float
    why: str


BANDS = (
    Band("gpus", "power.maximum", "W", 70, 3000, "from an L4 at 72 W to a package of two large dies"),
    Band("gpus", "memory.capacity", "GB", 8, 1000, "from a workstation card to the largest announced package"),
    Band("cpus", "power", "W", 30, 1000, "server processors"),
    Band("nics", "power", "W", 5, 150, "an adapter is powered by its slot and at most one extra cable"),
    Band("switches", "power_typical", "W", 30, 6000, "one switch, not a chassis of line cards"),
    Band("switches", "power_maximum", "W", 30, 6000, "one switch, not a chassis of line cards"),
    Band("switches", "weight", "kg", 2, 150, "one switch in a rack"),
    Band("switches", "height", "U", 1, 20, "one switch in a rack"),
    Band("cables", "power_per_end", "W", 0, 40, "one pluggable end"),
    Band("cables", "reach", "m", 0.1, 10000, "inside one data centre"),
    Band("nodes", "weight", "kg", 1, 2500, "from a desktop to a full rack"),
    Band("nodes", "height", "U", 0.5, 60, "from half a unit to a full rack"),
    Band("storage", "power", "W", 5, 20000, "one unit of a storage system"),
    Band("storage", "height", "U", 1, 60, "one unit of a storage system"),
    Band("racks", "units", "U", 4, 60, "a cabinet"),
    Band("racks", "load", "kg", 200, 4000, "a cabinet"),
    Band("pdus", "usable", "W", 500, 200000, "one feed"),
    Band("cooling", "capacity", "W", 5000, 10e6, "one unit, or one rack for a method"),
)


def check(catalog: Catalog, names: Iterable[str] = ()) -> list[Problem]:
    """Return the problems that the checks called `names` (all where empty) find, in a fixed order.

    A file that cannot be loaded is a problem of the check `files_load`; the other checks then leave its shelf out.
    """
    wanted = tuple(names) or tuple(CHECKS)
    readable = _Readable(catalog)
    found = []
    for name in wanted:
        found += [Problem(p.record, p.key, p.message, p.fix, name) for p in CHECKS[name](readable)]
    return found


class _Readable:
    """The shelves of a catalog that could be loaded, and the errors of those that could not."""

    def __init__(self, catalog: Catalog) -> None:
        self.errors: dict[str, str] = {}
        self.shelves: dict[str, Shelf[Any]] = {}
        for name in SHELVES:
            try:
                self.shelves[name] = getattr(catalog, name)
            except CatalogError as error:
                self.errors[name] = str(error)

    def records(self, *names: str) -> Iterator[tuple[str, Any]]:
        """Yield (shelf name, record) of the named shelves."""
        for name in names:
            for record in self.shelves.get(name, ()):
                yield name, record

    def has(self, shelf: str, id_: str) -> bool:
        """Return whether the shelf has a record of this id or alias; true where the shelf could not be loaded."""
        return shelf in self.errors or id_ in self.shelves[shelf]

    def ids(self) -> set[str]:
        """Return the ids of all products."""
        return {record.id for _, record in self.records(*PRODUCT_SHELVES)}


def _values(record: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (key path, value) of every Sourced and Conflict in a record, however deep."""
    if isinstance(record, (Sourced, Conflict)):
        yield path, record
    if isinstance(record, BaseModel):
        inner: Iterable[tuple[object, object]] = ((name, getattr(record, name)) for name in type(record).model_fields)
    elif isinstance(record, dict):
        inner = record.items()
    elif isinstance(record, (tuple, list)):
        inner = enumerate(record)
    else:
        return
    for key, value in inner:
        yield from _values(value, f"{path}.{key}" if path else str(key))


def _at(record: object, path: str) -> Any:
    for part in path.split("."):
        record = getattr(record, part, None)
    return record


def files_load(catalog: _Readable) -> Iterator[Problem]:
    """Every file is TOML that follows its record."""
    for name, message in catalog.errors.items():
        yield Problem(name, "file", message, "correct the file; the other checks left this kind out")


def ids_match_files(catalog: _Readable) -> Iterator[Problem]:
    """A file with one record is called after the record's id."""
    for name, record in catalog.records(*ONE_PER_FILE):
        path = catalog.shelves[name].file(record.id)
        if path is not None and path.stem != record.id:
            yield Problem(str(path), "id", f"the id is {record.id!r} but the file is {path.name!r}", f"rename the file to {record.id}.toml")


def names_are_unique(catalog: _Readable) -> Iterator[Problem]:
    """An id, name or alias leads to one record of its shelf."""
    for name, shelf in catalog.shelves.items():
        owners: dict[str, str] = {}
        for record in shelf:
            for text in (record.id, getattr(record, "name", record.id), *getattr(record, "aliases", ())):
                owner = owners.setdefault(plain(text), record.id)
                if owner != record.id:
                    yield Problem(f"{name}/{record.id}", "aliases", f"{text!r} also leads to {owner!r}", "remove it from one of the two")


def sources_exist(catalog: _Readable) -> Iterator[Problem]:
    """Every source is an entry of `sources.toml`."""
    for name, record in catalog.records(*(shelf for shelf in SHELVES if shelf != "sources")):
        cited = [(f"{path}.source", value.source) for path, value in _values(record)]
        cited += [(key, getattr(record, key, ())) for key in ("source", "time_source", "memory_source")]
        cited += [(f"{key}.source", value.get("source", ())) for key, value in vars(record).items() if isinstance(value, dict)]
        for key, source in cited:
            for id_ in (source,) if isinstance(source, str) else source:
                if isinstance(id_, str) and not catalog.has("sources", id_):
                    yield Problem(f"{name}/{record.id}", key, f"no source is called {id_!r}", "add it to sources.toml or correct the id")


def references_exist(catalog: _Readable) -> Iterator[Problem]:
    """Records that name other records (GPUs, processors, adapters, thresholds) name existing ones."""
    for _, node in catalog.records("nodes"):
        named = [("gpu", "gpus", node.gpu)]
        named += [("gpu_alternatives", "gpus", id_) for id_ in node.gpu_alternatives]
        named += [("cpus", "cpus", part.id) for part in node.cpus]
        named += [("nics", "nics", part.id) for part in (*node.nics.compute, *node.nics.storage)]
        for key, shelf, id_ in named:
            if not catalog.has(shelf, id_):
                yield Problem(
                    f"nodes/{node.id}", key, f"no record of {shelf} is called {id_!r}", f"add catalogs/{shelf}/{id_}.toml or correct the id"
                )
    for _, threshold in catalog.records("thresholds"):
        for id_ in threshold.dissents_from:
            if not catalog.has("thresholds", id_):
                yield Problem(f"thresholds/{threshold.id}", "dissents_from", f"no threshold is called {id_!r}", "correct the id")
    for _, support in catalog.records("software"):
        for pattern in support.gpus:
            if "gpus" in catalog.shelves and not _matches_any(pattern, catalog.shelves["gpus"]):
                yield Problem(f"software/{support.id}", "gpus", f"no GPU matches {pattern!r}", "correct the pattern")


def _matches_any(pattern: str, gpus: Shelf[Any]) -> bool:
    if not pattern.endswith("*"):
        return pattern in gpus
    return any(plain(gpu.id).startswith(plain(pattern[:-1])) for gpu in gpus)


def priced_items_exist(catalog: _Readable) -> Iterator[Problem]:
    """A price is of a product (or of a bundle whose id contains it), of a line of a bill without a product, or of a known service."""
    ids = catalog.ids()
    for _, price in catalog.records("prices"):
        if not (can_be_priced(price.item, ids) or set(PRODUCT_SHELVES) & set(catalog.errors)):
            yield Problem(f"prices/{price.id}", "item", f"no product is called {price.item!r}", "correct the item or add the product")


def prices_are_sound(catalog: _Readable) -> Iterator[Problem]:
    """A price has an ISO date, and a price of an hour in another currency its rate; amounts and units are checked as it is read."""
    for _, price in catalog.records("prices"):
        where = f"prices/{price.id}"
        if not DATE.match(price.date):
            yield Problem(where, "date", f"{price.date!r} is not an ISO date", "write 2026, 2026-09 or 2026-09-06")
        if " per " in price.unit and not price.unit.startswith("USD") and price.usd_rate is None:
            yield Problem(where, "usd_rate", f"a price in {price.unit} counts only at its own rate", "write usd_rate, such as 1.08")


def peaks_are_dense(catalog: _Readable) -> Iterator[Problem]:
    """Peaks are dense: FP8 is twice BF16, FP16 equals BF16, and a measured product is not far below its peak."""
    for _, gpu in catalog.records("gpus"):
        peak = {name: value.to("TFLOP/s") for name, value in gpu.peak_dense.items()}
        where, bf16 = f"gpus/{gpu.id}", peak.get("bf16")
        expected = {"fp8": FP8_OVER_BF16_BY_ARCHITECTURE.get(gpu.architecture, FP8_OVER_BF16), "fp16": 1.0}
        for name, ratio in expected.items():
            odd_fp16 = name == "fp16" and gpu.stack == "Gaudi"  # Gaudi 3 has no full-rate FP16
            if bf16 and name in peak and not odd_fp16 and abs(peak[name] / bf16 / ratio - 1) > RATIO_TOLERANCE:
                message = f"{name} is {peak[name] / bf16:.3g} times bf16, expected about {ratio:g}: one of them looks like a sparse figure"
                yield Problem(where, f"peak_dense.{name}", message, "halve the figure that is printed with sparsity")
        for name in ("bf16", "fp16"):
            if name in peak and name in gpu.sustained and gpu.sustained[name].to("TFLOP/s") < LOWEST_SUSTAINED_SHARE * peak[name]:
                message = f"the peak of {peak[name]:g} TFLOP/s is more than {1 / LOWEST_SUSTAINED_SHARE:.2g} times the measured product"
                yield Problem(where, f"peak_dense.{name}", message, "check that the peak is dense, not sparse")


def sustained_within_peak(catalog: _Readable) -> Iterator[Problem]:
    """A measured product is not faster than the peak of its precision."""
    for _, gpu in catalog.records("gpus"):
        for name, value in gpu.sustained.items():
            peak = gpu.peak_dense.get(name)
            if peak is not None and value.to("TFLOP/s") > peak.to("TFLOP/s"):
                message = f"{value.value} is above the peak of {peak.value}"
                yield Problem(f"gpus/{gpu.id}", f"sustained.{name}", message, "check the unit, the precision and the peak")


def values_are_plausible(catalog: _Readable) -> Iterator[Problem]:
    """Powers, weights, heights, reaches and capacities lie in the bands of `BANDS`."""
    for band in BANDS:
        for name, record in catalog.records(band.shelf):
            value = _at(record, band.key)
            if value is not None and not band.low <= value.to(band.unit) <= band.high:
                message = f"{value.value} is outside {band.low:g} to {band.high:g} {band.unit} ({band.why})"
                yield Problem(f"{name}/{record.id}", band.key, message, "check the number and its unit against the source")


def node_power_fits_gpus(catalog: _Readable) -> Iterator[Problem]:
    """A node's power is 0.6 to 2.5 times the power of its GPUs."""
    low, high = NODE_POWER_PER_GPU_POWER
    for _, node in catalog.records("nodes"):
        gpu = catalog.shelves["gpus"].get(node.gpu) if "gpus" in catalog.shelves else None
        if gpu is None or gpu.power.maximum is None:
            continue
        gpus = node.gpu_count * gpu.power.maximum.to("W")
        for key in ("maximum", "typical"):
            value = getattr(node.power, key)
            if value is not None and not low * gpus <= value.to("W") <= high * gpus:
                message = f"{value.value} is {value.to('W') / gpus:.2g} times the {gpus:g} W of its GPUs, expected {low:g} to {high:g}"
                yield Problem(f"nodes/{node.id}", f"power.{key}", message, "check node power, GPU count and GPU power")


def speeds_are_standard(catalog: _Readable) -> Iterator[Problem]:
    """Link speeds are standard ones and PCIe generations 3 to 6."""
    speeds = {"nics": ("speed",), "switches": ("port_speed",), "cables": ("speed",), "nodes": ("nics.compute_speed", "nics.storage_speed")}
    generations = {"nics": "pcie_generation", "nodes": "pcie_generation", "cpus": "pcie_generation", "gpus": "host_link.generation"}
    for shelf, keys in speeds.items():
        for _, record in catalog.records(shelf):
            for key in keys:
                value = _at(record, key)
                if value is not None and round(value.to("Gb/s"), 6) not in LINK_SPEEDS_GBIT:
                    yield Problem(f"{shelf}/{record.id}", key, f"{value.value} is not a link speed", "write Gb/s (400 Gb/s is 50 GB/s)")
    for shelf, key in generations.items():
        for _, record in catalog.records(shelf):
            value = _at(record, key)
            if value is not None and value.value not in PCIE_GENERATIONS:
                yield Problem(f"{shelf}/{record.id}", key, f"PCIe generation {value.value!r} does not exist", "write 3, 4, 5 or 6")


def adapters_fit_their_slots(catalog: _Readable) -> Iterator[Problem]:
    """An adapter is no faster than two slots of its PCIe generation: bytes taken for bits would be eight times too fast."""
    for _, nic in catalog.records("nics"):
        slot = SLOT_GBIT.get(int(nic.pcie_generation.to(""))) if nic.pcie_generation is not None else None
        if slot is not None and nic.speed.to("Gb/s") > MOST_SLOTS * slot:
            message = f"{nic.speed.value} is more than {MOST_SLOTS} x16 slots of {slot:g} Gb/s carry"
            yield Problem(f"nics/{nic.id}", "speed", message, "check bits and bytes: 200 Gb/s is 25 GB/s")


def maps_name_every_gpu(catalog: _Readable) -> Iterator[Problem]:
    """The PCIe map of a node names each of its GPUs once, from 0 on."""
    for _, node in catalog.records("nodes"):
        if node.pcie is not None and sorted(node.pcie.gpus(), key=int) != [str(each) for each in range(node.gpu_count // node.trays)]:
            message = f"names the GPUs {', '.join(node.pcie.gpus()) or 'none'} of {node.gpu_count // node.trays}"
            yield Problem(f"nodes/{node.id}", "pcie.port", message, "name every GPU of the node once: gpu:0, gpu:1, …")


def unverified_marks_agree(catalog: _Readable) -> Iterator[Problem]:
    """A field that its record lists as unverified is marked at its value too."""
    for name, record in catalog.records(*PRODUCT_SHELVES):
        for key in record.unverified:
            value = _at(record, key)
            if isinstance(value, Sourced) and value.verified:
                message = "is listed as unverified but its value is not marked"
                yield Problem(f"{name}/{record.id}", key, message, "add verified = false to the value or unlist it")


def facts_are_quantities(catalog: _Readable) -> Iterator[Problem]:
    """A fact that starts with a number is a quantity with a known unit, and a range has low ≤ value ≤ high."""
    for name, record in catalog.records(*PRODUCT_SHELVES, "facts"):
        for path, value in _values(record):
            named = isinstance(getattr(value, "value", None), bool) or not STARTS_WITH_NUMBER.match(str(getattr(value, "value", "")))
            if not isinstance(value, Sourced) or (value.range is None and (named or name != "facts")):
                continue
            try:
                unit = "" if not isinstance(value.value, str) else f"{value.quantity.units:C}"
                low, middle, high = value.ends(unit)
            except QuantityError as error:
                yield Problem(f"{name}/{record.id}", path, str(error), "write a number and a unit, such as '1.5 kW'")
                continue
            if not low <= middle <= high:
                yield Problem(
                    f"{name}/{record.id}", path, f"{value.value!r} is outside its range {value.range!r}", "correct the range or the value"
                )


def throughput_is_one_way(catalog: _Readable) -> Iterator[Problem]:
    """A switch has at least as much throughput as its ports need one way, or its note says why not."""
    for _, switch in catalog.records("switches"):
        if switch.throughput is None or switch.throughput.note:
            continue
        needed = switch.ports * switch.port_speed.to("Gb/s")
        ratio = switch.throughput.to("Gb/s") / needed
        if abs(ratio - 1) > RATIO_TOLERANCE:
            message = f"{switch.throughput.value} is {ratio:.3g} times the {needed:g} Gb/s of its ports one way"
            yield Problem(
                f"switches/{switch.id}", "throughput", message, "halve a figure that counts both directions, or say why in its note"
            )


CHECKS: dict[str, Callable[[_Readable], Iterator[Problem]]] = {
    function.__name__: function
    for function in (
        files_load,
        ids_match_files,
        names_are_unique,
        sources_exist,
        references_exist,
        priced_items_exist,
        prices_are_sound,
        peaks_are_dense,
        sustained_within_peak,
        values_are_plausible,
        node_power_fits_gpus,
        speeds_are_standard,
        adapters_fit_their_slots,
        maps_name_every_gpu,
        unverified_marks_agree,
        facts_are_quantities,
        throughput_is_one_way,
    )
}
"""The named checks in the order in which they run; `cluster-wizard catalog check` prints the docstring of each."""
