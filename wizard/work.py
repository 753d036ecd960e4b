"""The work in hand: the session, the file that it belongs to, its autosave, and the last design. No widgets."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rules.answers import Answers
from rules.counting import counted
from wizard.files import FileError, answers_text, load, write_atomically
from wizard.kept import (
    Kept,
    Left,
    Unfinished,
    autosave_of,
    mark_line,
    place_for,
    reason_of,
    set_aside_unreadable,
    unfinished,
    write_kept,
)
from wizard.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rules.advisor import Considered
    from rules.comparison.rows import Change
    from rules.design import Design
    from wizard.advice import Advice

UNTITLED = "untitled"


@dataclass(frozen=True)
class Pinned:
    """A candidate that the person took instead of the chosen one: `price` in words, true beside the answers that it was taken with."""

    price: str
    answers: Answers


@dataclass
class Work:
    """Everything that must survive a change of screens. The screens replace `session`; `generation` counts the changes.

    `given` are answers that stood there before the person said anything: the region of their config.
    `kept` is the autosave of this work: the one that it was resumed from or has written; `not_kept` is why it could not be written
    last time, "" where it could. `written_to` has the answers `written`, where the person chose so instead; `given_up` says that they
    chose to leave without. `step` is where the interview is; `sought` are the questions that the person went to by name.
    `considered` is what was weighed for the design; `base_design` is the design beside which a what-if is open.
    `first_only`: only the questions that a first design needs are asked. `pinned` is what the choice of another candidate cost.
    `opened` is the design as its file has it; `changes` are its conclusions that come out otherwise now, because of `causes`.
    """

    session: Session = field(default_factory=Session)
    given: Answers = field(default_factory=Answers)
    path: Path | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    is_design: bool = False
    design: Design | None = None
    previous: Design | None = None
    considered: Considered | None = None
    base_design: Design | None = None
    first_only: bool = False
    pinned: Pinned | None = None
    error: str = ""
    generation: int = 0
    settled: int = -1
    kept: Kept | None = None
    not_kept: str = ""
    written_to: Path | None = None
    written: Answers | None = None
    given_up: bool = False
    visited: set[str] = field(default_factory=set)
    sought: set[str] = field(default_factory=set)
    step: str = ""
    opened: Mapping[str, Any] | None = None
    changes: tuple[Change, ...] = ()
    causes: tuple[str, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _written: object = None
    _kept_session: Session | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Begin with what is on disk: what was opened or resumed, or answers that nobody gave."""
        self._kept_session = self.session

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
        """Return whether nothing would be lost by closing; answers that nobody gave count as saved."""
        return (self.session.is_saved and not self.session.aside) or self.untouched

    @property
    def untouched(self) -> bool:
        """Return whether the person has said nothing yet."""
        return self.session.saved is None and not self.session.aside and (self.answers == self.given or not self.answers.values)

    @property
    def state(self) -> str:
        """Return "saved", or that the answers are only in the autosave, or why they are not even there."""
        if self.untouched:
            return "new"
        if self.session.base is not None:
            return "what-if"
        if self.at_risk:
            return f"not kept: {self.not_kept}"
        if self.changes and self.session.is_saved:
            return f"derived again: {self.changed_text}"
        return "saved" if self.session.is_saved else "not saved yet"

    @property
    def changed_text(self) -> str:
        """Return how many conclusions differ from those of the file: "12 conclusions changed"."""
        return f"{counted(len(self.changes), 'conclusion')} changed"

    def change(self, session: Session) -> bool:
        """Take over a changed session; returns whether the answers changed and the design must follow."""
        changed = session.answers != self.session.answers
        self.session = session
        if changed:
            self.generation += 1
        return changed

    def outruns(self, session: Session) -> bool:
        """Return whether `session` changes an answer while the change of another one is not on disk yet: a kill could lose both."""
        waiting = _differing(self._kept_session or self.session, self.session)
        return bool(waiting) and not _differing(self.session, session) <= waiting

    def settle(self, advice: Advice) -> None:
        """Take over advice on the answers as they are. The last good design stays beside an error."""
        self.settled, self.error = advice.generation, advice.error
        if advice.replayed:
            self.changes, self.causes, self.opened = advice.changes, advice.causes, None
        if advice.design is not None:
            if not self._same_edit(advice.design):
                self.previous = self.design
            self.design, self.considered = advice.design, advice.considered

    def _same_edit(self, design: Design) -> bool:
        """Return whether a design goes on with the edit of one answer that led to the one before: what was typed meanwhile is no step."""
        if self.design is not None and self.design.answers == design.answers:
            return True
        if self.previous is None or self.design is None:
            return False
        before, now, new = self.previous.answers.values, self.design.answers.values, design.answers.values
        last = {key for key in {*before, *now} if before.get(key) != now.get(key)}
        return len(last) == 1 and last == {key for key in {*now, *new} if now.get(key) != new.get(key)}

    @property
    def current(self) -> bool:
        """Return whether the design is that of the answers as they are now."""
        return self.settled == self.generation and not self.error

    @property
    def at_risk(self) -> bool:
        """Return whether leaving now would lose answers: they are neither saved nor in the autosave."""
        return bool(self.not_kept) and not self.saved and self.answers != self.written

    @property
    def why_no_design(self) -> str:
        """Return what stands where a design would, while there is none."""
        return self.error or "the design is being worked out"

    def autosave(self) -> None:
        """Write the answers beside other state, unless they are saved already; where that fails, `not_kept` says why."""
        with self._lock:
            try:
                self._keep()
                self.not_kept = ""
            except (FileError, OSError, ValueError) as error:
                self.not_kept = reason_of(error)

    def _keep(self) -> None:
        session = self.session
        answers = session.answers if session.base is None else session.base
        state = (answers, session.aside, session.drafts, self.step, tuple(sorted(self.visited)))
        nothing = self.generation == 0 and self.untouched and not session.drafts and self.kept is None
        if not nothing and (state != self._written or (self.kept is not None and not self.kept.ours)):
            self._write_kept(session, answers)
            self._written = state
        self._kept_session = session

    def _write_kept(self, session: Session, answers: Answers) -> None:
        if (self.saved or not (answers.values or session.aside)) and not session.drafts:
            self._forget()
        else:
            left = Left(self.step, tuple(sorted(self.visited)), session.drafts, session.aside)
            text = mark_line(self.path) + left.line() + answers_text(answers, self._kept_meta())
            self.kept = write_kept(place_for(self.path, self.kept), text)

    def _kept_meta(self) -> dict[str, Any]:
        return {key: value for key, value in self.meta.items() if key in ("name", "created", "notes")}

    def _forget(self) -> None:
        kept, self.kept = self.kept, None
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.remove()

    def write_answers(self, path: Path) -> None:
        """Write the answers alone to a file of the person's choice; raises FileError."""
        answers = self.answers
        write_atomically(path, answers_text(answers, self._kept_meta()))
        self.written_to, self.written = path, answers

    def farewell(self) -> str:
        """Return what to tell the person who has left: where the answers are, or the answers themselves where they are nowhere."""
        if not self.given_up:
            self.autosave()
        if self.saved:
            return ""
        if self.written_to is not None and self.answers == self.written:
            return f"Your answers are in {self.written_to}; give cluster-wizard this file to go on."
        if self.given_up:
            return "Your answers were not kept."
        if self.not_kept or self.kept is None:
            return f"Your answers could not be kept ({self.not_kept}). They are:\n\n{answers_text(self.answers, self._kept_meta())}"
        return f"Your answers are kept in {self.kept.place}; start cluster-wizard again to resume."

    def write(self, path: Path, design: Design, catalog: Any) -> dict[str, Any]:
        """Write the design to `path` and return its meta table; raises FileError. `wrote` must follow."""
        from wizard.keeping import saved_text
        from wizard.versions import meta_of

        named_after_file = self.meta.get("name") in (None, "", self.path.stem if self.path else None)
        meta = meta_of(path.stem if named_after_file else str(self.meta["name"]), catalog, self.meta)
        write_atomically(path, saved_text(design, meta, catalog, self.opened))
        return meta

    def wrote(self, path: Path, design: Design, meta: dict[str, Any]) -> None:
        """Take over that the design stands in `path`: answers given since are not saved yet, the others need no autosave."""
        with self._lock:
            self._forget()
            if path != self.path:  # what was unsaved of the file that is replaced goes with it
                with contextlib.suppress(OSError):
                    autosave_of(path).unlink(missing_ok=True)
        self.path, self.meta, self.is_design = path, meta, True
        self.opened, self.changes = None, ()
        self.session = replace(self.session, saved=design.answers)
        self._kept_session = replace(self.session, answers=design.answers)
        self._written = None


def _differing(one: Session, other: Session) -> set[str]:
    """Return the keys whose answer, or text that is no answer, is not the same in two sessions."""
    before, now = ({**each.answers.values, **{f"{key}?": text for key, text in each.drafts}} for each in (one, other))
    return {key.removesuffix("?") for key in {*before, *now} if before.get(key) != now.get(key)}


class Opened(NamedTuple):
    """Work that was opened, and what the person should be told about it."""

    work: Work
    note: str = ""
    warns: bool = False


def opened(path: Path) -> Opened:
    """Return the work of an answers or design file, with its unsaved answers where there are any; raises FileError.

    With unsaved answers, undo goes back to what the file says. Unsaved answers that cannot be used do not keep the file closed.
    """
    left = next((each for each in unfinished() if each.path == path.absolute()), None)
    if left is None:
        return Opened(_loaded(path))
    try:
        return Opened(resumed(left), f"Resumed the unsaved answers of {path.name}; undo goes back to what the file says.")
    except FileError as error:
        work = _loaded(path)
        return Opened(work, f"The unsaved answers of {path.name} cannot be used: {error.message}. {_put_away(left.place)}", warns=True)


def _put_away(place: Path) -> str:
    try:
        return f"They are set aside in {set_aside_unreadable(place)}."
    except OSError as error:
        return f"They stay in {place} ({reason_of(error)})."


def _loaded(path: Path) -> Work:
    from wizard.policies import under_policies

    loaded = load(path)
    session = Session(answers=under_policies(loaded)).mark_saved()
    return Work(session, path=path.absolute(), meta=dict(loaded.meta), is_design=loaded.is_design, opened=loaded.document)


def fresh() -> Work:
    """Return work that nobody has touched: empty but for the region of the config, under the policies of the site; raises FileError."""
    from wizard.policies import site_policies
    from wizard.preferences import preferences

    region = preferences().region
    given = Session().answer("facility.region", region, "config").answers if region else Session().answers
    given = given.with_policies(site_policies())
    return Work(Session(given), given)


def copied(path: Path) -> Work:
    """Return new work that starts from an example: its answers, without its file; raises FileError."""
    from wizard.policies import site_policies

    loaded = load(path)
    meta = {key: value for key, value in loaded.meta.items() if key == "notes"}
    return Work(Session(answers=loaded.answers.with_policies(site_policies())), meta=meta)


def resumed(found: Unfinished) -> Work:
    """Return the work that an autosave holds; raises FileError."""
    kept = _known(found.place)  # before it is read: what another wizard writes meanwhile is not ours
    loaded = load(found.place)
    session, is_design = Session(answers=loaded.answers), False
    if found.path is not None:
        with contextlib.suppress(FileError):
            original = load(found.path)
            session, is_design = Session(loaded.answers, past=(original.answers,), saved=original.answers), original.is_design
    left = Left.read(found.place)
    session = replace(session, drafts=left.drafts).with_variant(left.variant)
    return Work(session, path=found.path, meta=dict(loaded.meta), is_design=is_design, kept=kept, step=left.step, visited=set(left.visited))


def _known(place: Path) -> Kept | None:
    with contextlib.suppress(OSError):
        return Kept.at(place)
    return None
