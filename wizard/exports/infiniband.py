"""The InfiniBand network as `ibnetdiscover` lists it, in the short form that `ibsim` reads: what a subnet manager will find.

Every adapter is a host channel adapter of one port, named by its node and port.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports import NothingToExport
from wizard.exports.fabric import compute

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.fabric.links import End


def write(considered: Considered, stream: TextIO) -> None:
    """Write every switch with its ports, then every adapter; raises NothingToExport for Ethernet."""
    network = compute(considered)
    if network.protocol != "infiniband":
        raise NothingToExport(f"the network among GPUs is {network.technology}, not InfiniBand")
    switches = {each.name for each in network.devices() if each.kind == "switch"}
    ports: dict[str, list[tuple[int, str, int]]] = {name: [] for name in switches}
    for link in network.links():
        lower, upper = (_end(each, switches) for each in (link.lower, link.upper))
        ports.setdefault(lower[0], []).append((lower[1], *upper))
        ports.setdefault(upper[0], []).append((upper[1], *lower))
    radix = network.wiring.spec.switch_ports  # type: ignore[union-attr]
    stream.write(f"# {network.technology}: {len(switches)} switches, {len(ports) - len(switches)} adapters\n\n")
    for name in sorted(ports, key=lambda each: (each not in switches, each)):
        stream.write(f'Switch\t{radix} "{name}"\n' if name in switches else f'Hca\t1 "{name}"\n')
        for number, other, port in sorted(ports[name]):
            stream.write(f'[{number}]\t"{other}"[{port}]\n')
        stream.write("\n")


def _end(end: End, switches: set[str]) -> tuple[str, int]:
    """Return (device, port): a port of a switch by its number, an adapter as a device of its own."""
    return (end.device, end.number) if end.device in switches else (f"{end.device}-{end.port}", 1)
