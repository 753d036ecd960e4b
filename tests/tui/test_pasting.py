"""Pasted text with escape characters stays text, whole or in pieces; keys are handed on as they come."""

from __future__ import annotations

import pytest

from wizard.tui.pasting import END, START, CleanParser, PasteCleaner

COLOURED = f"{START}60 days\rrm\t\x1b[1;31mred\x1b[0m\x07\r\x1b]0;title\x07xx\x7f{END}q"
"""A coloured log with a title and a bell, as tmux pastes it, and a key after it."""


def told(messages):
    return [getattr(each, "key", None) or each.text for each in messages]


@pytest.mark.parametrize("size", [1000, 7, 3])
def test_what_is_pasted_presses_no_key(size):
    parser = CleanParser()
    pieces = [COLOURED[at : at + size] for at in range(0, len(COLOURED), size)]
    assert told(message for piece in pieces for message in parser.feed(piece)) == ["60 days\rrm\tred\rxx", "q"]


def test_two_pastes_and_keys_between_them_keep_their_order():
    assert told(CleanParser().feed(f"a{START}one\x1b{END}\x1b[B{START}two{END}")) == ["a", "one", "down", "two"]


@pytest.mark.parametrize("keys", ["\x1b", "\x1b[", "\x1b[A", "\x1b[2~", "\x1b[<0;3;4M", "é"])
def test_what_is_not_pasted_is_handed_on_at_once(keys):
    assert PasteCleaner().clean(keys) == keys
