"""`cluster-wizard plain`: the interview line by line, for screen readers and pipes."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_config_option, narrate, one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from wizard.work import Work


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="?", metavar="FILE.toml", help="a design or answers to go on with")
    parser.add_argument("--first", action="store_true", help="ask only the ten questions that a first design needs")
    parser.add_argument("--situation", metavar="NAME", help="start from a situation; a wrong name lists them")
    parser.add_argument("-o", "--output", metavar="OUT.toml", help="write the design here at the end")
    add_catalog_option(parser)
    add_config_option(parser)


def run(options: argparse.Namespace) -> int:
    """Converse; returns 0, or 1 where the design has conflicts at the end."""
    from wizard.advice import Adviser
    from wizard.config import load_config, region_note
    from wizard.plain.dialogue import Dialogue, converse
    from wizard.preferences import use

    config = load_config(options.config)
    use(config.preferences)
    work = _work(options)
    if work is None:
        return WRONG
    adviser = Adviser(options.catalog)
    adviser.warm()
    if adviser.catalog is not None and (note := region_note(config, adviser.catalog)):
        narrate(one_line(f"cluster-wizard: {note}"))
    dialogue = Dialogue(adviser, work, first_only=options.first)
    with _ending_on_signals():
        try:
            for said in converse(dialogue, _typed()):
                _print(said)
        finally:
            work.autosave()
    if not _write(options.output, dialogue.work, dialogue.adviser.catalog):
        return WRONG
    if farewell := work.farewell():
        narrate(farewell)
    return GOOD if work.design is not None and work.design.fits and not work.error else NO


@contextlib.contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Let signals that end the program unwind it, so that the answers are kept on the way."""
    from wizard.stopping import AFTER, SIGNALS

    def come(number: int, _frame: object) -> None:
        raise SystemExit(AFTER + number)

    main = threading.current_thread() is threading.main_thread()
    before = {each: signal.signal(each, come) for each in SIGNALS} if main else {}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _print(lines: list[str]) -> None:
    for line in lines:
        print(line)
    with contextlib.suppress(AttributeError):
        sys.stdout.flush()


def _typed() -> Iterator[str]:
    """Yield the lines that the person types; where they come from a pipe, each is repeated, so that what is printed can be read alone."""
    there = sys.stdin is not None and not sys.stdin.closed
    person = there and sys.stdin.isatty()
    while there:
        if person:
            print("> ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        if not person:
            print(f"> {line.rstrip()}")
        yield line


def _work(options: argparse.Namespace) -> Work | None:
    """Return the work to go on with: a file's, that of a situation, what was left unfinished, or new."""
    from wizard.kept import unfinished
    from wizard.situations import load_situations
    from wizard.work import Work, fresh, opened

    if options.file is not None:
        found = opened(Path(options.file))
        if found.note:
            narrate(found.note)
        return found.work
    work = fresh()
    session = work.session
    if options.situation is not None:
        situation = next((each for each in load_situations() if each.id == options.situation), None)
        if situation is None:
            told = "; ".join(f"{each.id} ({each.title}, {each.text})" for each in load_situations())
            narrate(f"cluster-wizard: there is no situation {options.situation!r}; there are {told}")
            return None
        for key, raw in situation.answers.items():
            session = session.answer(key, raw, "preset")
    elif left := next((each for each in unfinished() if each.path is None), None):
        narrate(f"Answers that you left are kept in {left.place}; 'plain {left.place}' goes on with them.")
    return Work(session, work.session.answers)


def _write(output: str | None, work: Work, catalog: object) -> bool:
    if output is None:
        return True
    if work.design is None:
        narrate(f"cluster-wizard: nothing was written: there is no design ({work.error})")
        return False
    path = Path(output).absolute()
    work.wrote(path, work.design, work.write(path, work.design, catalog))
    narrate(f"wrote {output}")
    return True
