"""One node from inside: processors, PCIe ports and switches, GPUs with their adapters, and the links among GPUs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rules.sizing.hardware import hardware_of
from rules.sizing.node_map import DIRECT, path, placement_of, storage_adapters
from wizard.pictures.sheet import ALARM, COLOURS, FAINT, HEAD, INK, MARGIN, SIZE, box, finish, label, line, sheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalogs.pcie import PciePort
    from rules.advisor import Considered
    from rules.candidate import Candidate
    from rules.sizing.hardware import Hardware
    from rules.sizing.node_map import Device, NodeMap, Pair

    Put = Callable[[object], object]

COLUMN, BOX, LINE = 118, 34, 18
WEAK = "!"
SHOWN = {"PIX": "one switch", "PXB": "switches in a row", "PHB": "no switch"}
"""What lies between a port of a processor and its devices, in words."""


def text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
    """Return the node as a list of ports with their devices, the pairs of GPU and adapter, and the matrix of paths; `!` marks what is
    weak.
    """
    chosen = considered.ranking.chosen
    if chosen is None:
        return ["No design, so no node to look into."]
    head = _head(considered)
    found = _map(considered)
    lines = [part for words in head for part in textwrap.wrap(words, width)]
    if found is not None:
        lines += ["", *_ports(found, width, ascii), "", *_paths(found, width)]
    words = [each.replace("×", "x").replace("–", "-") if ascii else each for each in lines]
    return [each[:width] for each in words]


def _head(considered: Considered) -> list[str]:
    """Return what is known of the node in words."""
    candidate, catalog = _candidate(considered), considered.context.catalog
    node, gpu = candidate.node, candidate.gpu
    placed = placement_of(node, gpu, catalog, considered.context.answers)
    words = [f"One node: {_tray(candidate)}, {node.gpu_count // node.trays} × {gpu.name}", _links(hardware_of(node, gpu, catalog))]
    storage = [f"storage and in-band: {each}" for each in storage_adapters(node, catalog)]
    if placed.map is not None and node.pcie is not None:
        words.append(f"{node.pcie.layout.value}" + ("" if node.pcie.layout.verified else " (not read of this very server)"))
        if placed.far:
            words.append(f"{WEAK} {placed.far} of {len(placed.map.gpus)} GPUs have no adapter beside them")
        if placed.across_loss_bytes_per_s:
            words.append(
                f"{WEAK} between the processors each of {placed.across} GPUs loses {placed.across_loss_bytes_per_s / 1e9:.3g} GB/s"
            )
        return words + storage
    told = f"the answers say {placed.path}" if placed.far else "where GPUs and adapters sit on its PCIe is not published: ask the vendor"
    return [*words, told, *storage]


def _tray(candidate: Candidate) -> str:
    return f"a tray of {candidate.node.name}" if candidate.node.is_rack else candidate.node.name


def _links(hardware: Hardware) -> str:
    if not hardware.fast_scale_up:
        return "its GPUs reach each other over PCIe"
    kind = {"nvlink": "NVLink", "xgmi": "xGMI", "ethernet": "Ethernet", "xe_link": "Xe Link"}.get(hardware.technology, "links of their own")
    how = "each with each" if hardware.mesh else "through switches"
    return f"{kind} joins {hardware.domain} GPUs {how}, {hardware.scale_up_bytes_per_s / 1e9:g} GB/s each, one direction"


def _candidate(considered: Considered) -> Candidate:
    chosen = considered.ranking.chosen
    assert chosen is not None
    return chosen.candidate


def _map(considered: Considered) -> NodeMap | None:
    candidate, context = _candidate(considered), considered.context
    return placement_of(candidate.node, candidate.gpu, context.catalog, context.answers).map


# ------------------------------------------------------------------------------------------------------------------- text


def _ports(found: NodeMap, width: int, ascii: bool) -> list[str]:
    """Return the processors with their ports; what is weak ends in `!`."""
    branch, last, stem = ("|-", "`-", "| ") if ascii else ("├─", "└─", "│ ")
    rows = []
    for socket in _sockets(found):
        rows.append(f"processor {socket}")
        ports = [each for each in found.ports if each.socket == socket]
        for port in ports:
            devices = ", ".join(_named(each, found) for each in found.devices if each.port is port)
            words = f"{_bus(found, port)}, {SHOWN[port.path]}: {devices}"
            first, *rest = textwrap.wrap(words, width - 4, break_long_words=False)
            rows.append(f" {last if port is ports[-1] else branch} {first}")
            rows += [f" {'  ' if port is ports[-1] else stem}   {each}" for each in rest]
    return rows


def _sockets(found: NodeMap) -> list[int]:
    return sorted({each.socket for each in found.ports})


def _bus(found: NodeMap, port: PciePort) -> str:
    return f"PCIe {port.generation or found.generation} x{port.lanes or found.lanes}"


def _named(device: Device, found: NodeMap) -> str:
    if device.is_gpu:
        return f"GPU {device.name}"
    weak = WEAK if _is_weak(device, found) else ""
    networks = " and ".join(each.replace("_", "-") for each in device.networks)
    return f"{device.name}{'' if networks == 'compute' else f' ({networks})'}{weak}"


def _is_weak(device: Device, found: NodeMap) -> bool:
    """Return whether an adapter carries two networks, or serves GPUs that are not beside it."""
    return len(device.networks) > 1 or any(each.adapter is device and each.path not in DIRECT for each in found.pairs())


def _paths(found: NodeMap, width: int) -> list[str]:
    """Return the paths between GPUs and compute adapters, as `nvidia-smi topo -m` prints them; the pair that is used in brackets. Where
    the matrix is too wide, only the pairs.
    """
    adapters, used = found.adapters("compute"), {each.gpu.name: each for each in found.pairs()}
    if not adapters:
        return ["no adapter for traffic among GPUs is on the map"]
    wide = max(7, *(len(each.name) + 1 for each in adapters))
    if 6 + wide * len(adapters) > width:
        return [f"GPU {name} uses {each.adapter.name} by {each.path}" for name, each in used.items()]
    rows = ["path  " + "".join(f"{each.name:^{wide}}" for each in adapters).rstrip()]
    for gpu in found.gpus:
        cells = [f"[{path(gpu, each)}]" if used[gpu.name].adapter is each else path(gpu, each) for each in adapters]
        rows.append(f"GPU {gpu.name} " + "".join(f"{each:^{wide}}" for each in cells).rstrip())
    return rows


# -------------------------------------------------------------------------------------------------------------------- SVG


def svg(considered: Considered) -> str:
    """Return the node as an SVG document: a column for each port, processors above, links among GPUs below."""
    if considered.ranking.chosen is None:
        drawing = sheet("No design, so no node to look into", 480, HEAD + MARGIN)
        return finish(drawing)
    words, found = _head(considered), _map(considered)
    columns = len(found.ports) if found else 1
    deep = max((len(port.devices) for port in found.ports), default=0) if found else 0
    head = HEAD + LINE * len(words)
    wide = max(MARGIN * 2 + columns * COLUMN, MARGIN * 2 + 7.2 * max(map(len, words)))
    drawing = sheet("Inside one node", wide, head + (2 * BOX + deep * (BOX + 8) + 3 * MARGIN if found else MARGIN))
    for row, each in enumerate(words):
        drawing.append(label(each, MARGIN, HEAD + row * LINE, colour=ALARM if each.startswith(WEAK) else INK))
    if found:
        hardware = hardware_of(_candidate(considered).node, _candidate(considered).gpu, considered.context.catalog)
        _draw(drawing.append, found, head, deep, _links(hardware) if hardware.fast_scale_up else "")
    return finish(drawing)


def _draw(put: Put, found: NodeMap, top: float, deep: int, links: str) -> None:
    ports = sorted(found.ports, key=lambda each: each.socket)
    for socket in _sockets(found):
        mine = [index for index, each in enumerate(ports) if each.socket == socket]
        left = MARGIN + mine[0] * COLUMN
        put(box(left, top, len(mine) * COLUMN - 10, BOX, fill="#eeeeee"))
        put(label(f"processor {socket}", left + (len(mine) * COLUMN - 10) / 2, top + 22, anchor="middle", weight="bold"))
    pairs = {each.gpu.name: each for each in found.pairs()}
    below = top + BOX + MARGIN
    for index, port in enumerate(ports):
        left = MARGIN + index * COLUMN
        middle = left + (COLUMN - 10) / 2
        put(line(middle, top + BOX, middle, below + BOX))
        put(label(_bus(found, port), middle + 4, below - 6, size=SIZE - 3, colour=FAINT))
        put(box(left + 8, below, COLUMN - 26, BOX - 8, fill="#ffffff" if port.path == "PHB" else "#dddddd", stroke=FAINT))
        put(label(SHOWN[port.path], middle, below + 17, size=SIZE - 3, anchor="middle"))
        for row, device in enumerate(each for each in found.devices if each.port is port):
            _draw_device(put, found, device, pairs, left, below + BOX + row * (BOX + 8))
    bottom = below + BOX + deep * (BOX + 8) + 8
    if not links:
        return
    put(line(MARGIN, bottom, MARGIN + len(ports) * COLUMN - 10, bottom, colour=COLOURS[2], width=4))
    put(label(links, MARGIN, bottom + LINE, colour=COLOURS[2]))


def _draw_device(put: Put, found: NodeMap, device: Device, pairs: dict[str, Pair], left: float, top: float) -> None:
    """Draw a GPU with the adapter that it uses and the path, or an adapter with its networks."""
    pair = pairs.get(device.name) if device.is_gpu else None
    weak = (pair is not None and pair.path not in DIRECT) or (not device.is_gpu and _is_weak(device, found))
    colour = ALARM if weak else COLOURS[2] if device.is_gpu else COLOURS[0]
    name = f"GPU {device.name}" if device.is_gpu else device.name
    under = f"{pair.adapter.name} {pair.path}" if pair else ", ".join(device.networks).replace("_", "-")
    put(box(left, top, COLUMN - 10, BOX, stroke=colour))
    put(label(f"{name} {WEAK}" if weak else name, left + 6, top + 14, size=SIZE - 1, colour=colour, weight="bold"))
    put(label(under, left + 6, top + 28, size=SIZE - 3))
