"""Answers as text in fields and lists, and where each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.answers import UNKNOWN, AnswerError, Answers, field_of, parse_answer
from wizard.tui.glyphs import sign

if TYPE_CHECKING:
    from rules.answers import Value
    from wizard.session import Session

_LARGE = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
_CHOICES = {
    "fine_tuning_full": "full fine-tuning",
    "fine_tuning_lora": "LoRA",
    "fine_tuning_qlora": "QLoRA",
    "adamw": "AdamW",
    "adamw_bf16": "AdamW bf16",
    "adamw_8bit": "AdamW 8-bit",
    "sgd": "SGD",
    "deadline": "the deadline",
    "fixed": "a fixed size",
    "budget": "the budget",
    "best_per_kw": "best per kW",
    "pytorch": "PyTorch",
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "infiniband": "InfiniBand",
    "ethernet": "Ethernet",
    "pcie": "PCIe",
    "pcie_switch": "PCIe switch",
    "bridge": "NVLink bridge",
    "nvswitch": "NVSwitch",
    "208v_single_phase": "208 V 1-phase",
    "230v_single_phase": "230 V 1-phase",
    "120v_single_phase": "120 V 1-phase",
    "208v_three_phase": "208 V 3-phase",
    "400v_three_phase": "400 V 3-phase",
    "415v_three_phase": "415 V 3-phase",
    "480v_three_phase": "480 V 3-phase",
}
NUMBER_KINDS = ("quantity", "number", "count")


def choice_label(choice: str) -> str:
    """Return a choice as a person reads it."""
    return _CHOICES.get(choice, choice.replace("_", " "))


def field_text(key: str, value: Value | None) -> str:
    """Return a stored value as the text that stands in its field; typing that text gives the same value again."""
    if value is None:
        return ""
    if value == UNKNOWN:
        return "?"
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, float):
        return number_text(value)
    if field_of(key).kind == "count" and isinstance(value, int) and value >= 1_000_000 and value % 1_000 == 0:
        return number_text(float(value))
    return str(value)


def number_text(value: float) -> str:
    """Return a number without an exponent where it can be: 7e10 is "70B", 1.3 stays "1.3"."""
    for size, letter in _LARGE:
        if value >= size and float(f"{value / size:.12g}") * size == value:
            return f"{value / size:.12g}{letter}"
    return f"{value:.0f}" if value == int(value) and value < 1e15 else repr(value)


def value_text(key: str, value: Value | None) -> str:
    """Return a stored value as it stands in lists."""
    if value is None:
        return "not answered"
    if value == UNKNOWN:
        return "unknown"
    return choice_label(str(value)) if field_of(key).kind == "choice" else field_text(key, value)


def same_answer(key: str, text: str, value: Value | None) -> bool:
    """Return whether typed text means the stored value, so that a field need not be written anew."""
    if not text.strip():
        return value is None
    try:
        typed = parse_answer(key, text)
    except AnswerError:
        return False
    if typed == value or UNKNOWN in (typed, value) or field_of(key).kind not in NUMBER_KINDS:
        return typed == value
    return Answers({key: typed}).number(key) == Answers({key: value}).number(key) if value is not None else False


def origin_of(answers: Answers, key: str) -> tuple[str, str]:
    """Return where a value came from, for the column at the right, and its style; "" where there is none."""
    if answers.given(key):
        origin = answers.provenance.get(key, "you")
        return origin, "$text-success" if origin == "you" else "$text-accent"
    stands_in = field_of(key).assumed is not None
    if answers.values.get(key) == UNKNOWN:
        return (f"{sign('assumed')} assumed" if stands_in else "? unknown"), "$text-warning"
    return (f"{sign('assumed')} default" if stands_in else ""), "$foreground-muted"


def assumed_text(key: str) -> str:
    """Return what stands in for a missing answer, "" where nothing does."""
    declared = field_of(key)
    if declared.assumed is None:
        return ""
    if isinstance(declared.assumed, tuple):
        return ", ".join(declared.assumed)
    return choice_label(str(declared.assumed)) if declared.kind == "choice" else str(declared.assumed)


def unknown_text(answers: Answers, key: str) -> str:
    """Return what follows from "I don't know", "" where that was not the answer."""
    if answers.values.get(key) != UNKNOWN:
        return ""
    stands_in = assumed_text(key)
    return f"{stands_in} is assumed: {field_of(key).reason}" if stands_in else "left open; the design says what it does without it"


def text_of(session: Session, key: str) -> str:
    """Return what stands in the field of `key`: the draft where there is one, else the stored answer."""
    draft = session.draft_of(key)
    return draft if draft is not None else field_text(key, session.answers.values.get(key))
