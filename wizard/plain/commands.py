"""The commands of plain mode, as a table: name, what may follow, what it does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rules.answer_fields import FIELDS
from rules.answers import AnswerError
from wizard.changes import answers_changed, difference
from wizard.files import FileError
from wizard.interview import load_interview
from wizard.plain import told
from wizard.plain.asked import compare, look, report, stoppable, why_not
from wizard.preferences import typed
from wizard.teaching import LEAVE_EMPTY, lessons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rules.answers import Answers
    from rules.design import Design
    from wizard.plain.dialogue import Dialogue

WIDTH, MOST_REASONS = 100, 6


@dataclass(frozen=True)
class Command:
    """A command. `takes` names what may follow it, "" for nothing; a word with more behind it is an answer then, not a command."""

    text: str
    run: Callable[[Dialogue, str], None]
    takes: str = ""


def _help(dialogue: Dialogue, rest: str) -> None:
    del rest
    dialogue.say("An answer goes on to the next question; Enter alone keeps what stands. = before an answer that is also a command.")
    dialogue.say(*(f"  {name}{f' {command.takes}' if command.takes else ''}: {command.text}" for name, command in COMMANDS.items()))


def _back(dialogue: Dialogue, rest: str) -> None:
    del rest
    dialogue.go(-1)


def _next(dialogue: Dialogue, rest: str) -> None:
    del rest
    dialogue.go(1)


def _again(dialogue: Dialogue, rest: str) -> None:
    del rest
    dialogue.ask()


def _unknown(dialogue: Dialogue, rest: str) -> None:
    del rest
    if dialogue.question is None:
        dialogue.say("There is no question now.")
        return
    key = dialogue.question.key
    dialogue.change(dialogue.work.session.unknown(key))
    told_ = dict(lessons(dialogue.question, dialogue.work.design, warm=False))["If unknown"]
    dialogue.say(f"Noted: you do not know; {told_.removeprefix(LEAVE_EMPTY)}.")
    dialogue.go(1)


def _clear(dialogue: Dialogue, rest: str) -> None:
    key = rest or dialogue.key
    if not key:
        dialogue.say("Which answer? Write clear KEY.")
        return
    try:
        dialogue.change(dialogue.work.session.clear(key))
    except AnswerError as error:
        dialogue.say(f"Not cleared: {error}.")
        return
    dialogue.say(f"Cleared: {key} is not answered.")


def _why(dialogue: Dialogue, rest: str) -> None:
    question = load_interview().question(rest) if rest else dialogue.question
    if question is None:
        dialogue.say(
            f"There is no question {rest!r}; answers lists them with their names." if rest else "There is no question now; why KEY."
        )
        return
    dialogue.say(question.ask, *(f"  {label}: {text}" for label, text in lessons(question, dialogue.work.design)))


def _how(dialogue: Dialogue, rest: str) -> None:
    if not rest:
        dialogue.say("How what? Write a decision, a rule, a value or an answer: how power.total. reasons and numbers list them.")
        return
    lines = dialogue.adviser.explain(dialogue.work.answers, rest, WIDTH)
    dialogue.say(*(lines or [f"There is nothing called {rest!r} to explain; reasons and numbers list what there is."]))


def _what_if(dialogue: Dialogue, rest: str) -> None:
    key, equals, value = rest.partition("=")
    if not equals:
        dialogue.say("What if what? Write what-if KEY=VALUE, such as what-if scale.deadline=60 days.")
        return
    try:
        answers = dialogue.work.session.answer(key.strip(), typed(key.strip(), value.strip())).answers
    except AnswerError as error:
        dialogue.say(f"Not tried: {error}.")
        return
    _show_difference(dialogue, answers)
    dialogue.say("Nothing was changed. To keep it: set " + rest)


def _set(dialogue: Dialogue, rest: str) -> None:
    key, equals, value = rest.partition("=")
    if not equals:
        dialogue.say("Set what? Write set KEY=VALUE.")
        return
    try:
        dialogue.change(dialogue.work.session.answer(key.strip(), typed(key.strip(), value.strip())))
    except AnswerError as error:
        dialogue.say(f"Not taken: {error}.")
        return
    dialogue.say(f"Noted: {key.strip()} is {value.strip()}.")
    dialogue.tell_change()


def _show_difference(dialogue: Dialogue, answers: Answers) -> None:
    advice, before = dialogue.adviser.advise(-1, answers), dialogue.work.design
    if advice.design is None or before is None:
        dialogue.say(advice.error or "There is no design to compare with.")
    else:
        dialogue.say(*difference(before, advice.design, WIDTH, MOST_REASONS))


def _go(dialogue: Dialogue, rest: str) -> None:
    interview = load_interview()
    step = next((each for each in interview.steps if rest.lower() in (each.id, each.title.lower())), None)
    asked = dialogue.questions()
    wanted = [each for each in asked if each.key == rest or (step is not None and each.step == step.id)]
    if not wanted:
        steps = ", ".join(each.id for each in interview.steps)
        hidden = rest and interview.question(rest) is not None
        dialogue.say(
            f"{rest} is not asked beside these answers; set {rest}=VALUE answers it all the same."
            if hidden
            else f"Go where? Write go with a step ({steps}) or with the name of a question, which answers lists."
        )
        return
    dialogue.go_to(wanted[0].key)


def _more(dialogue: Dialogue, rest: str) -> None:
    del rest
    dialogue.first_only = not dialogue.first_only
    count = len(dialogue.questions())
    dialogue.say(f"{'Only the questions of a first design are' if dialogue.first_only else 'All questions are'} asked now: {count}.")
    if dialogue.question is None and not dialogue.finished:
        dialogue.go_to(dialogue.questions()[0].key)


def _lines(make: Callable[[Design], Iterable[str]], nothing: str) -> Callable[[Dialogue, str], None]:
    def run(dialogue: Dialogue, rest: str) -> None:
        del rest
        design = dialogue.work.design
        dialogue.say(*(list(make(design)) if design is not None else []) or [nothing])

    return run


def _answers(dialogue: Dialogue, rest: str) -> None:
    del rest
    dialogue.say(*told.answer_lines(dialogue.work, first_only=dialogue.first_only))


def _warnings(design: Design) -> list[str]:
    from rules.findings import Kind

    return [f"Warning: {each.because} (how {each.rule})" for each in design.of_kind(Kind.WARNING)]


@dataclass(frozen=True)
class _Offered:
    """What would help: an answer to change. `value` is None where the answer is taken away, "" where the person must choose."""

    key: str
    value: str | None
    text: str


def _changes(dialogue: Dialogue) -> list[_Offered]:
    """Return what would help, as it is numbered: the remedies of the conflicts, then the smallest change of each answer in conflict."""
    design = dialogue.work.design
    remedies = [_Offered(each.key, each.value, each.text) for found in (design.conflicts if design else ()) for each in found.remedies]
    answers = dialogue.work.answers
    found = stoppable(dialogue, lambda: dialogue.adviser.find_conflicts(answers)) if design is not None and not design.fits else None
    sets = found.sets if found is not None else ()
    return remedies + [_Offered(each.key, each.after or None, f"{each.key}: {each.text}") for one in sets for each in one.changes]


def _conflicts(dialogue: Dialogue, rest: str) -> None:
    del rest
    design = dialogue.work.design
    if design is None or design.fits:
        dialogue.say("There is no conflict.")
        return
    dialogue.say(*(f"Conflict: {each.because}" for each in design.conflicts))
    found = stoppable(dialogue, lambda: dialogue.adviser.find_conflicts(dialogue.work.answers))
    dialogue.say(*(f"{each.sentence}." for each in (found.sets if found is not None else ())))
    dialogue.say(*_numbered(_changes(dialogue)))


def _numbered(changes: list[_Offered]) -> list[str]:
    return [f"  Change {number}: {each.text}" for number, each in enumerate(changes, start=1)]


def _fix(dialogue: Dialogue, rest: str) -> None:
    if rest.lower() == "all":
        _fix_all(dialogue)
        return
    changes = _changes(dialogue)
    if not changes:
        dialogue.say("There is no conflict to fix; fix all looks for remedies of the warnings.")
        return
    if not rest.isdigit() or not 1 <= int(rest) <= len(changes):
        dialogue.say(*_numbered(changes), "Write fix and a number, or fix all.")
        return
    change = changes[int(rest) - 1]
    if change.value == "":
        dialogue.say(f"The value is yours to choose: {change.text}.")
        _go(dialogue, change.key)
        return
    if not any(each.key == change.key for each in FIELDS):
        dialogue.say(f"{change.key} is a policy of the site, no answer; whoever keeps it changes it in its file.")
        return
    session = dialogue.work.session
    session = session.clear(change.key) if change.value is None else session.answer(change.key, change.value)
    _show_difference(dialogue, session.answers)
    dialogue.change(session)
    dialogue.say(f"Changed: {change.text}. undo takes it back.")


def _fix_all(dialogue: Dialogue) -> None:
    """Apply the remedies of all conflicts, or of the warnings where there is none; one undo takes all back."""
    from wizard.mending import mended_lines

    design = dialogue.work.design
    mended = stoppable(dialogue, lambda: dialogue.adviser.mend(dialogue.work.answers, warnings=design is not None and design.fits))
    if mended is None or isinstance(mended, str):
        dialogue.say(f"Nothing was changed: {mended or 'there is no design'}.")
        return
    dialogue.say(*mended_lines(mended, WIDTH))
    if mended.applied:
        dialogue.change(dialogue.work.session.replaced(mended.after.answers))
        dialogue.say("All of this was changed; undo takes it back at once.")
    else:
        dialogue.say("Nothing was changed: no remedy helps without doing as much harm. conflicts names the smallest changes.")


def _certainty(dialogue: Dialogue, rest: str) -> None:
    del rest
    design, considered = dialogue.work.design, dialogue.work.considered
    found = stoppable(dialogue, lambda: dialogue.adviser.certainty(design, considered)) if design is not None else None
    if found is None or not (found.effects or found.doubts or found.totals):
        dialogue.say("Nothing that matters is assumed.")
        return
    dialogue.say(*(f"{each.text}." for each in found.totals))
    dialogue.say(*(f"{each.key}, {each.assumed} is assumed: {each.sentence}." for each in found.weighty))
    dialogue.say(*(f"This {each.kind} could change the choice: {each.text}." for each in found.doubts))


def _travel(dialogue: Dialogue, forward: bool) -> None:
    before = dialogue.work.answers
    session = dialogue.work.session.redo() if forward else dialogue.work.session.undo()
    if session.answers == before:
        dialogue.say(f"Nothing to {'redo' if forward else 'undo'}.")
        return
    dialogue.change(session)
    dialogue.say(f"{'Done again' if forward else 'Taken back'}: {answers_changed(before, session.answers).replace('→', 'becomes')}.")


def _undo(dialogue: Dialogue, rest: str) -> None:
    del rest
    _travel(dialogue, forward=False)


def _redo(dialogue: Dialogue, rest: str) -> None:
    del rest
    _travel(dialogue, forward=True)


def _save(dialogue: Dialogue, rest: str) -> None:
    work = dialogue.work
    path = Path(rest).expanduser() if rest else work.save_path
    if path is None:
        dialogue.say("Save where? Write save FILE.toml.")
        return
    if work.design is None:
        dialogue.say(f"Not saved: there is no design ({work.error}).")
        return
    path = path if path.suffix else path.with_suffix(".toml")
    try:
        meta = work.write(path.absolute(), work.design, dialogue.adviser.catalog)
    except FileError as error:
        dialogue.say(f"Not saved: {error}.")
        return
    work.wrote(path.absolute(), work.design, meta)
    dialogue.say(f"Saved {path}{', with conflicts' if work.design.conflicts else ''}.")


def _done(dialogue: Dialogue, rest: str) -> None:
    del rest
    dialogue.finish()


def _quit(dialogue: Dialogue, rest: str) -> None:
    del rest
    if not dialogue.work.saved and not dialogue.warned:
        dialogue.warned = True
        dialogue.say("Your answers are not saved. save FILE writes the design; quit again leaves, and they are kept for the next start.")
        return
    dialogue.over = True


COMMANDS: Mapping[str, Command] = {
    "help": Command("this list", _help),
    "next": Command("go on; what stands stays", _next),
    "skip": Command("the same as next", _next),
    "back": Command("the question before", _back),
    "again": Command("ask this question again", _again),
    "unknown": Command("you do not know; what is assumed then is said", _unknown),
    "?": Command("the same as unknown", _unknown),
    "clear": Command("take an answer away, this one or that of KEY", _clear, "[KEY]"),
    "why": Command("what the question means, why it is asked, where to find the answer, what rests on it", _why, "[KEY]"),
    "how": Command("how something was concluded, down to answers, formulas and sources", _how, "NAME"),
    "what-if": Command("the design with one answer changed beside the design as it is", _what_if, "KEY=VALUE"),
    "why-not": Command("what stood against a GPU, server, fabric, cooling or plan, and what would admit it", why_not, "WHAT"),
    "set": Command("answer any question", _set, "KEY=VALUE"),
    "go": Command("go to a step or a question", _go, "STEP or KEY"),
    "more": Command("ask all questions, or only those of a first design", _more),
    "answers": Command("all answers with their names", _answers),
    "design": Command("what follows from the answers so far", _lines(told.design_lines, "There is no design yet.")),
    "reasons": Command("every decision and why", _lines(told.reason_lines, "Nothing was decided yet.")),
    "warnings": Command("what to look at", _lines(_warnings, "There is no warning.")),
    "conflicts": Command("what cannot hold together, and the smallest changes", _conflicts),
    "fix": Command("apply a remedy, or those of all conflicts; shows before and after", _fix, "[NUMBER or all]"),
    "rejected": Command("candidates that will not do", _lines(told.rejected_lines, "No candidate was rejected.")),
    "compare": Command("candidates, filtered by words and limits such as days<60", compare, "[FILTER]"),
    "assumptions": Command("what is assumed", _lines(told.assumption_lines, "Nothing is assumed.")),
    "certainty": Command("how far the design may be off, and what could change the choice", _certainty),
    "questions": Command("questions for vendors", _lines(told.question_to_vendor_lines, "There is no question for vendors.")),
    "parts": Command("the bill of materials", _lines(told.part_lines, "There is nothing to buy yet.")),
    "numbers": Command("every value of the design by its name", _lines(told.number_lines, "Nothing was sized yet.")),
    "look": Command("a picture in plain characters", look, "[PICTURE]"),
    "undo": Command("take the last change back", _undo),
    "redo": Command("do it again", _redo),
    "save": Command("write the design to a file", _save, "[FILE]"),
    "report": Command("write what a buyer reads, as .md or .html", report, "FILE"),
    "done": Command("skip the rest and show the design", _done),
    "quit": Command("leave", _quit),
}  # fmt: skip
"""Every command in the order of the list; each name is also what is typed."""
