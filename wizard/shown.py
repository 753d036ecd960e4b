"""Answers as text in fields and lists, and where each came from."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from rules.answers import UNKNOWN, AnswerError, Answers, field_of, parse_answer
from rules.counting import counted
from wizard.glyphs import sign
from wizard.preferences import in_units, shown_answer, typed, written

if TYPE_CHECKING:
    from rules.answers import Value
    from rules.design import Assumption, Design
    from wizard.interview import Interview
    from wizard.session import Session

_LARGE = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
MOST_DIGITS = 6
"""Digits of a number that is written with a letter: "1.41107T" is read at a glance, "115.30503M" is not."""
_CHOICES = {
    "pix": "PIX (one PCIe switch)",
    "pxb": "PXB (switches in a row)",
    "phb": "PHB (the processor's bridge)",
    "node": "NODE (within a processor)",
    "sys": "SYS (between processors)",
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
    "208v_single_phase": "208 V single-phase",
    "230v_single_phase": "230 V single-phase",
    "240v_single_phase": "240 V single-phase",
    "120v_single_phase": "120 V single-phase",
    "200v_single_phase": "200 V single-phase",
    "100v_single_phase": "100 V single-phase",
    "200v_three_phase": "200 V three-phase",
    "380v_three_phase": "380 V three-phase",
    "n": "N",
    "n_plus_1": "N+1",
    "2n": "2N",
    "hot_dry": "hot and dry",
    "hot_humid": "hot and humid",
    "208v_three_phase": "208 V three-phase",
    "400v_three_phase": "400 V three-phase",
    "415v_three_phase": "415 V three-phase",
    "480v_three_phase": "480 V three-phase",
}
_KEY = re.compile(r"\b[a-z_]+\.[a-z_]+\b")
_BARE = "0123456789.,'_ +-"
MOST_OPEN = 3
"""Open questions that are named; the page of assumptions has all."""
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
        return written(number_text(value))
    if field_of(key).kind == "count" and isinstance(value, int) and value >= 1_000_000 and value % 1_000 == 0:
        return written(number_text(float(value)))
    return shown_answer(key, str(value))


def number_text(value: float) -> str:
    """Return a number without an exponent where it can be: 7e10 is "70B", 1.3 stays "1.3", 115305030 is "115,305,030"."""
    for size, letter in _LARGE:
        short = f"{value / size:.{MOST_DIGITS}g}"
        if value >= size and float(short) * size == value:
            return f"{short}{letter}"
    if value != int(value) or value >= 1e15:
        return repr(value)
    return f"{value:,.0f}" if value >= _LARGE[-1][0] else f"{value:.0f}"


def value_text(key: str, value: Value | None) -> str:
    """Return a stored value as it stands in lists."""
    if value is None:
        return "not answered"
    if value == UNKNOWN:
        return "unknown"
    if field_of(key).choices:
        return ", ".join(choice_label(each) for each in (value if isinstance(value, tuple) else (str(value),)))
    return in_units(str(value)) if isinstance(value, str) and field_of(key).kind == "quantity" else field_text(key, value)


def same_answer(key: str, text: str, value: Value | None) -> bool:
    """Return whether typed text means the stored value, so that a field need not be written anew."""
    if not text.strip():
        return value is None
    try:
        meant = parse_answer(key, typed(key, text))
    except AnswerError:
        return False
    if meant == value or UNKNOWN in (meant, value) or field_of(key).kind not in NUMBER_KINDS:
        return meant == value
    if value is None:
        return False
    try:
        return Answers({key: meant}).number(key) == Answers({key: value}).number(key)
    except AnswerError:  # money in a currency whose rate stands in another answer
        return meant == value


def origin_of(answers: Answers, key: str, design: Design | None = None) -> tuple[str, str]:
    """Return where a value came from, for the column at the right, and its style; "" where there is none."""
    if answers.given(key):
        origin = answers.provenance.get(key, "you")
        return origin, "$text-success" if origin == "you" else "$text-accent"
    if answers.values.get(key) == UNKNOWN:
        return f"{sign('question')} unknown", "$text-warning"
    if not assumed_value(key, design):
        return "", ""
    return f"{sign('assumed')} {'assumed' if field_of(key).assumed is None else 'default'}", "$foreground-muted"


def read_in(key: str, text: str) -> str:
    """Return the unit in which a bare number was read, "" where the text names its own or needs none."""
    declared = field_of(key)
    bare = declared.kind == "quantity" and any(letter.isdigit() for letter in text) and not text.strip(_BARE)
    return "" if not bare else "°F" if typed(key, text).endswith("degF") else declared.shown_unit


def assumption_of(key: str, design: Design | None) -> Assumption | None:
    """Return what a design assumes in place of an answer, None where it assumes nothing or there is no design."""
    return next((each for each in design.assumptions if each.key == key and each.value), None) if design is not None else None


def assumed_value(key: str, design: Design | None = None) -> str:
    """Return what stands in for a missing answer as it would be stored: what the design says, else the field's own; "" for nothing."""
    found = assumption_of(key, design)
    if found is not None:
        return found.value
    assumed = field_of(key).assumed
    return "" if assumed is None else ", ".join(assumed) if isinstance(assumed, tuple) else str(assumed)


def assumed_text(key: str, design: Design | None = None) -> str:
    """Return what stands in for a missing answer as a person reads it, "" where nothing does."""
    value, declared = assumed_value(key, design), field_of(key)
    if declared.kind in ("number", "count"):
        with contextlib.suppress(ValueError):
            return number_text(float(value.replace(",", "")))
    return ", ".join(choice_label(each) for each in value.split(", ")) if declared.choices else value


def unknown_text(answers: Answers, key: str, design: Design | None = None) -> str:
    """Return what follows from "I don't know", "" where that was not the answer."""
    if answers.values.get(key) != UNKNOWN:
        return ""
    stands_in, found = assumed_text(key, design), assumption_of(key, design)
    because = found.because if found is not None else field_of(key).reason
    follows = f"{stands_in} is assumed: {because}" if stands_in else "left open; the design says what it does without it"
    return f"I don't know: {follows}"


def in_labels(text: str) -> str:
    """Return a message with the questions called as the interview calls them: "Buy for at most" for "budget.purchase"."""
    from wizard.interview import load_interview

    def label(found: re.Match[str]) -> str:
        question = load_interview().question(found[0])
        return question.label.strip() if question is not None else found[0]

    return _KEY.sub(label, text)


def unused_text(key: str, design: Design | None) -> str:
    """Return why an answer has no effect on the design, "" where it has one."""
    begins = f"not used: {key} = "
    notice = next((each for each in design.notices if each.startswith(begins)), "") if design is not None else ""
    return f"not used: {notice.removeprefix(begins).partition(': ')[2]}" if notice else ""


def answered(interview: Interview, session: Session, step: str, *, first_only: bool = False) -> str:
    """Return how many questions of a step are answered: "3 of 9 answered"; "I don't know" is an answer."""
    keys = [question.key for question in interview.of_step(step, session.answers, first_only=first_only)]
    return f"{sum(key in session.answers.values for key in keys)} of {len(keys)} answered"


def open_text(interview: Interview, session: Session, step: str, design: Design | None, *, first_only: bool = False) -> str:
    """Return what is still open in a step and what stands on that; "" before anything is answered, and where nothing is open.

    "Open: Optimizer, Dataset size; 2 of 14 assumptions stand on them."
    """
    asked = interview.of_step(step, session.answers, first_only=first_only)
    missing = [each for each in asked if not session.answers.given(each.key)]
    if design is None or not session.answers.values or not missing:
        return ""
    assumed = [each for each in missing if assumption_of(each.key, design) is not None]
    named = ", ".join(each.label.strip() for each in missing[:MOST_OPEN]) + (" …" if len(missing) > MOST_OPEN else "")
    everything = counted(len(design.assumptions), "assumption")
    resting = f"; {len(assumed)} of {everything} {'stands' if len(assumed) == 1 else 'stand'} on them" if assumed else ""
    return f"Open: {named}{resting}."


def text_of(session: Session, key: str) -> str:
    """Return what stands in the field of `key`: the draft where there is one, else the stored answer."""
    draft = session.draft_of(key)
    return draft if draft is not None else field_text(key, session.answers.values.get(key))
