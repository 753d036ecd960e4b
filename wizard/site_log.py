"""Logs of nccl-tests and rccl-tests as answers: named or pasted where the day of the measurement is asked for."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from wizard.files import FileError

if TYPE_CHECKING:
    from wizard.session import Session

LOG_KEY = "measured.date"
"""The question that takes the name of a log as well as a day."""


def log_answers(path: Path | str) -> dict[str, str | int]:
    """Return the answers that follow from a log of all_reduce_perf, and the day on which the file was written; raises FileError."""
    from wizard.imports.collective_log import MOST_CHARACTERS, CollectiveLogError, answers_from

    try:
        with Path(path).open("rb") as stream:
            found = answers_from(stream.read(MOST_CHARACTERS + 1).decode("utf-8", errors="replace"))
        return {**found, LOG_KEY: date.fromtimestamp(Path(path).stat().st_mtime).isoformat()}
    except OSError as error:
        raise FileError(str(path), f"cannot be read: {error.strerror}; check the name") from error
    except CollectiveLogError as error:
        raise FileError(str(path), str(error)) from error


def log_named(key: str, text: str) -> Path | None:
    """Return the log that was named as the answer to `key`, None where the text names no file."""
    if key != LOG_KEY or not ("/" in text or "." in text):
        return None
    path = Path(text.strip()).expanduser()
    try:
        return path if path.is_file() else None
    except OSError:
        return None


def answered_by_log(session: Session, key: str, text: str) -> Session | None:
    """Return the session with all that a log says answered, in one step of undo; None where none is named or pasted. Raises FileError.

    A pasted log counts as of today.
    """
    if is_pasted_log(key, text):
        return session.answer_all(_pasted(text), "pasted log")
    path = log_named(key, text)
    return None if path is None else session.answer_all(log_answers(path), f"log {path.name}"[:60])


def is_pasted_log(key: str, text: str) -> bool:
    """Return whether several lines were given where a log may stand."""
    return key == LOG_KEY and "\n" in text.strip()


def _pasted(text: str) -> dict[str, str | int]:
    from wizard.imports.collective_log import CollectiveLogError, answers_from
    from wizard.versions import today

    try:
        return {**answers_from(text), LOG_KEY: today()}
    except CollectiveLogError as error:
        raise FileError("what was pasted", str(error)) from error
