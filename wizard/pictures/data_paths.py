"""The ways of the data with their rates: object store, file system, network, node, host memory and GPU, there and back."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.findings import Stage
from rules.sizing.checkpoint import HOST_COPY_BYTES_PER_S, in_words, rate_in_words
from rules.stages.storage_cpu_facts import size_in_words

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.candidate import Candidate

TITLE = "Data paths: from storage to GPU and back"
GB = 1e9
UNKNOWN = "not stated"
BOX, GAP, WIDTH = 62, 56, 900


@dataclass(frozen=True)
class Place:
    """Where data lie or pass: a name, what it offers, and what must pass below it on the way to the GPUs."""

    name: str
    offers: str
    below: str = ""


def text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
    """Return the way as boxes from top to bottom with the rates between them."""
    places, notes = _places(considered)
    down = "|" if ascii else "│"
    tip = "v" if ascii else "▼"
    lines = [TITLE[:width]]
    for place in places:
        lines += [f"[ {place.name} ]"[:width], *textwrap.wrap(place.offers, width, initial_indent="    ", subsequent_indent="    ")]
        if place.below:
            side = f"  {down} "
            lines += [*textwrap.wrap(place.below, width, initial_indent=side, subsequent_indent=side), f"  {tip}"]
    lines += [line for note in notes for line in textwrap.wrap(note, width)]
    return [line.replace("×", "x") for line in lines] if ascii else lines


def svg(considered: Considered) -> str:
    """Return the same as an SVG document."""
    from wizard.pictures import sheet

    places, notes = _places(considered)
    height = sheet.HEAD + len(places) * (BOX + GAP) + 24 * len(notes) + sheet.MARGIN
    drawing = sheet.sheet(TITLE, WIDTH, height)
    y = float(sheet.HEAD)
    middle = WIDTH / 2
    for number, place in enumerate(places):
        colour = sheet.COLOURS[number % len(sheet.COLOURS)]
        drawing.append(sheet.box(sheet.MARGIN, y, WIDTH - 2 * sheet.MARGIN, BOX, stroke=colour))
        drawing.append(sheet.label(place.name, middle, y + 25, size=15, anchor="middle", weight="bold"))
        drawing.append(sheet.label(place.offers, middle, y + 47, anchor="middle"))
        if place.below:
            drawing.append(sheet.line(sheet.MARGIN + 40, y + BOX, sheet.MARGIN + 40, y + BOX + GAP, width=2))
            drawing.append(sheet.label("▼", sheet.MARGIN + 40, y + BOX + GAP - 1, anchor="middle"))
            drawing.append(sheet.label(place.below, sheet.MARGIN + 60, y + BOX + GAP / 2 + 5))
        y += BOX + GAP
    for note in notes:
        drawing.append(sheet.label(note, sheet.MARGIN, y, colour=sheet.FAINT))
        y += 24
    return sheet.finish(drawing)


def _places(considered: Considered) -> tuple[list[Place], list[str]]:
    chosen = considered.ranking.chosen
    if chosen is None or chosen.candidate.storage is None or Stage.STORAGE_CPU not in chosen.candidate.facts:
        return [], ["no design"]
    candidate = chosen.candidate
    return [*_shared(candidate), *_node(candidate)], _notes(candidate)


def _rate(facts: dict[str, object], name: str, known: str = "") -> str:
    """Return a rate of the stage's fact in words, "not stated" where it is not known."""
    value = float(str(facts.get(name, 0.0)))
    return UNKNOWN if (known and not facts.get(known)) or value <= 0.0 else rate_in_words(value * GB)


def _facts(candidate: Candidate) -> dict[str, object]:
    return dict(candidate.facts[Stage.STORAGE_CPU])


def _shared(candidate: Candidate) -> list[Place]:
    facts = _facts(candidate)
    places = []
    if facts["object_found"] and facts["shared_kind"] == "both":
        name = f"{facts['object_units']} × {facts['object_store']}"
        below = f"fills the working set at {_rate(facts, 'object_fill_gb_per_s')}, within a day"
        places.append(Place(name, f"reads {_rate(facts, 'object_read_gb_per_s')}; keeps all data", below))
    if facts["system_found"]:
        offers = (
            f"reads {_rate(facts, 'read_offered_gb_per_s', 'read_known')}, writes {_rate(facts, 'write_offered_gb_per_s', 'write_known')}"
        )
        places.append(Place(f"{facts['system_units']} × {facts['system']}", offers, _needed(facts)))
    elif facts["shared_kind"] == "existing":
        places.append(Place("the storage that is there", f"{_rate(facts, 'existing_gb_per_s')} to all nodes", _needed(facts)))
    elif facts["shared_kind"] not in ("local", "both"):
        places.append(Place(str(facts["shared_words"]), "product open: rates are asked for", _needed(facts)))
    return places


def _needed(facts: dict[str, object]) -> str:
    return (
        f"data {facts['dataset_read']}, restore {facts['restore_read']}; back up: checkpoints every {facts['checkpoint_interval']}, "
        f"{_rate(facts, 'write_needed_gb_per_s')} or more"
    )


def _node(candidate: Candidate) -> list[Place]:
    facts, nodes = _facts(candidate), candidate.nodes
    host, gpus = candidate.host, int(str(facts["gpus_per_node"]))
    places = []
    if nodes > 1:
        link = _rate(facts, "node_storage_gb_per_s", "node_storage_known")
        below = f"each node reads {_rate(facts, 'read_per_node_gb_per_s')} of it"
        places.append(Place("storage network", f"{link} to each of {nodes:,} nodes", below))
    local = f"{float(str(facts['local_tb'])):.3g} TB" if facts["local_known"] else UNKNOWN
    places.append(
        Place("local NVMe", f"{local} per node; staged {float(str(facts['staged_tb'])):.3g} TB", "read once per epoch by the loaders")
    )
    memory = UNKNOWN if host is None or host.memory_offered is None else f"{magnitude(host.memory_offered, 'GB'):,.0f} GB"
    bandwidth = "" if host is None or host.modules is None else f", {rate_in_words(host.modules.reached)}"
    loaders = f"{facts['worker_processes']} loading processes"
    copy = f"to each GPU and back {rate_in_words(HOST_COPY_BYTES_PER_S)} or more; a checkpoint stops {facts['checkpoint_pause']}"
    places.append(Place("host memory", f"{memory}{bandwidth}; {loaders}", copy))
    places.append(Place(f"{gpus} × {candidate.gpu.name} per node", _gpu_memory(candidate)))
    return places


def _gpu_memory(candidate: Candidate) -> str:
    bandwidth = candidate.gpu.memory.bandwidth
    size = f"{candidate.gpu.memory.printed.to('GB'):,.0f} GB each"
    return size if bandwidth is None else f"{size} at {rate_in_words(bandwidth.to('GB/s') * GB)}"


def _notes(candidate: Candidate) -> list[str]:
    storage = candidate.storage
    assert storage is not None
    write = in_words(magnitude(storage.checkpoint_write_time, "s"))
    size = size_in_words(magnitude(storage.checkpoint, "byte"))
    notes = [f"a checkpoint of {size} is written in {write}, {storage.mode}; homes are on a file server of their own"]
    facts = _facts(candidate)
    if candidate.nodes > 1 and facts["system_found"]:
        direct = f"none, since {facts['direct_missing']}" if facts["direct_open"] else "possible, past host memory"
        notes.append(f"from storage straight into GPU memory (GPUDirect Storage): {direct}")
    return notes
