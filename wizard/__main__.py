"""The console entry: read the arguments, import only what the command needs, turn every expected error into one message."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run cluster-wizard with `arguments` (those of the process by default) and return the exit code.

    0 good, 1 the answer is "no" (conflicts, differences, findings), 2 the input cannot be read or the call is wrong.
    """
    from wizard.cli import WRONG, discard, narrate, run

    _prepare_streams()
    try:
        code = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe went away; what it wanted it has. Python would complain again at exit.
        discard(sys.stdout)
        return 0
    except KeyboardInterrupt:
        narrate("interrupted")
        return 130
    except OSError as error:
        narrate(f"cluster-wizard: standard output: {error.strerror or error}")
        discard(sys.stdout)
        return WRONG
    return code


def _prepare_streams() -> None:
    """Give closed streams a place to go, and let every stream take any text: TOML and JSON for others are UTF-8 always.

    A closed standard input stays none, which whoever reads it says; its number is taken, so that no file that is opened gets it.
    """
    if sys.stdin is None:
        with contextlib.suppress(OSError):
            os.open(os.devnull, os.O_RDONLY)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
