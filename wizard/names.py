"""Names that the catalog knows, for fields that take one: models, GPUs, servers, vendors. What a person types finds them."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from rules.answers import Answers
    from wizard.advice import Adviser

MOST_MATCHES = 6
LIKE = 0.6
"""How alike two words must be (0 to 1, as difflib counts) for one to be offered in place of the other."""
_PIECE = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)*")
_SIZE = re.compile(r"[0-9]+(\.[0-9]+)?\s*[bBmMtT]?")
"""A number of parameters, which is no name of a model."""
_PICKED = ("model.preset", "preferences.gpus", "preferences.nodes", "preferences.vendors", "own_server.gpu")
_SHELVES = {"model.preset": "models", "preferences.gpus": "gpus", "own_server.gpu": "gpus", "preferences.nodes": "nodes"}
_KINDS = {"vision": ("vision_transformer", "cnn", "multimodal"), "recommendation": ("recommendation",)}


@dataclass(frozen=True)
class Name:
    """A name to pick, and a note beside it."""

    id: str
    note: str
    words: str


def is_picked(key: str) -> bool:
    """Return whether the answer is a name out of the catalog."""
    return key in _PICKED


class Names:
    """The names of the catalog, once it is loaded; before that nothing matches and everything is accepted."""

    def __init__(self, adviser: Adviser) -> None:
        self._adviser = adviser
        self._lists: dict[str, tuple[Name, ...]] = {}
        self._nearest: tuple[tuple[str, str], list[Name]] | None = None

    @property
    def ready(self) -> bool:
        """Return whether the catalog is loaded."""
        return self._adviser.catalog is not None

    def matches(self, key: str, text: str, answers: Answers) -> list[Name]:
        """Return the names that hold every word of `text` in any order, in id, name or aliases; the likeliest first.

        Words may be typed without what joins them: "llama70b" and "h200 sxm" find as "llama-70b" and "h200-sxm" do.
        """
        names = self._of(key)
        if key == "model.preset":
            names = self._fitting(names, answers)
        words = text.lower().split()
        found = [each for each in names if all(word in each.words for word in words)]
        pieces = _PIECE.findall(text.lower())
        if not found and pieces:
            found = [each for each in names if all(piece in each.words for piece in pieces)]
        start = text.strip().lower()
        return sorted(found, key=lambda each: (not each.id.startswith(start), -_whole_words(each, words or pieces)))

    def nearest(self, key: str, text: str) -> list[Name]:
        """Return the names whose words are most like the typed ones, for when none holds them all; at most MOST_MATCHES."""
        if self._nearest is None or self._nearest[0] != (key, text):
            pieces = _PIECE.findall(text.lower())
            rated = [(_likeness(pieces, each), each) for each in self._of(key)] if pieces else []
            rated = sorted((row for row in rated if row[0] >= LIKE), key=lambda row: -row[0])
            self._nearest = (key, text), [each for _, each in rated[:MOST_MATCHES]]
        return self._nearest[1]

    def problem(self, key: str, text: str) -> str:
        """Return what is wrong with the typed name or names, "" where the catalog knows each or is not loaded yet."""
        catalog = self._adviser.catalog
        if catalog is None or not is_picked(key) or not text.strip() or text.strip() == "?":
            return ""
        for part in (part.strip() for part in text.split(",") if part.strip()):
            if not self._known(catalog, key, part):
                if key == "model.preset" and _SIZE.fullmatch(part):
                    return f"{part!r} is a size: write it under 'or parameters', or pick a model{self._near(key, part)}"
                return f"the catalog knows no {_noun(key)} {part!r}{self._near(key, part)}; type a part of the name to see what there is"
        return ""

    def _known(self, catalog: Catalog, key: str, name: str) -> bool:
        if key == "preferences.vendors":
            return name.lower() in {each.id.lower() for each in self._of(key)}
        return name in getattr(catalog, _SHELVES[key])

    def _near(self, key: str, name: str) -> str:
        near = self.nearest(key, name)
        return f"; the nearest is {near[0].id!r}" if near else ""

    def _fitting(self, names: tuple[Name, ...], answers: Answers) -> tuple[Name, ...]:
        wanted = _KINDS.get(answers.text("workload.kind"))
        others = tuple(kind for kinds in _KINDS.values() for kind in kinds if kind != "multimodal")
        return tuple(each for each in names if (_kind(each) in wanted if wanted else _kind(each) not in others))

    def _of(self, key: str) -> tuple[Name, ...]:
        catalog = self._adviser.catalog
        if catalog is None or not is_picked(key):
            return ()
        if key not in self._lists:
            self._nearest = None
            self._lists[key] = tuple(_names(catalog, key))
        return self._lists[key]


def _whole_words(name: Name, words: Iterable[str]) -> int:
    """Return how many of the words stand whole in the name: "70b" is one of "llama-3.1-70b", "0b" is none."""
    whole = set(re.split(r"[^a-z0-9.]+", name.words))
    return sum(word in whole for word in words)


def _likeness(pieces: list[str], name: Name) -> float:
    """Return how well the name's words answer the typed ones (0 to 1): the mean over the typed ones of the likest word's likeness."""
    words = _PIECE.findall(name.words)
    rates = [max((_alike(piece, word) for word in words), default=0.0) for piece in pieces]
    whole = difflib.SequenceMatcher(None, "".join(pieces), "".join(_PIECE.findall(name.id.lower()))).ratio()
    return (plain_sum(rates) / len(rates) + whole) / 2 if rates else 0.0


def _alike(piece: str, word: str) -> float:
    """Return how alike two words are; numbers are the same or not, for a model of another size is not like it."""
    if piece[0].isdigit() or word[0].isdigit():
        return float(piece == word)
    return difflib.SequenceMatcher(None, piece, word).ratio()


def _kind(name: Name) -> str:
    return name.note.rsplit(", ", 1)[-1].replace(" ", "_")


def _noun(key: str) -> str:
    return {"model.preset": "model", "preferences.nodes": "server", "preferences.vendors": "vendor"}.get(key, "GPU")


def _names(catalog: Catalog, key: str) -> Iterable[Name]:
    if key == "preferences.vendors":
        vendors = {each.vendor for each in catalog.gpus} | {each.vendor for each in catalog.nodes}
        return [Name(vendor, "", vendor.lower()) for vendor in sorted(vendors, key=str.lower)]
    if key == "model.preset":
        return [_name(each.id, f"{each.name}, {each.kind.replace('_', ' ')}", each.aliases) for each in catalog.models]
    if key == "preferences.nodes":
        return [_name(each.id, each.name, each.aliases) for each in catalog.nodes]
    return [_name(each.id, each.name, each.aliases) for each in catalog.gpus]


def _name(id_: str, note: str, aliases: Iterable[str]) -> Name:
    return Name(id_, note, " ".join([id_, note, *aliases]).lower())
