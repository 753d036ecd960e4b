"""The dialogue of plain mode: one question at a time, and commands at any time. Reads lines, writes lines, decides nothing itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rules.answers import AnswerError, shortened
from wizard.changes import figures_changed, reasons
from wizard.files import FileError
from wizard.interview import load_interview
from wizard.names import Names
from wizard.plain import commands, told
from wizard.preferences import typed
from wizard.shown import value_text
from wizard.site_log import answered_by_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wizard.advice import Adviser
    from wizard.interview import Question
    from wizard.session import Session
    from wizard.work import Work

GREETING = (
    "cluster-wizard designs a GPU training cluster and says why. One question at a time.",
    "Answer, or press Enter to go on. Commands at any time: help, back, why, unknown, design, save FILE, quit.",
)
LEFT_TO_DO = (
    "Commands: reasons, warnings, assumptions, questions, how NAME, why-not WHAT, fix, look, save FILE, go KEY, quit; help lists all."
)
"""What can be done once all questions were asked."""


_TWO_WORDS = re.compile(r"^(what(?= if\b)|why(?= not\b)) ", re.IGNORECASE)
"""Commands of two words, which may be typed with a space between."""


class Dialogue:
    """One conversation. `say` writes lines; `lines` are what the person types. `over` ends it."""

    def __init__(self, adviser: Adviser, work: Work, *, first_only: bool = False) -> None:
        self.adviser, self.work, self.first_only = adviser, work, first_only
        self.names = Names(adviser)
        self.out: list[str] = []
        self.key = ""
        self.over = self.finished = False
        self.warned = False

    # --- what there is to ask

    def questions(self) -> list[Question]:
        """Return the questions that are asked beside the answers, in order."""
        interview = load_interview()
        steps = [step.id for step in interview.steps]
        return [each for step in steps for each in interview.of_step(step, self.work.answers, first_only=self.first_only)]

    @property
    def question(self) -> Question | None:
        """Return the question that is asked now, None where all were."""
        return next((each for each in self.questions() if each.key == self.key), None)

    def begin(self) -> list[str]:
        """Return the greeting and the first question."""
        self.say(*GREETING)
        self.advise()
        self.key = self.questions()[0].key
        self.ask()
        return self.taken()

    def ask(self) -> None:
        """Ask the current question, or say that there is none left."""
        question = self.question
        if question is None:
            self.finish()
            return
        here = [each for each in self.questions() if each.step == question.step]
        if here[0] is question:
            self.announce(question.step)
        self.say(*told.question_lines(question, self.work, here.index(question) + 1, len(here)))

    def announce(self, step: str) -> None:
        """Say that a step begins, and what is open in it."""
        found = next(each for each in load_interview().steps if each.id == step)
        self.say("", f"Step: {found.title}. {found.intro}")

    def finish(self) -> None:
        """Say what came out."""
        self.key, self.finished = "", True
        self.say("", "All questions were asked. This is the design.")
        if self.work.design is not None:
            self.say(*told.design_lines(self.work.design))
        self.say(LEFT_TO_DO)

    # --- what was typed

    def take(self, line: str) -> list[str]:
        """Take one line that was typed and return what is said to it."""
        text = line.strip()
        word, _, rest = _TWO_WORDS.sub(r"\1-", text).partition(" ")
        command = commands.COMMANDS.get(word.lower())
        if text.startswith("="):
            self.answer(text[1:].strip())
        elif command is not None and (command.takes or not rest.strip()):
            command.run(self, rest.strip())
        elif not text and self.finished and self.question is None:
            self.say(LEFT_TO_DO)
        elif not text:
            self.go(1)
        elif self.question is None:
            self.say(f"There is no question now, and no command {shortened(word)!r}; help lists the commands.")
        else:
            self.answer(text)
        self.warned = self.warned and word.lower() == "quit"
        return self.taken()

    def answer(self, text: str) -> None:
        """Answer the current question and go on; what is no valid answer is said to be so, and asked again."""
        question = self.question
        if question is None:
            self.say("There is no question now; go KEY goes to one.")
            return
        try:
            measured = answered_by_log(self.work.session, question.key, text)
        except FileError as error:
            self.say(f"Not taken: {error}.")
            return
        if measured is not None:
            self._take(measured, question)
            return
        meant = typed(question.key, told.choice_of(question, text))
        problem = self.names.problem(question.key, meant)
        if problem:
            matches = self.names.matches(question.key, meant, self.work.answers)
            if len(matches) == 1:
                meant = matches[0].id
            else:
                near = matches or self.names.nearest(question.key, meant)
                self.say(f"Not taken: {problem}.", *(f"  {each.id}: {each.note}" for each in near[:6]))
                return
        try:
            session = self.work.session.answer(question.key, meant)
        except AnswerError as error:
            self.say(f"Not taken: {told.labelled(question, error.message)}.")
            return
        self._take(session, question)

    def _take(self, session: Session, question: Question) -> None:
        """Take over an answer, say what it changed, and go on."""
        self.change(session)
        self.say(f"Noted: {question.label.strip()} is {value_text(question.key, self.work.answers.values.get(question.key))}.")
        self.tell_change()
        self.go(1)

    def change(self, session: Session) -> None:
        """Take over a session, design anew and keep the answers."""
        if self.work.change(session):
            self.advise()
            self.work.autosave()

    def advise(self) -> None:
        """Design from the answers as they are."""
        self.work.settle(self.adviser.advise(self.work.generation, self.work.answers))
        if self.work.error:
            self.say(f"No design: {self.work.error}")

    def tell_change(self) -> None:
        """Say what the last answer changed in the design, and why."""
        design = self.work.design
        if design is None or self.work.error:
            return
        changed = figures_changed(self.work.previous, design)
        if changed:
            self.say(
                f"  Design: {changed.replace('→', 'becomes')}.",
                *(f"  {lead.capitalize().removesuffix(':')}: {reason}" for lead, reason in reasons(self.work.previous, design)[:1]),
            )

    def go(self, step: int) -> None:
        """Go on or back by a question; one that is asked no longer still has its place."""
        order = [each.key for each in load_interview().questions]
        at = order.index(self.key) if self.key else len(order) if self.finished else -1
        places = [order.index(each.key) for each in self.questions()]
        beyond = [place for place in places if place > at] if step > 0 else [place for place in reversed(places) if place < at]
        if step < 0 and not beyond:
            self.say("This is the first question.")
        elif step > 0:
            self.key = order[beyond[0]] if beyond else ""
        else:
            self.key = order[beyond[0]]
        self.ask()

    def go_to(self, key: str) -> None:
        """Go to a question."""
        self.key = key
        self.ask()

    # --- what is said

    def say(self, *lines: str) -> None:
        """Say lines."""
        self.out += lines

    def taken(self) -> list[str]:
        """Return what was said since the last time."""
        said, self.out = self.out, []
        return said


def converse(dialogue: Dialogue, lines: Iterator[str]) -> Iterable[list[str]]:
    """Yield what is said, turn by turn, until the person leaves or there are no more lines."""
    yield dialogue.begin()
    while not dialogue.over:
        line = next(lines, None)
        if line is None:
            return
        yield dialogue.take(line)
