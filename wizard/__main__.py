"""The console entry: read the arguments, import only what the command needs, turn every expected error into one message."""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run cluster-wizard with `arguments` (those of the process by default) and return the exit code.

    0 good, 1 the answer is "no" (conflicts, differences, findings), 2 the input cannot be read or the call is wrong.
    """
    from wizard.cli import run

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
    return code


if __name__ == "__main__":
    sys.exit(main())
