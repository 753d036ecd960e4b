"""As a person would: four sizes, resizing, pasting, the mouse, no colour, 256 colours, a slow line."""

from __future__ import annotations

import re

import pytest

from tests.tty.pseudo import PseudoTerminal
from tests.tty.test_wizard_tty import terminal

pytestmark = [pytest.mark.tty, pytest.mark.xdist_group("tty")]

MOST_BYTES_PER_KEY = 2000
"""What a key may cost at 80×24, so that a line of 20 kB/s carries ten keys a second."""
MOST_BYTES_PER_PAGE = 25_000
"""What a page may cost: painted whole for each of its six changes of layout it would cost 32 kB."""
MAIN_SCREENS = (("F4", "Design  Compare"), ("F5", "candidates"), ("F6", "next"), ("C-r", "Move a limit"), ("F7", "Check your answers"))
SEQUENCE = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_every_main_screen_fits_the_terminal(tmp_path, size):
    with terminal(tmp_path, size=size) as shown:
        shown.wait("New design", "Start from a situation")
        shown.send("Enter")
        shown.wait("step 1 of 5", "assumption")
        for key, text in (
            ("F4", "Design  Compare"),
            ("F5", "candidates"),
            ("F6", "next"),
            ("C-r", "Move a limit"),
            ("F7", "Check your answers"),
        ):
            shown.send(key)
            screen = shown.wait(text)
            assert "Traceback" not in screen
            assert all(len(line) <= size[0] for line in screen.splitlines())
            last = [line for line in screen.splitlines() if line.strip()][-1]
            assert "^p all" in last or "^q quit" in last
            assert last.rstrip().endswith("quit")


def test_a_small_terminal_says_so_and_comes_back_with_everything(tmp_path):
    with terminal(tmp_path, size=(80, 24)) as shown:
        shown.wait("New design")
        shown.send("Enter", "NPage", "NPage", "Tab", "5", "4", "Space", "d", "a", "y", "s")
        shown.wait("54 days", "assumption")
        shown.resize(50, 15)
        shown.wait("too small")
        shown.send("9", "9")
        shown.resize(120, 40)
        assert "99" not in next(line for line in shown.wait("Finish within", "54 days").splitlines() if "Finish within" in line)
        shown.resize(80, 24)
        shown.wait("step 3 of 5", "54 days")


def test_pasted_text_is_one_answer_and_its_line_ends_are_no_keys(tmp_path):
    with terminal(tmp_path, size=(100, 40)) as shown:
        shown.wait("New design")
        shown.send("Enter", "NPage", "NPage", "NPage")
        shown.wait("step 4 of 5")
        shown.paste("Schleswig-Holstein\n")
        screen = shown.wait("Schleswig-Holstein")
        assert "step 4 of 5" in screen


def test_the_mouse_goes_to_steps_and_presses_keys(tmp_path):
    with terminal(tmp_path) as shown:
        shown.wait("New design")
        shown.send("Enter")
        lines = shown.wait("step 1 of 5", "assumption").splitlines()
        line = next(number for number, each in enumerate(lines) if "Datacenter" in each)
        shown.click(lines[line].index("Datacenter"), line)
        lines = shown.wait("step 4 of 5").splitlines()
        line = next(number for number, each in enumerate(lines) if "F4 design" in each)
        shown.click(lines[line].index("F4"), line)
        shown.wait("Chosen:")


def test_without_colour_nothing_is_coloured_and_states_are_told(tmp_path):
    with terminal(tmp_path, environment={"NO_COLOR": "1"}) as shown:
        shown.wait("New design")
        shown.send("Enter", "1")
        screen = shown.wait("● pretraining", "no conflict")
        assert "▲" in screen
        painted = [code for code in SEQUENCE.findall(shown.coloured()) if _is_colour(code)]
        assert not painted, painted[:5]


def _is_colour(code: str) -> bool:
    """Return whether a sequence sets a colour that is no grey: NO_COLOR leaves shades of grey."""
    parts = [int(part) for part in re.findall(r"\d+", code)]
    for place, part in enumerate(parts):
        if part in (38, 48) and parts[place + 1 : place + 2] == [2]:
            red, green, blue = parts[place + 2 : place + 5]
            if not red == green == blue:
                return True
        if part in (38, 48) and parts[place + 1 : place + 2] == [5]:
            number = parts[place + 2]
            cube = [(number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6]
            if 1 <= number <= 6 or 9 <= number <= 14 or (16 <= number < 232 and len(set(cube)) > 1):
                return True
    return False


def test_256_colours_are_enough(tmp_path):
    with terminal(tmp_path, environment={"TEXTUAL_COLOR_SYSTEM": "256", "TERM": "screen-256color"}) as shown:
        shown.wait("New design")
        shown.send("Enter")
        shown.wait("step 1 of 5", "no conflict")
        assert not re.search(r"[34]8;2;", shown.coloured())


def test_a_key_costs_little_on_a_slow_line(tmp_path):
    program = PseudoTerminal(tmp_path)
    try:
        program.read_until(b"New design")
        program.send(b"\r")
        program.read(4)
        program.send(b"\x1b[6~\x1b[6~\x1b[6~")
        program.read(1.5)
        costs = []
        for letter in b"Massachusetts":
            program.send(bytes([letter]))
            costs.append(len(program.read(0.4)))
        program.send(b"\x1bOS")  # F4, a page that is quite another
        page = len(program.read(4))
        costs.sort()
        assert costs[len(costs) // 2] <= MOST_BYTES_PER_KEY, costs
        assert costs[-1] > 0  # a loaded machine may echo two letters at once
        assert 2000 < page <= MOST_BYTES_PER_PAGE
    finally:
        program.close()
