"""Autosaves as files: where they are, what they say, whose they are. Several wizards may run at once, and none writes over another's."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wizard.files import FileError, write_atomically
from wizard.interview import load_interview
from wizard.places import autosave_path, state_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MARK = "# unsaved answers of "
_LEFT = "# left at "
_ASIDE = "earlier-"
MOST_PUT_ASIDE = 5
"""Autosaves of other unfinished new designs that are kept; more would only fill the start page."""
LONGEST_STEM = 40
"""Characters of a file's name in its autosave's: in UTF-8 at most 160 of the 255 bytes that file systems allow for a name."""
DIGEST = 8
"""Hexadecimal digits that tell files of the same name in different folders apart."""


@dataclass(frozen=True)
class Kept:
    """An autosave as this wizard has read or written it. `mark` is device, inode and time of writing: every writing changes them."""

    place: Path
    mark: tuple[int, int, int]

    @classmethod
    def at(cls, place: Path) -> Kept:
        """Return the autosave that stands at `place`; raises OSError."""
        return cls(place, _mark_of(place))

    @property
    def ours(self) -> bool:
        """Return whether the file is still the one that we know: no other wizard has written or moved it."""
        try:
            return _mark_of(self.place) == self.mark
        except OSError:
            return False

    def moved(self) -> Path | None:
        """Return where another wizard has put it aside; None where it is not found."""
        for place in autosaves():
            with contextlib.suppress(OSError):
                if _mark_of(place) == self.mark:
                    return place
        return None

    def remove(self) -> None:
        """Remove it where it is now, and nothing of another wizard's; raises OSError."""
        place = self.place if self.ours else self.moved()
        if place is not None:
            place.unlink(missing_ok=True)


def _mark_of(place: Path) -> tuple[int, int, int]:
    found = place.stat()
    return found.st_dev, found.st_ino, found.st_mtime_ns


def autosave_of(path: Path | None) -> Path:
    """Return where the unsaved answers of `path` are kept; those of no file have their own place."""
    if path is None:
        return autosave_path()
    digest = hashlib.sha256(str(path.absolute()).encode(errors="surrogateescape")).hexdigest()[:DIGEST]
    stem = "".join(letter if letter.isprintable() else "_" for letter in path.stem[:LONGEST_STEM])
    return _folder() / f"{stem}-{digest}.toml"


def _folder() -> Path:
    return state_folder() / "autosave"


def place_for(path: Path | None, kept: Kept | None) -> Path:
    """Return where the answers of `path` can be written without writing over other work; raises OSError.

    What stands in our place is put aside where we come later. Where another wizard came later, ours is where it has put it.
    """
    if kept is None:
        place = autosave_of(path)
        if place.is_file():
            _put_aside(place)
        return place
    if kept.ours:
        return kept.place
    moved = kept.moved()
    if moved is not None:
        return moved
    return _folder() / f"{kept.place.stem[:LONGEST_STEM]}-{secrets.token_hex(4)}.toml" if kept.place.exists() else kept.place


def write_kept(place: Path, text: str) -> Kept:
    """Write an autosave; raises FileError or OSError."""
    if place.exists() and not place.is_file():  # a pipe would wait for a reader, a device would swallow it
        raise FileError(place, "is no ordinary file; remove it")
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place, text)
    return Kept.at(place)


def reason_of(error: Exception) -> str:
    """Return in a few words why an autosave could not be written."""
    cause = error if isinstance(error, OSError) else error.__context__
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror.lower()
    return error.message if isinstance(error, FileError) else str(error)


def _put_aside(place: Path) -> None:
    """Keep the autosave of other work that stands where ours will be written; the oldest of too many go."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    place.replace(folder / f"{_ASIDE}{place.stat().st_mtime_ns}.toml")
    for _, old in sorted(_when_written(folder.glob(f"{_ASIDE}*.toml")))[:-MOST_PUT_ASIDE]:
        old.unlink(missing_ok=True)


def _when_written(places: Iterable[Path]) -> Iterable[tuple[int, Path]]:
    for place in places:
        with contextlib.suppress(OSError):
            yield place.stat().st_mtime_ns, place


def set_aside_unreadable(place: Path) -> Path:
    """Rename an autosave that cannot be used, so that it stands in nobody's way, and return its new name; raises OSError."""
    aside = place.with_name(f"{place.name}.unreadable-{place.stat().st_mtime_ns}")
    place.replace(aside)
    return aside


@dataclass(frozen=True)
class Left:
    """Where the person was when an autosave was written: the step, the steps seen before, and text that is no valid answer.

    `variant` are the answers of an open what-if that are not those of the base, None for those that it has not.
    """

    step: str = ""
    visited: tuple[str, ...] = ()
    drafts: tuple[tuple[str, str], ...] = ()
    variant: tuple[tuple[str, object], ...] = ()

    @classmethod
    def read(cls, place: Path) -> Left:
        """Return what an autosave says; nothing where it says nothing that can be used."""
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError), place.open(encoding="utf-8") as stream:
            for line in (stream.readline(), stream.readline()):
                if line.startswith(_LEFT):
                    found = json.loads(line.removeprefix(_LEFT))
                    interview = load_interview()
                    steps = [step.id for step in interview.steps]
                    step = found.get("step", "")
                    visited = tuple(each for each in found.get("visited", ()) if each in steps)
                    drafts = [(str(key), str(text)) for key, text in found.get("drafts", {}).items() if interview.question(str(key))]
                    variant = [(str(key), raw) for key, raw in found.get("variant", {}).items()]
                    return cls(step if step in steps else "", visited, tuple(drafts), tuple(variant))
        return cls()

    def line(self) -> str:
        """Return the comment that keeps it in an autosave, "" where there is nothing to keep."""
        kept = {"step": self.step, "visited": list(self.visited), "drafts": dict(self.drafts), "variant": dict(self.variant)}
        return f"{_LEFT}{_in_comment(kept)}\n" if any(kept.values()) else ""


def mark_line(path: Path | None) -> str:
    """Return the comment that says whose unsaved answers an autosave holds; "" for a new design."""
    return f"{_MARK}{_in_comment(str(path))}\n" if path is not None else ""


def _in_comment(value: Mapping[str, object] | str) -> str:
    """Return JSON that can stand in a comment of TOML, which holds no control character; JSON itself allows DEL."""
    return json.dumps(value).replace("\x7f", "\\u007f")


@dataclass(frozen=True)
class Unfinished:
    """An autosave that was found: where it is, and the file whose answers it holds (None for a new design)."""

    place: Path
    path: Path | None
    when: float


def unfinished() -> list[Unfinished]:
    """Return the autosaves of this person, newest first."""
    rows = [found for place in autosaves() if (found := _unfinished(place)) is not None]
    return sorted(rows, key=lambda each: -each.when)


def autosaves() -> Iterable[Path]:
    """Return the ordinary files that stand where autosaves do; opening a pipe or a device could wait for ever."""
    with contextlib.suppress(OSError):
        yield from (place for place in (autosave_path(), *sorted(_folder().glob("*.toml"))) if place.is_file())


def _unfinished(place: Path) -> Unfinished | None:
    try:
        with place.open(encoding="utf-8") as stream:
            first = stream.readline().rstrip("\n")
        path = _marked(first.removeprefix(_MARK)) if first.startswith(_MARK) else None
        return Unfinished(place, path, place.stat().st_mtime)
    except (OSError, UnicodeDecodeError):
        return None


def _marked(text: str) -> Path:
    """Return the path of a mark: a JSON text, or the bare path."""
    if text.startswith('"'):
        with contextlib.suppress(ValueError):
            return Path(str(json.loads(text)))
    return Path(text)
