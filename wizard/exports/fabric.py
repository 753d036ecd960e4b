"""What the formats of networks share: the networks of a design, and names as schedulers write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.fabric.compute import needs_compute_fabric
from rules.sizing.fabric.networks import COMPUTE, networks_of
from rules.sizing.racks import racks_per_domain
from wizard.exports import NothingToExport
from wizard.exports.parts import chosen_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.advisor import Considered
    from rules.sizing.fabric.networks import Network

NUMBERED = re.compile(r"^(.*?)(\d+)$")


class Unit(NamedTuple):
    """The nodes that share one set of leaf switches: what a scheduler takes for a leaf; `pod` numbers the pods of three tiers from 1."""

    name: str
    pod: int
    nodes: tuple[str, ...]


def networks(considered: Considered) -> tuple[Network, ...]:
    """Return the networks of the design; raises NothingToExport for a single node, which needs none."""
    found = networks_of(chosen_of(considered), considered.context)
    if not found:
        raise NothingToExport("a single node needs no network")
    return found


def compute(considered: Considered) -> Network:
    """Return the network among GPUs; raises NothingToExport where the design has none."""
    chosen = chosen_of(considered)
    for network in networks_of(chosen, considered.context):
        if network.name == COMPUTE:
            return network
    if needs_compute_fabric(chosen):
        raise NothingToExport(f"no network among {chosen.nodes:,} nodes can be built; the design's conflicts say why")
    raise NothingToExport("the design has no network among GPUs: its nodes share one scale-up domain, or there is one node")


def units(considered: Considered) -> list[Unit]:
    """Return the units of the network among GPUs with their nodes; spares without ports of their own are in none."""
    network = compute(considered)
    wired = network.wiring.spec.nodes  # type: ignore[union-attr]
    nodes = [each for each in network.devices() if each.kind == "node"][:wired]
    members: dict[tuple[int, int], list[str]] = {}
    for each in nodes:
        members.setdefault((each.unit, each.pod), []).append(each.name)
    width = max(2, len(str(len(members))))
    return [Unit(f"unit-{unit:0{width}d}", pod, tuple(names)) for (unit, pod), names in members.items()]


def blocks(considered: Considered) -> list[Unit]:
    """Return the nodes by what joins them fastest: the racks of one scale-up domain, else the units of the network."""
    node = chosen_of(considered).node
    found = units(considered)
    if not node.is_rack or node.trays < 2:
        return found
    names = [name for unit in found for name in unit.nodes]
    joined = racks_per_domain(node)
    whole = node.trays * joined
    domains = [names[start : start + whole] for start in range(0, len(names), whole)]
    width, word = max(2, len(str(len(domains)))), "rack" if joined == 1 else "domain"
    return [Unit(f"{word}-{number:0{width}d}", 0, tuple(members)) for number, members in enumerate(domains, start=1)]


def block_sizes(found: Sequence[Unit]) -> list[int]:
    """Return the sizes that Slurm plans blocks with: the fewest nodes of a block, and its doublings up to all of them."""
    base, total = min(len(each.nodes) for each in found), sum(len(each.nodes) for each in found)
    return [base * 2**power for power in range(16) if base * 2**power <= total]


def hostlist(names: Iterable[str]) -> str:
    """Return names as a Slurm host list: "node-[0001-0032,0034]"; names that end in no number stand for themselves."""
    groups: dict[tuple[str, int], list[int]] = {}
    plain: list[str] = []
    for name in names:
        found = NUMBERED.match(name)
        if found is None:
            plain.append(name)
        else:
            groups.setdefault((found[1], len(found[2])), []).append(int(found[2]))
    texts = [f"{prefix}[{_ranges(numbers, width)}]" if len(numbers) > 1 else f"{prefix}{numbers[0]:0{width}d}"
             for (prefix, width), numbers in groups.items()]  # fmt: skip
    return ",".join([*texts, *plain])


def _ranges(numbers: list[int], width: int) -> str:
    ordered, runs = sorted(set(numbers)), []
    start = last = ordered[0]
    for number in [*ordered[1:], None]:
        if number is not None and number == last + 1:
            last = number
            continue
        runs.append(f"{start:0{width}d}" if start == last else f"{start:0{width}d}-{last:0{width}d}")
        if number is not None:
            start = last = number
    return ",".join(runs)
