"""Names that the catalog knows, for fields that take one: models, GPUs, servers, vendors. What a person types finds them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from rules.answers import Answers
    from wizard.tui.advice import Adviser

MOST_MATCHES = 6
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

    def matches(self, key: str, text: str, answers: Answers) -> list[Name]:
        """Return the names that hold every word of `text`, those that begin with it first, at most MOST_MATCHES."""
        names = self._of(key)
        if key == "model.preset":
            names = self._fitting(names, answers)
        words = text.lower().split()
        found = [each for each in names if all(word in each.words for word in words)]
        start = text.strip().lower()
        return sorted(found, key=lambda each: (not each.id.startswith(start), -int(start in each.id.split("-"))))[:MOST_MATCHES]

    def problem(self, key: str, text: str) -> str:
        """Return what is wrong with the typed name or names, "" where the catalog knows each or is not loaded yet."""
        catalog = self._adviser.catalog
        if catalog is None or not is_picked(key) or not text.strip() or text.strip() == "?":
            return ""
        for part in (part.strip() for part in text.split(",") if part.strip()):
            if not self._known(catalog, key, part):
                return f"the catalog knows no {_noun(key)} {part!r}{self._near(key, part)}; type a part of the name to see what there is"
        return ""

    def _known(self, catalog: Catalog, key: str, name: str) -> bool:
        if key == "preferences.vendors":
            return name.lower() in {each.id.lower() for each in self._of(key)}
        return name in getattr(catalog, _SHELVES[key])

    def _near(self, key: str, name: str) -> str:
        near = difflib.get_close_matches(name.lower(), [each.id for each in self._of(key)], n=1, cutoff=0.4)
        return f"; the nearest is {near[0]!r}" if near else ""

    def _fitting(self, names: tuple[Name, ...], answers: Answers) -> tuple[Name, ...]:
        wanted = _KINDS.get(answers.text("workload.kind"))
        others = tuple(kind for kinds in _KINDS.values() for kind in kinds if kind != "multimodal")
        return tuple(each for each in names if (_kind(each) in wanted if wanted else _kind(each) not in others))

    def _of(self, key: str) -> tuple[Name, ...]:
        catalog = self._adviser.catalog
        if catalog is None or not is_picked(key):
            return ()
        if key not in self._lists:
            self._lists[key] = tuple(_names(catalog, key))
        return self._lists[key]


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
