"""The work in hand: the session, the file that it belongs to, its autosave, and the last design. No widgets."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wizard.interview import load_interview
from wizard.places import autosave_path, state_folder
from wizard.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rules.answers import Answers
    from rules.design import Design
    from wizard.replay import Change
    from wizard.tui.advice import Advice

UNTITLED = "untitled"
_MARK = "# unsaved answers of "
_LEFT = "# left at "
_ASIDE = "earlier-"
MOST_PUT_ASIDE = 5
"""Autosaves of other unfinished new designs that are kept; more would only fill the start page."""


@dataclass
class Work:
    """Everything that must survive a change of screens. The screens replace `session`; `generation` counts the changes.

    `place` is the autosave that this work owns: the one that it was resumed from or has written. `step` is where the interview is.
    `opened` is the design as its file has it; `changes` are its conclusions that come out otherwise now, because of `causes`.
    """

    session: Session = field(default_factory=Session)
    path: Path | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    is_design: bool = False
    design: Design | None = None
    previous: Design | None = None
    error: str = ""
    generation: int = 0
    settled: int = -1
    place: Path | None = None
    visited: set[str] = field(default_factory=set)
    step: str = ""
    opened: Mapping[str, Any] | None = None
    changes: tuple[Change, ...] = ()
    causes: tuple[str, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _written: object = None

    @property
    def name(self) -> str:
        """Return the name of the design: what its file says, else the file's name, else "untitled"."""
        return str(self.meta.get("name") or (self.path.stem if self.path else UNTITLED))

    @property
    def save_path(self) -> Path | None:
        """Return where "save" writes; None where a name must be asked for: new work, and files that hold answers alone."""
        return self.path if self.is_design else None

    @property
    def answers(self) -> Answers:
        """Return the answers as they are now."""
        return self.session.answers

    @property
    def saved(self) -> bool:
        """Return whether nothing would be lost by closing; empty answers count as saved."""
        return self.session.is_saved or (not self.session.answers.values and self.session.saved is None)

    @property
    def state(self) -> str:
        """Return "saved", or that the answers are only in the autosave."""
        if not self.session.answers.values and self.session.saved is None:
            return "new"
        if self.changes and self.session.is_saved:
            return f"derived again: {self.changed_text}"
        return "saved" if self.session.is_saved else "not saved yet"

    @property
    def changed_text(self) -> str:
        """Return how many conclusions differ from those of the file: "12 conclusions changed"."""
        return f"{len(self.changes)} conclusion{'s' if len(self.changes) != 1 else ''} changed"

    def change(self, session: Session) -> bool:
        """Take over a changed session; returns whether the answers changed and the design must follow."""
        changed = session.answers != self.session.answers
        self.session = session
        if changed:
            self.generation += 1
        return changed

    def settle(self, advice: Advice) -> None:
        """Take over advice on the answers as they are. The last good design stays beside an error."""
        self.settled, self.error = advice.generation, advice.error
        if advice.replayed:
            self.changes, self.causes, self.opened = advice.changes, advice.causes, None
        if advice.design is not None:
            self.previous, self.design = self.design, advice.design

    @property
    def current(self) -> bool:
        """Return whether the design is that of the answers as they are now."""
        return self.settled == self.generation and not self.error

    def autosave(self) -> None:
        """Write the answers beside other state, unless they are saved already; a disk that fails must not stop the interview."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            place, session, generation = autosave_of(self.path), self.session, self.generation
            state = (generation, session.drafts, self.step, tuple(sorted(self.visited)))
            untouched = generation == 0 and not session.answers.values and not session.drafts and self.place is None
            if state == self._written or untouched:
                return
            self._written = state
            needless = (self.saved or not session.answers.values) and not session.drafts
            if not needless and self.place != place and place.exists():
                _put_aside(place)
            if not needless:
                self._write(place, session)
            if self.place is not None and (needless or self.place != place):
                self.place.unlink(missing_ok=True)
            self.place = None if needless else place

    def _write(self, place: Path, session: Session) -> None:
        from wizard.files import FileError, answers_text, write_atomically

        meta = {key: value for key, value in self.meta.items() if key in ("name", "created", "notes")}
        mark = (f"{_MARK}{self.path}\n" if self.path else "") + Left.of(self).line()
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileError):
            write_atomically(place, mark + answers_text(session.answers, meta))

    def forget_autosave(self) -> None:
        """Remove the autosave, after a save or on request."""
        with self._lock, contextlib.suppress(OSError):
            autosave_of(self.path).unlink(missing_ok=True)

    def write(self, path: Path, design: Design, catalog: Any) -> dict[str, Any]:
        """Write the design to `path` and return its meta table; raises FileError. `wrote` must follow."""
        from wizard.files import design_text, write_atomically
        from wizard.versions import meta_of

        named_after_file = self.meta.get("name") in (None, "", self.path.stem if self.path else None)
        meta = meta_of(path.stem if named_after_file else str(self.meta["name"]), catalog, self.meta)
        write_atomically(path, design_text(design, meta))
        return meta

    def wrote(self, path: Path, design: Design, meta: dict[str, Any]) -> None:
        """Take over that the design stands in `path`: answers given since are not saved yet, the others need no autosave."""
        self.forget_autosave()
        self.path, self.meta, self.is_design = path, meta, True
        self.opened, self.changes = None, ()
        self.session = replace(self.session, saved=design.answers)
        if self.saved:
            self.forget_autosave()
        self._written = None


def autosave_of(path: Path | None) -> Path:
    """Return where the unsaved answers of `path` are kept; those of no file have their own place."""
    if path is None:
        return autosave_path()
    digest = hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:8]
    return state_folder() / "autosave" / f"{path.stem}-{digest}.toml"


def _put_aside(place: Path) -> None:
    """Keep the autosave of other work that stands where ours will be written; the oldest of too many go."""
    folder = state_folder() / "autosave"
    folder.mkdir(parents=True, exist_ok=True)
    place.replace(folder / f"{_ASIDE}{place.stat().st_mtime_ns}.toml")
    for old in sorted(folder.glob(f"{_ASIDE}*.toml"))[:-MOST_PUT_ASIDE]:
        old.unlink(missing_ok=True)


@dataclass(frozen=True)
class Left:
    """Where the person was when an autosave was written: the step, the steps seen before, and text that is no valid answer."""

    step: str = ""
    visited: tuple[str, ...] = ()
    drafts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, work: Work) -> Left:
        """Return where the person is."""
        return cls(work.step, tuple(sorted(work.visited)), work.session.drafts)

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
                    return cls(step if step in steps else "", visited, tuple(drafts))
        return cls()

    def line(self) -> str:
        """Return the comment that keeps it in an autosave, "" where there is nothing to keep."""
        kept = {"step": self.step, "visited": list(self.visited), "drafts": dict(self.drafts)}
        return f"{_LEFT}{json.dumps(kept)}\n" if any(kept.values()) else ""


@dataclass(frozen=True)
class Unfinished:
    """An autosave that was found: where it is, and the file whose answers it holds (None for a new design)."""

    place: Path
    path: Path | None
    when: float


def unfinished() -> list[Unfinished]:
    """Return the autosaves of this person, newest first."""
    rows = [found for place in _autosaves() if (found := _unfinished(place)) is not None]
    return sorted(rows, key=lambda each: -each.when)


def _autosaves() -> Iterable[Path]:
    yield autosave_path()
    folder = state_folder() / "autosave"
    if folder.is_dir():
        yield from sorted(folder.glob("*.toml"))


def _unfinished(place: Path) -> Unfinished | None:
    try:
        with place.open(encoding="utf-8") as stream:
            first = stream.readline().rstrip("\n")
        path = Path(first.removeprefix(_MARK)) if first.startswith(_MARK) else None
        return Unfinished(place, path, place.stat().st_mtime)
    except (OSError, UnicodeDecodeError):
        return None


def opened(path: Path) -> tuple[Work, bool]:
    """Return the work of an answers or design file, and whether unsaved answers to it were found; raises FileError.

    With unsaved answers, undo goes back to what the file says.
    """
    left = next((each for each in unfinished() if each.path == path.absolute()), None)
    if left is not None:
        return resumed(left), True
    from wizard.files import load

    loaded = load(path)
    session = Session(answers=loaded.answers).mark_saved()
    return Work(session, path.absolute(), dict(loaded.meta), loaded.is_design, opened=loaded.document), False


def copied(path: Path) -> Work:
    """Return new work that starts from an example: its answers, without its file; raises FileError."""
    from wizard.files import load

    loaded = load(path)
    meta = {key: value for key, value in loaded.meta.items() if key == "notes"}
    return Work(Session(answers=loaded.answers), None, meta)


def resumed(found: Unfinished) -> Work:
    """Return the work that an autosave holds; raises FileError."""
    from wizard.files import FileError, load

    loaded = load(found.place)
    session, is_design = Session(answers=loaded.answers), False
    if found.path is not None:
        with contextlib.suppress(FileError):
            original = load(found.path)
            session, is_design = Session(loaded.answers, past=(original.answers,), saved=original.answers), original.is_design
    left = Left.read(found.place)
    session = replace(session, drafts=left.drafts)
    return Work(session, found.path, dict(loaded.meta), is_design, place=found.place, step=left.step, visited=set(left.visited))
