"""Strategies for valid answers, drawn from the declared fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from rules.answer_fields import FIELDS
from rules.answers import Answers

if TYPE_CHECKING:
    from rules.answer_fields import AnswerField

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=20)
ORIGINS = st.sampled_from(["you", "preset", "imported"])


def raw_value(field: AnswerField) -> st.SearchStrategy[object]:
    """A value as a person or a file may give it."""
    low, high = field.minimum or 0.0, field.maximum if field.maximum is not None else 1e12
    if field.kind == "choice":
        return st.sampled_from([*field.choices, "unknown"])
    if field.kind == "name":
        return NAMES
    if field.kind == "names":
        one = st.sampled_from(field.choices) if field.choices else NAMES
        return st.lists(one, min_size=1, max_size=4)
    if field.kind == "count":
        return st.integers(int(low), int(high)) | st.just("unknown")
    numbers = st.floats(low, high, allow_nan=False, allow_subnormal=False)
    if "%" in field.units_ignored:
        return st.floats(1.0, high, allow_nan=False, exclude_min=True) | st.just(0) | numbers.map(lambda number: f"{number!r} %")
    if field.kind == "number":
        return numbers
    inside = st.floats(low + (high - low) * 1e-9, high * (1 - 1e-9), allow_nan=False)
    return numbers | inside.map(lambda number: f"{number!r} {field.unit}") | st.just("?")


@st.composite
def answers(draw: st.DrawFn) -> Answers:
    """Any subset of the answers, from anywhere."""
    chosen = draw(st.lists(st.sampled_from(FIELDS), unique_by=lambda field: field.key, max_size=12))
    made = Answers()
    for field in chosen:
        made = made.with_value(field.key, draw(raw_value(field)), draw(ORIGINS))
    return made
