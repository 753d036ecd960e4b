"""The real program in tmux: cold start, fast typing, kill and resume."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.tty.terminal import Terminal

pytestmark = [pytest.mark.tty, pytest.mark.xdist_group("tty")]


@contextmanager
def terminal(home, *arguments, **options):
    """Run the wizard in a terminal of its own."""
    shown = Terminal(home, *arguments, **options)
    try:
        yield shown
    finally:
        shown.close()


def test_cold_start_paints_then_designs_and_quits(tmp_path):
    with terminal(tmp_path) as shown:
        shown.wait("New design", "Start from a situation", "^q quit")
        shown.send("Enter")
        shown.wait("step 1 of 5", "What kind of work", "GPU", "? ")
        text = shown.wait("assumptions")
        assert all(len(line) <= 80 for line in text.splitlines())
        assert "Traceback" not in text


def test_a_burst_of_keys_lands_in_the_fields_it_was_meant_for(tmp_path):
    with terminal(tmp_path, size=(100, 66)) as shown:
        shown.wait("New design")
        scale = ["NPage", "NPage", "2", "Tab", "1", "2", "Tab", "3", "M", "Tab", "Tab", "3", "Tab", "5"]
        shown.send("Enter", *scale, "NPage", "T", "e", "x", "a", "s", "F7")
        answers = _reviewed(shown.wait("Check your answers", "Country or region", "Texas"))
        assert answers["Size is decided by"] == "a fixed size"
        assert answers["Nodes"] == "12"
        assert answers["Buy for at most"].startswith("3M")
        assert answers["Prefer"] == "best per kW"
        assert answers["Run for"].startswith("5")
        assert answers["Country or region"] == "Texas"


def test_a_burst_points_and_chooses_on_every_screen_that_it_opens(tmp_path):
    with terminal(tmp_path) as shown:
        shown.wait("Fine-tune a 70B model")
        shown.send("Down", "Down", "Down", "Enter")
        shown.wait("step 1 of 5", "● LoRA")
        shown.send("F7", "Down", "Enter")
        shown.wait("step 1 of 5", "› Model")
        shown.send("F4", "i", "r", "a", "c", "k", "s", "Space", "f", "r", "e", "e", "Down", "Enter", "4", "0")
        shown.wait("What if", "facility.racks=40")
        shown.send("Escape", "Escape", "Tab", "7", "B")
        shown.wait("step 1 of 5", "7B")


def test_a_killed_wizard_resumes_with_its_answers(tmp_path):
    with terminal(tmp_path) as shown:
        shown.wait("New design")
        shown.send("Enter", "1", "NPage", "NPage", "Tab", "5", "4", "Space", "d", "a", "y", "s", "Tab", "3", "M")
        shown.wait("54 days", "3M")
        shown.kill_program()  # at once: only the answer that is being typed may be lost
    with terminal(tmp_path) as shown:
        shown.wait("Resume unfinished work")
        shown.send("Enter")
        shown.wait("step 3 of 5", "Finish within", "54 days")
        shown.send("PPage", "PPage")
        shown.wait("step 1 of 5", "● pretraining")


def _reviewed(text: str) -> dict[str, str]:
    """Return the answers that the review shows, by label."""
    rows = {}
    for line in text.splitlines():
        label, value = line[1:25].strip(), line[25:59].strip()
        if label and value:
            rows[label] = value
    return rows
