"""Pictures of a design, each as text that reads without colour and as SVG.

    text("memory", considered, width=80)     # lines of at most `width` columns
    svg("memory", considered)                # a document for a report or a browser

A picture is one module with the functions `text(considered, width, ascii=False) -> list[str]` and `svg(considered) -> str`; the
table below names it. Bars and charts are described once (`bars.Bars`, `chart.Chart`) and drawn both ways. Where a design has nothing
to show (no candidate, one node without a fabric), a picture says so in words.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from rules.advisor import Considered

NARROWEST = 40
"""Columns below which no picture is drawn."""


class Picture(NamedTuple):
    """A picture: its name in commands, its title, and what question it answers."""

    id: str
    title: str
    shows: str


class PictureModule(Protocol):
    """What a module of a picture offers."""

    def text(self, considered: Considered, width: int, ascii: bool = False) -> list[str]:
        """Return the picture as lines of at most `width` columns; `ascii` avoids every other character."""

    def svg(self, considered: Considered) -> str:
        """Return the picture as an SVG document."""


PICTURES: tuple[Picture, ...] = (
    Picture("candidates", "Candidates", "what each candidate costs against how long it takes"),
    Picture("memory", "Memory", "what fills a GPU on each pipeline stage, against what it has"),
    Picture("node", "Node", "how GPUs and network adapters hang together inside one server"),
    Picture("fabric", "Networks", "the networks tier by tier: nodes, leaves, spines, cores, and the links between"),
    Picture("racks", "Racks", "what stands in which rack unit, with the power and weight of every kind of rack and what binds it"),
    Picture("racks_row", "Rack rows", "the hall from above: rows of racks, and the bundles of cables that run between them"),
    Picture("power_line", "Power line", "the way of the power: utility, generator, UPS, circuits of every rack with their ratings"),
    Picture("power", "Power", "where the power goes: GPUs, the rest of the nodes, network, storage, cooling and losses"),
    Picture("step", "Step", "where the seconds of a training step go: arithmetic, waiting by kind, bubble"),
    Picture("plans", "Plans", "all parallel plans by step time and memory, and which none beats in both"),
    Picture("money", "Money", "where the money goes: the purchase by kind of part, and the years of ownership"),
    Picture("rent_or_buy", "Rent or buy", "what owning and renting cost against the share of hours in use, and where they cross"),
    Picture("goodput", "Goodput", "the share of time that makes progress against the interval between checkpoints"),
    Picture("data_paths", "Data paths", "from storage through network, node and host memory to the GPU and back, with rates"),
)


def picture(id_: str) -> Picture:
    """Return the picture of that name; raises KeyError."""
    return {each.id: each for each in PICTURES}[id_]


def text(id_: str, considered: Considered, width: int, *, ascii: bool = False) -> list[str]:
    """Return a picture as lines of at most `width` columns (at least NARROWEST are used)."""
    return _module(id_).text(considered, max(NARROWEST, width), ascii)


def svg(id_: str, considered: Considered) -> str:
    """Return a picture as an SVG document."""
    return _module(id_).svg(considered)


def _module(id_: str) -> PictureModule:
    return cast("PictureModule", import_module(f"wizard.pictures.{picture(id_).id}"))
