"""A session: answers with undo and redo, and what-if beside the base. No files, no screen."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rules.answer_checks import overruled
from rules.answers import AnswerError, Answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_UNDO = 500


@dataclass(frozen=True)
class Session:
    """The state of an interview. Every change returns a new session; `past` and `future` are for undo and redo.

    `drafts` keeps text that was typed but is no valid answer, by key, so that going back and forth loses nothing.
    `base` is set while a what-if is open.
    """

    answers: Answers = field(default_factory=Answers)
    past: tuple[Answers, ...] = ()
    future: tuple[Answers, ...] = ()
    drafts: tuple[tuple[str, str], ...] = ()
    base: Answers | None = None
    saved: Answers | None = None

    def answer(self, key: str, raw: object, origin: str = "you") -> Session:
        """Return the session with `key` answered; the same session where nothing changes. Raises AnswerError.

        Of two answers of which only one can hold, the other is cleared: whoever answers again has changed their mind. A number of
        nodes or GPUs lets nothing else decide the size, and a person who says that something else does has changed theirs.
        """
        changed = self.answers.with_value(key, raw, origin)
        if changed.values.get(key) == self.answers.values.get(key):
            return self._undrafted(key)
        for other in overruled(changed, key):
            changed = changed.without(other)
        return self._undrafted(key)._to(changed)

    def answer_all(self, values: Mapping[str, object], origin: str) -> Session:
        """Return the session with several keys answered in one step of undo. Raises AnswerError."""
        changed, session = self.answers, self
        for key, raw in values.items():
            changed, session = changed.with_value(key, raw, origin), session._undrafted(key)
        return session if changed.values == self.answers.values else session._to(changed)

    def replaced(self, answers: Answers) -> Session:
        """Return the session with other answers altogether, in one step of undo; what was typed into one that changed is forgotten."""
        session = self
        for key in {*answers.values, *self.answers.values}:
            if answers.values.get(key) != self.answers.values.get(key):
                session = session._undrafted(key)
        return session if answers.values == self.answers.values else session._to(answers)

    def clear(self, key: str) -> Session:
        """Return the session in which `key` is not answered."""
        if key not in self.answers.values:
            return self._undrafted(key)
        return self._undrafted(key)._to(self.answers.without(key))

    def unknown(self, key: str) -> Session:
        """Return the session in which `key` is answered with "I don't know"."""
        return self.answer(key, "unknown")

    def draft(self, key: str, text: str) -> Session:
        """Return the session that remembers `text` as typed into `key` although it is no valid answer."""
        return replace(self, drafts=(*(each for each in self.drafts if each[0] != key), (key, text)))

    def draft_of(self, key: str) -> str | None:
        """Return the invalid text that was typed into `key`, or None."""
        return dict(self.drafts).get(key)

    def undo(self) -> Session:
        """Return the session before the last change; the same where there is none."""
        if not self.past:
            return self
        return replace(self, answers=self.past[-1], past=self.past[:-1], future=(self.answers, *self.future))

    def redo(self) -> Session:
        """Return the session with the last undone change done again; the same where there is none."""
        if not self.future:
            return self
        return replace(self, answers=self.future[0], past=(*self.past, self.answers), future=self.future[1:])

    def what_if(self) -> Session:
        """Return the session with a what-if open: changes are kept apart from the base until kept or dropped."""
        return self if self.base is not None else replace(self, base=self.answers)

    def keep(self) -> Session:
        """Return the session with the what-if made the base."""
        return replace(self, base=None)

    def drop(self) -> Session:
        """Return the session with the what-if forgotten, which can be undone."""
        if self.base is None or self.base == self.answers:
            return replace(self, base=None)
        return replace(self._to(self.base), base=None)

    @property
    def aside(self) -> tuple[tuple[str, object], ...]:
        """Return the answers of an open what-if that are not those of the base, None for those that it has not; empty for none."""
        if self.base is None:
            return ()
        before, now = self.base.values, self.answers.values
        return tuple((key, now.get(key)) for key in sorted({*before, *now}) if before.get(key) != now.get(key))

    def with_variant(self, aside: Iterable[tuple[str, object]]) -> Session:
        """Return the session with a what-if open in which answers are as `aside` says; what is no answer is left out."""
        opened = self.what_if()
        for key, raw in aside:
            with contextlib.suppress(AnswerError):
                opened = opened.clear(key) if raw is None else opened.answer(key, raw)
        return opened if opened.aside else self

    def mark_saved(self) -> Session:
        """Return the session that counts as saved."""
        return replace(self, saved=self.answers)

    @property
    def is_saved(self) -> bool:
        """Return whether the answers are those of the last save."""
        return self.saved == self.answers

    def _to(self, changed: Answers) -> Session:
        return replace(self, answers=changed, past=(*self.past, self.answers)[-MOST_UNDO:], future=())

    def _undrafted(self, key: str) -> Session:
        kept = tuple(each for each in self.drafts if each[0] != key)
        return self if len(kept) == len(self.drafts) else replace(self, drafts=kept)


def check_text(key: str, text: str) -> str | None:
    """Return what is wrong with typed text for `key`, or None where it is a valid answer or empty."""
    if not text.strip():
        return None
    try:
        Answers().with_value(key, text)
    except AnswerError as error:
        return error.message
    return None
