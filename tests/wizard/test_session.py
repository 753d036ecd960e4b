"""The session against a plain dict: any sequence of answers, back, undo and what-if leaves what a dict would hold."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rules.answers import AnswerError, Answers
from wizard.files import answers_text, interpret, parse_toml
from wizard.session import MOST_UNDO, Session, check_text

TYPED = {
    "scale.nodes": {"8": 8, "16 nodes": 16},
    "scale.deadline": {"54 days": "54 days", "54": "54 days"},
    "model.preset": {"llama-3.1-70b": "llama-3.1-70b", " gpt2 ": "gpt2"},
    "budget.objective": {"fastest": "fastest", "Best per kW": "best_per_kw"},
    "facility.cooling": {"air, liquid": ("air", "liquid"), "air": ("air",)},
    "model.parameters": {" 70B ": "70B", "8e9": "8e9"},
}
"""What a person types, and what it is stored as."""
WRONG = {
    "scale.nodes": "0",
    "scale.deadline": "54 kW",
    "budget.objective": "nicest",
    "facility.cooling": "wind",
    "model.parameters": "many",
}
KEYS = st.sampled_from(sorted(TYPED))


class SessionMachine(RuleBasedStateMachine):
    """The model: a dict, two stacks of dicts, and a dict on the side for the what-if."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session()
        self.values: dict[str, object] = {}
        self.past: list[dict[str, object]] = []
        self.future: list[dict[str, object]] = []
        self.base: dict[str, object] | None = None
        self.saved: dict[str, object] | None = None
        self.typed: dict[str, str] = {}

    def change(self, values: dict[str, object]) -> None:
        if values != self.values:
            self.past.append(self.values)
            self.future.clear()
            self.values = values

    @rule(key=KEYS, data=st.data())
    def answer(self, key, data):
        text, stored = data.draw(st.sampled_from(sorted(TYPED[key].items(), key=str)))
        self.session = self.session.answer(key, text)
        self.typed.pop(key, None)
        self.change({**self.values, key: stored})

    @rule(key=KEYS)
    def unknown(self, key):
        self.session = self.session.unknown(key)
        self.typed.pop(key, None)
        self.change({**self.values, key: "unknown"})

    @rule(key=KEYS)
    def clear(self, key):
        self.session = self.session.clear(key)
        self.typed.pop(key, None)
        self.change({name: value for name, value in self.values.items() if name != key})

    @rule(key=st.sampled_from(sorted(WRONG)))
    def type_something_wrong(self, key):
        with pytest.raises(AnswerError):
            self.session.answer(key, WRONG[key])
        assert check_text(key, WRONG[key])
        self.session = self.session.draft(key, WRONG[key])
        self.typed[key] = WRONG[key]

    @rule()
    def undo(self):
        self.session = self.session.undo()
        if self.past:
            self.future.append(self.values)
            self.values = self.past.pop()

    @rule()
    def redo(self):
        self.session = self.session.redo()
        if self.future:
            self.past.append(self.values)
            self.values = self.future.pop()

    @rule()
    def what_if(self):
        self.session = self.session.what_if()
        if self.base is None:
            self.base = self.values

    @rule()
    def keep(self):
        self.session = self.session.keep()
        self.base = None

    @rule()
    def drop(self):
        self.session = self.session.drop()
        if self.base is not None:
            self.change(self.base)
            self.base = None

    @rule()
    def save(self):
        self.session = self.session.mark_saved()
        self.saved = self.values

    @rule()
    def save_and_open_again(self):
        text = answers_text(self.session.answers)
        opened = interpret(parse_toml(text.encode(), "a.toml"), "a.toml").answers
        assert opened == self.session.answers
        self.session = Session(opened).mark_saved()
        self.past, self.future, self.base, self.saved, self.typed = [], [], None, self.values, {}

    @invariant()
    def holds_what_the_dict_holds(self):
        assert dict(self.session.answers.values) == self.values
        assert set(self.session.answers.provenance) == set(self.values)
        assert [dict(each.values) for each in self.session.past] == self.past
        assert [dict(each.values) for each in self.session.future] == self.future[::-1]
        assert (self.session.base is None) == (self.base is None)
        assert self.session.is_saved == (self.saved is not None and self.saved == self.values)
        assert {key: self.session.draft_of(key) for key in TYPED if self.session.draft_of(key) is not None} == self.typed


TestSession = SessionMachine.TestCase
TestSession.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_session_is_never_changed_in_place():
    before = Session().answer("scale.nodes", "8")
    before.answer("scale.nodes", "16").undo().clear("scale.nodes").what_if().draft("scale.nodes", "x")
    assert before == Session().answer("scale.nodes", "8")


def test_undo_goes_back_so_far_and_no_further():
    session = Session()
    for number in range(1, MOST_UNDO + 51):
        session = session.answer("scale.nodes", number)
    for _ in range(MOST_UNDO + 50):
        session = session.undo()
    assert session.answers.values == {"scale.nodes": 50}


def test_saying_the_same_again_is_no_change_to_undo():
    session = Session().answer("scale.nodes", "8")
    assert session.answer("scale.nodes", "8 nodes") == session


def test_dropping_a_what_if_without_changes_is_no_change_to_undo():
    session = Session().answer("scale.nodes", "8")
    assert session.what_if().drop() == session


def test_a_dropped_what_if_can_be_undone():
    session = Session().answer("scale.nodes", "8").what_if().answer("scale.nodes", "16").drop()
    assert session.answers.count("scale.nodes") == 8
    assert session.undo().answers.count("scale.nodes") == 16


def test_an_open_session_counts_as_unsaved_until_it_is_saved():
    assert not Session(Answers()).is_saved
    assert Session(Answers()).mark_saved().is_saved
    assert not Session().mark_saved().answer("scale.nodes", 8).is_saved
    assert Session().mark_saved().answer("scale.nodes", 8).undo().is_saved


@pytest.mark.parametrize(("key", "text"), [("scale.nodes", ""), ("scale.nodes", "  "), ("scale.nodes", "8"), ("scale.nodes", "?")])
def test_text_that_is_empty_or_right_has_no_message(key, text):
    assert check_text(key, text) is None


def test_whoever_lets_something_else_decide_the_size_has_taken_the_size_back():
    for size in ("scale.nodes", "scale.gpus"):
        fixed = Session().answer("scale.mode", "fixed").answer(size, "12")
        assert fixed.answer("scale.mode", "deadline").answers.values == {"scale.mode": "deadline"}
        assert fixed.answer("scale.mode", "deadline").undo().answers == fixed.answers
        assert fixed.clear("scale.mode").answer("scale.mode", "fixed").answers == fixed.answers
        assert fixed.unknown("scale.mode").answers.count(size) == 12
