"""What is written to the terminal: lines that stand there already are not, and everything is after something else may have written."""

from __future__ import annotations

from rich.console import Console
from rich.segment import Segment
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from wizard.tui.frugal_app import Painted

CONSOLE = Console(width=3, height=2)


def layout(*lines: str) -> LayoutUpdate:
    return LayoutUpdate([[Strip([Segment(line)])] for line in lines], Region(0, 0, len(lines[0]), len(lines)))


def part(row: int, text: str) -> ChopsUpdate:
    return ChopsUpdate([{0: Strip([Segment(text)])} if at == row else {} for at in range(2)], [(row, 0, len(text))], [[len(text)]] * 2)


def written(painted: Painted, update: LayoutUpdate | ChopsUpdate) -> str:
    return painted.without_known(update, CONSOLE).render_segments(CONSOLE)


def test_only_lines_that_differ_are_written():
    """ESC [ row ; column H moves the cursor [ECMA-48, CUP]."""
    painted = Painted()
    assert written(painted, layout("abc", "def")) == "\x1b[1;1Habc\x1b[2;1Hdef"
    assert written(painted, layout("abc", "xyz")) == "\x1b[2;1Hxyz"
    assert written(painted, layout("abc", "xyz")) == ""


def test_a_line_of_which_a_part_was_painted_is_written_anew():
    painted = Painted()
    written(painted, layout("abc", "def"))
    assert "q" in written(painted, part(1, "q"))
    assert written(painted, part(1, "q")) == ""  # the same part again
    assert written(painted, layout("abc", "def")) == "\x1b[2;1Hdef"
    assert "q" in written(painted, part(1, "q"))  # the line stood there in between


def test_another_size_and_a_terminal_that_may_show_something_else_are_painted_whole():
    painted = Painted()
    written(painted, layout("abc", "def"))
    assert written(painted, layout("abcd", "defg")) == "\x1b[1;1Habcd\x1b[2;1Hdefg"
    assert painted
    painted.forget()
    assert not painted
    assert written(painted, layout("abcd", "defg")) == "\x1b[1;1Habcd\x1b[2;1Hdefg"
