"""The signs that carry a state, so that no state is shown by colour alone; in ASCII where the terminal needs it."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

_SIGNS = {
    "done": ("✓", "ok"),
    "here": ("●", "*"),
    "open": ("○", "-"),
    "wrong": ("✗", "X"),
    "on": ("●", "(*)"),
    "off": ("○", "( )"),
    "assumed": ("~", "~"),
    "ticked": ("[x]", "[x]"),
    "unticked": ("[ ]", "[ ]"),
    "holds": ("✓", "ok"),
    "conflict": ("✗", "X"),
    "warning": ("▲", "!"),
    "question": ("?", "?"),
    "estimated": ("≈", "~"),
    "pointer": ("›", ">"),
    "separator": ("·", "-"),
    "times": ("×", "x"),
    "at_least": ("≥", ">="),
    "bar": ("█", "#"),
    "bar_2": ("▓", "="),
    "bar_3": ("▒", "+"),
    "bar_4": ("░", ":"),
    "free": ("·", "."),
    "line": ("│", "|"),
    "changed": ("»", ">"),
}


@lru_cache(maxsize=1)
def ascii_only() -> bool:
    """Return whether only ASCII may be printed: CLUSTER_WIZARD_ASCII is set, or the terminal's encoding is not UTF-8."""
    asked = os.environ.get("CLUSTER_WIZARD_ASCII", "")
    if asked:
        return asked not in ("0", "no", "false")
    return "utf" not in (getattr(sys.__stdout__, "encoding", None) or "utf-8").lower()


def sign(name: str) -> str:
    """Return the sign called `name`."""
    return _SIGNS[name][1 if ascii_only() else 0]
