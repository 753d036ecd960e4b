"""What a person asks about a line of the design: how it was concluded, what to change, and what that would change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from rules.answers import AnswerError
from wizard.changes import difference
from wizard.tui.help import behind_text
from wizard.tui.screens.dialogs import TextDialog

if TYPE_CHECKING:
    from rules.answers import Answers
    from rules.findings import Remedy
    from wizard.tui.app import WizardApp
    from wizard.tui.row import Row

WAITING = "being derived …"


class Asker:
    """Answers questions about lines, in dialogs; whatever takes time is worked out off the screen's thread."""

    def __init__(self, app: WizardApp) -> None:
        self._app = app

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
            answers = app.work.design.answers
            app.run_worker(partial(self._explain, dialog, row, answers), thread=True, group="explain", exclusive=True, exit_on_error=False)

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
        app = self._app
        if not remedy.value:
            await app.go_to_question(remedy.key)
            return
        try:
            answers = app.work.session.answer(remedy.key, remedy.value).answers
        except AnswerError as error:
            app.notify(str(error), severity="error")
            return
        dialog = TextDialog(f"Before and after: {remedy.text}", Content(WAITING), [("apply", "Apply it"), ("leave", "Leave all as it is")])

        async def chosen(choice: str | None) -> None:
            if choice == "apply":
                app.change(app.work.session.answer(remedy.key, remedy.value))
                app.notify(f"Changed: {remedy.text}; undo takes it back.", timeout=4)

        app.push_screen(dialog, chosen)
        app.run_worker(partial(self._compare, dialog, answers), thread=True, group="explain", exclusive=True, exit_on_error=False)

    def _compare(self, dialog: TextDialog, answers: Answers) -> None:
        """Design with other answers, and show in the dialog what differs from the design in hand."""
        advice = self._app.adviser.advise(-1, answers)
        before = self._app.work.design
        if advice.design is None or before is None:
            lines = [advice.error or "there is no design to compare with"]
        else:
            lines = difference(before, advice.design, dialog.text_width)
        self._app.call_from_thread(dialog.show_text, Content("\n".join(lines)))
