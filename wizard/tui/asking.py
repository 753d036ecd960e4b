"""What a person asks about the design: how something was concluded, why not otherwise, what if, and what would help."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from textual.content import Content

from rules.answer_fields import FIELDS
from rules.answers import AnswerError, field_of, shortened
from wizard.changes import difference
from wizard.files import FileError, load
from wizard.interview import load_interview, with_labels
from wizard.preferences import typed
from wizard.tui.help import behind_text
from wizard.tui.screens.dialogs import FileDialog, TextDialog
from wizard.tui.screens.prompts import ProgressDialog, PromptDialog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rules.answers import Answers
    from rules.design import Design
    from rules.findings import Remedy
    from rules.smallest import SmallestChange
    from rules.whynot.whynot import WhyNot
    from wizard.tui.app import WizardApp
    from wizard.tui.row import Row
    from wizard.work import Work

WAITING = "being derived …"
MOST_WHY_NOT = 60
"""Designs that answer a "why not" at most: those of its smallest changes, and the one that is forced."""
MOST_MATCHES = 8


class Asker:
    """Answers questions in dialogs; whatever takes time is worked out off the screen's thread."""

    def __init__(self, app: WizardApp) -> None:
        self._app = app

    def jump(self) -> None:
        """Show letters to jump by."""
        from wizard.tui.jumping import jump

        jump(self._app)

    def ask_about(self) -> None:
        """Offer why, how, why not and what if about what is pointed at."""
        from wizard.tui.four_questions import ask_about

        ask_about(self._app)

    # --- how

    def show_behind(self, row: Row) -> None:
        """Show what stands behind a line of the design; remedies can be applied."""
        app = self._app
        choices = [(f"fix:{number}", f"Change: {remedy.text}") for number, remedy in enumerate(row.remedies)]
        explained = bool(row.subject) and app.adviser.can_explain and app.work.design is not None
        waiting = Content("\n").join([*row.behind, Content(""), Content(f"How it was concluded: {WAITING}")])
        dialog = TextDialog(row.title, waiting if explained else behind_text(row, app.adviser.catalog), choices)

        async def chosen(choice: str | None) -> None:
            if choice:
                await self.try_remedy(row.remedies[int(choice.partition(":")[2])])

        app.push_screen(dialog, chosen)
        if explained and app.work.design is not None:
            self._off_screen(partial(self._explain, dialog, row, app.work.design.answers))

    def _off_screen(self, work: Callable[[], None]) -> None:
        self._app.run_worker(work, thread=True, group="explain", exclusive=True, exit_on_error=False)

    def _explain(self, dialog: TextDialog, row: Row, answers: Answers) -> None:
        """Derive how a line was concluded, down to answers, formulas and sources, and show it in the dialog; else the rule alone."""
        lines = self._app.adviser.explain(answers, row.subject, dialog.text_width)
        if lines:
            text = Content("\n").join([*row.behind, Content(""), Content.styled("How it was concluded", "bold"), *map(Content, lines)])
        else:
            text = behind_text(row, self._app.adviser.catalog)
        self._app.call_from_thread(dialog.show_text, text)

    # --- what to change

    async def try_remedy(self, remedy: Remedy) -> None:
        """Show what a remedy would change, before and after, and apply it if the person wants it.

        Where the person must choose the value themselves, show the question.
        """
        if remedy.value:
            self.try_change(remedy.key, remedy.value, remedy.text)
        else:
            await self._app.go_to_question(remedy.key)

    def policy_held(self, key: str) -> None:
        """Say that a policy of the site is no answer: an exception is made where the policy is kept."""
        name = key.partition(".")[2]
        self._app.notify(f"{name} is a policy of the site, no answer; whoever keeps it changes it in its file.", timeout=8)

    def try_change(self, key: str, value: str | None, text: str) -> None:
        """Show the design with one answer changed beside the design as it is; the person keeps it or drops it."""
        app = self._app
        if not any(each.key == key for each in FIELDS):
            self.policy_held(key)
            return
        try:
            session = app.work.session.answer(key, value) if value is not None else app.work.session.clear(key)
        except AnswerError as error:
            app.notify(str(error), severity="error")
            return
        dialog = TextDialog(f"Before and after: {text}", Content(WAITING), [("keep", "Keep it"), ("drop", "Leave all as it is")])

        async def chosen(choice: str | None) -> None:
            if choice == "keep":
                app.change(session)
                app.notify(f"Changed: {text}; undo takes it back.", timeout=4)

        app.push_screen(dialog, chosen)
        self._off_screen(partial(self._compare, dialog, session.answers))

    def _compare(self, dialog: TextDialog, answers: Answers) -> None:
        """Design with other answers, and show in the dialog what differs from the design in hand."""
        advice, before = self._app.adviser.advise(-1, answers), self._app.work.design
        if advice.design is None or before is None:
            lines = [advice.error or "there is no design to compare with"]
        else:
            lines = difference(before, advice.design, dialog.text_width)
        self._app.call_from_thread(dialog.show_text, Content("\n".join(lines)))

    def ask_what_if(self, key: str = "") -> None:
        """Ask for an answer to change, and show what it would change."""

        def chosen(text: str | None) -> None:
            name, equals, value = map(str.strip, (text or "").partition("="))
            if not equals:
                if name:
                    self._app.notify(f"{shortened(name)!r}: write an answer's name, = and its value; {hint}", severity="warning")
                return
            question = load_interview().question(name)
            label = question.label.strip() if question is not None else name
            try:
                field_of(name)
                self.try_change(name, typed(name, value) if value else None, f"{label} {value or 'not answered'}")
            except AnswerError as error:
                self._app.notify(str(error), severity="error")

        hint = "type a word, pick, write the value: scale.deadline=60 days"
        self._app.push_screen(PromptDialog("What if …", hint, f"{key}=" if key else "", _questions_like), chosen)

    # --- why not

    def ask_why_not(self, start: str = "") -> None:
        """Ask for a GPU, server, fabric, kind of cooling, plan or answer, and say what stood against it."""

        def chosen(text: str | None) -> None:
            if text:
                self._find_why_not(text)

        hint = "a GPU, a server, infiniband, liquid, TP8 PP2, fp8, object storage, renting, KEY=VALUE …"
        self._app.push_screen(PromptDialog("Why not …", hint, start, self._products_like), chosen)

    def _products_like(self, text: str) -> list[str]:
        names, answers = self._app.names, self._app.work.answers
        if not text.strip():
            return []
        found = [each.id for key in ("preferences.gpus", "preferences.nodes") for each in names.matches(key, text, answers)]
        return [] if text in found else found[:MOST_MATCHES]

    def _find_why_not(self, what: str) -> None:
        app = self._app
        considered = app.work.considered
        if considered is None:
            app.notify("There is no design yet.", severity="warning")
            return
        dialog = ProgressDialog(f"Why not {what}", lambda watch: app.adviser.why_not(considered, what, watch), MOST_WHY_NOT)
        app.push_screen(dialog, self._show_why_not)

    def _show_why_not(self, found: Any) -> None:
        if found is None:
            return
        if isinstance(found, str):
            self._app.notify(found, severity="warning", timeout=8)
            return
        lines, changes = why_not_lines(found), (*found.changes, *found.together)
        choices = [(str(number), _change_line(each)) for number, each in enumerate(changes)]

        def chosen(choice: str | None) -> None:
            if choice is not None:
                each = changes[int(choice)]
                self.try_change(each.key, each.after or None, each.text)

        self._app.push_screen(TextDialog(f"Why not {found.what}", Content("\n").join(lines), choices), chosen)

    # --- a what-if of several answers

    def toggle_what_if(self) -> None:
        """Open a what-if, in which answers are changed on the side; where one is open, compare it with the base and keep or drop it."""
        app, work = self._app, self._app.work
        if work.session.base is None:
            if work.design is None or not work.current:
                app.notify("The design is still being worked out; try again in a moment.", timeout=3)
                return
            work.base_design = work.design
            app.change(work.session.what_if())
            app.notify("What-if: change what you like. The same key compares, and keeps or drops it.", timeout=6)
            return
        choices = [("keep", "Keep what is different"), ("drop", "Drop it, back to the base"), ("on", "Go on trying")]
        dialog = TextDialog("What-if: base and variant", Content(WAITING), choices)
        app.push_screen(dialog, self._end_what_if)
        self._off_screen(partial(self._variant, dialog, work))

    def _variant(self, dialog: TextDialog, work: Work) -> None:
        """Show what the variant changes; a base or a variant that is not designed yet is designed first."""
        session, advise = work.session, self._app.adviser.advise
        if session.base is None:
            return
        if work.base_design is None:
            work.base_design = advise(-1, session.base).design
        base, design = work.base_design, work.design if work.current else advise(-1, session.answers).design
        lines = difference(base, design, dialog.text_width) if base is not None and design is not None else ["There is no design."]
        self._app.call_from_thread(dialog.show_text, Content("\n".join(lines)))

    async def _end_what_if(self, choice: str | None) -> None:
        work = self._app.work
        if choice in ("keep", "drop"):
            self._app.change(work.session.keep() if choice == "keep" else work.session.drop())
            work.base_design = None
            await self._app.resync()

    def compare_file(self) -> None:
        """Ask for a file and show its design beside the one in hand; answers are designed first."""
        app, design = self._app, self._app.work.design
        if design is None:
            app.notify("There is no design yet.", severity="warning")
            return

        def chosen(path: Path | None) -> None:
            if path is None:
                return
            dialog = TextDialog(f"{path.name} beside this design", Content(WAITING))
            app.push_screen(dialog)
            self._off_screen(partial(self._beside, dialog, path, design))

        app.push_screen(FileDialog("Compare with", "", must_exist=True), chosen)

    def _beside(self, dialog: TextDialog, path: Path, design: Design) -> None:
        from rules.comparison.compare import compare_designs
        from rules.comparison.text import comparison_lines

        try:
            loaded = load(path)
        except FileError as error:
            self._app.call_from_thread(dialog.show_text, Content(str(error)))
            return
        document: Any = loaded.document
        if document is None:
            made = self._app.adviser.advise(-1, loaded.answers).design
            document = made.document() if made is not None else {}
        lines = comparison_lines(compare_designs(document, design.document()), (path.stem[:18], "this"), dialog.text_width)
        self._app.call_from_thread(dialog.show_text, Content("\n".join(lines)))

    # --- certainty

    def find_effects(self) -> None:
        """Look for what each open answer costs in certainty and which prices and rates could change the choice, and show it."""
        from rules.uncertainty import MOST_BEYOND
        from wizard.certainty import most_designs
        from wizard.tui.screens.certainty import CertaintyScreen

        app, design = self._app, self._app.work.design
        considered = app.work.considered if app.work.current else None
        most = most_designs(design, app.adviser.published_ends) if design is not None else 0
        if design is None or not (most or considered):
            app.notify("Nothing that matters is assumed." if design is not None else "There is no design yet.", timeout=3)
            return

        def found(certainty: Any) -> None:
            if certainty is not None:
                app.push_screen(CertaintyScreen(certainty))

        run = partial(app.adviser.certainty, design, considered)
        app.push_screen(ProgressDialog("How certain the design is", lambda watch: run(watch), most + MOST_BEYOND), found)

    # --- conflicts

    def find_conflicts(self) -> None:
        """Look for the smallest sets of answers that cannot hold together, with progress, and show them."""
        from rules.conflicts import MOST_CHANGES, MOST_DESIGNS
        from wizard.tui.screens.conflicts import ConflictScreen

        app, answers = self._app, self._app.work.answers
        design = app.work.design
        if design is None or not app.work.current:
            app.notify("The design is still being worked out; try again in a moment.", timeout=3)
            return
        if design.fits:
            app.notify("There is no conflict.", timeout=3)
            return
        run = partial(app.adviser.find_conflicts, answers)
        dialog = ProgressDialog("Which answers cannot hold together", lambda watch: run(watch=watch), MOST_DESIGNS + MOST_CHANGES)

        def found(conflicts: Any) -> None:
            if conflicts is not None:
                app.push_screen(ConflictScreen(conflicts, answers))

        app.push_screen(dialog, found)


def why_not_lines(found: WhyNot) -> list[Content]:
    """Return a "why not" as lines: what stood against it with its margins, and what would admit it."""
    if found.chosen:
        return [Content(f"{found.what} is what the design has.")]
    rows: list[Content] = []
    for each in found.obstacles:
        rows.append(Content.assemble((f"{with_labels(each.rule or each.kind)}: ", "bold"), with_labels(each.because)))
        rows += [Content(f"  {margin.text}") for margin in each.margins]
    rows += [Content(with_labels(note)) for note in found.notes]
    if found.changes:
        rows += [Content(""), Content.styled("Each of these would admit it:", "bold")]
    elif found.together:
        rows += [Content(""), Content.styled("No change of one answer admits it; these would, together:", "bold")]
    elif not found.notes:
        rows += [Content(""), Content("No change of an answer that was tried admits it.")]
    rows += [Content(f"  {_change_line(each)}") for each in (*found.changes, *found.together)]
    return rows or [Content("Nothing stands against it.")]


def _change_line(change: SmallestChange) -> str:
    """Return a change by the label of its question, with the value that it leads to where its text does not say it."""
    value = f" = {change.after}" if change.after and change.after not in change.text else ""
    return with_labels(f"{change.key}{value}: {change.text}")


def _questions_like(text: str) -> Sequence[str]:
    """Return "key=" for the questions whose words match; nothing once a value is being written."""
    if "=" in text or not text.strip():
        return []
    words = text.lower().split()
    found = [
        f"{each.key}="
        for each in load_interview().questions
        if all(word in f"{each.key} {each.label} {each.ask}".lower() for word in words)
    ]
    return found[:MOST_MATCHES]
