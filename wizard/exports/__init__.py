"""Files for other tools, one module per format.

    write("dot", considered, stream)

A module has `write(considered, stream)`, which writes text to a stream as it goes: a schedule of four hundred thousand rows is never
held in memory. It raises NothingToExport where the design has nothing of that kind (one node has no fabric). The table below names the
formats; every registered picture is one more, `svg-<id>`. Modules are imported only when their format is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO, cast

if TYPE_CHECKING:
    from rules.advisor import Considered

PICTURE = "svg-"


class NothingToExport(Exception):  # noqa: N818 - it is an answer, not a fault
    """The design has nothing that the format could hold; the message says what is missing."""


class Format(NamedTuple):
    """A format: its name in `--to`, its module, the usual name of such a file, and what it is for."""

    id: str
    module: str
    file: str
    text: str


class FormatModule(Protocol):
    """What the module of a format offers."""

    def write(self, considered: Considered, stream: TextIO) -> None:
        """Write the design to the stream; raises NothingToExport."""


FORMATS: tuple[Format, ...] = (
    Format("acceptance", "acceptance", "acceptance.md", "acceptance plan: checks, collectives, expected bandwidth and limits"),
    Format("acceptance-json", "acceptance_json", "acceptance.json", "the same for programs"),
    Format("addresses-csv", "addresses_csv", "addresses.csv", "address plan: routed links, loopbacks, AS numbers, out-of-band"),
    Format("bom-csv", "bom_csv", "bom.csv", "bill of materials, with what is known of each price"),
    Format("cables-csv", "cables_csv", "cables.csv", "cable schedule: both ends, medium, length, optics, label, bundle"),
    Format("containerlab", "containerlab", "cluster.clab.yml", "Ethernet networks as a lab of containers"),
    Format("dot", "dot", "networks.dot", "all networks as a graph, for Graphviz"),
    Format("infiniband", "infiniband", "fabric.net", "InfiniBand network as ibnetdiscover lists it, for ibsim and opensm"),
    Format("netbox-cables", "netbox_cables", "cables.csv", "NetBox: every link, to import after the devices"),
    Format("netbox-devices", "netbox_devices", "devices.csv", "NetBox: every device, to import after the types"),
    Format("netbox-racks", "netbox_racks", "racks.csv", "NetBox: racks, to import before the devices"),
    Format("netbox-types", "netbox_types", "device-types.yaml", "NetBox: device types with their interfaces"),
    Format("bom-without-prices-csv", "bom_without_prices_csv", "bom-without-prices.csv", "bill of materials for a vendor to fill in"),
    Format("design-without-prices", "design_without_prices", "shared.toml", "the design as a file without prices, costs and budget"),
    Format("questions-csv", "questions_csv", "questions.csv", "questions for vendors, one per row"),
    Format("questions-markdown", "questions_markdown", "questions.md", "questions for vendors, as a page to send"),
    Format("slurm-block", "slurm_block", "topology.conf", "Slurm topology of blocks: racks of one scale-up domain, else units"),
    Format("slurm-tree", "slurm_tree", "topology.conf", "Slurm topology as a tree: units, pods, the whole network"),
    Format("slurm-yaml", "slurm_yaml", "topology.yaml", "Slurm topologies of tree and blocks, for Slurm 25.05 and later"),
)


def formats() -> tuple[Format, ...]:
    """Return every format, those of the pictures last."""
    from wizard.pictures import PICTURES

    pictures = (Format(f"{PICTURE}{each.id}", "", f"{each.id}.svg", f"picture: {each.shows}") for each in PICTURES)
    return (*FORMATS, *pictures)


def format_named(name: str) -> Format:
    """Return the format of that name; raises KeyError."""
    return {each.id: each for each in formats()}[name]


def write(name: str, considered: Considered, stream: TextIO) -> None:
    """Write a design in the format called `name`; raises KeyError for no format, NothingToExport for nothing to write."""
    form = format_named(name)
    if form.module:
        cast("FormatModule", import_module(f"wizard.exports.{form.module}")).write(considered, stream)
        return
    from wizard.pictures import svg

    stream.write(svg(name.removeprefix(PICTURE), considered))
