"""The console entry: read the arguments, import only what the command needs, turn every expected error into one message."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run cluster-wizard with `arguments` (those of the process by default) and return the exit code.

    0 good, 1 the answer is "no" (conflicts, differences, findings), 2 the input cannot be read or the call is wrong.
    """
    from wizard.cli import WRONG, run

    _prepare_streams()
    try:
        code = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe went away; what it wanted it has. Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)  # noqa: T201
        return 130
    except OSError as error:
        print(f"cluster-wizard: standard output: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG
    return code


def _prepare_streams() -> None:
    """Give closed streams a place to go, and let every stream take any text: TOML and JSON for others are UTF-8 always."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
