"""All remedies at once: worked out beside the screen, shown before and after, kept in one step of undo or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.content import Content

from wizard.tui.screens.dialogs import TextDialog
from wizard.tui.screens.prompts import ProgressDialog

if TYPE_CHECKING:
    from rules.remedies import Mended
    from wizard.tui.app import WizardApp


def fix_all(app: WizardApp, *, warnings: bool = False) -> None:
    """Apply the remedies of every conflict on the side, and show what they change; of the warnings where asked or nothing else is there."""
    from rules.remedies import MOST_DESIGNS, mendable

    design, answers = app.work.design, app.work.answers
    if design is None or not app.work.current:
        app.notify("The design is still being worked out; try again in a moment.", timeout=3)
        return
    if not design.conflicts and not mendable(design):
        app.notify("No conflict, and no warning that carries a remedy.", timeout=3)
        return
    too = warnings or not design.conflicts
    title = f"Fix all {'conflicts' if design.conflicts else 'warnings'}{' and warnings' if design.conflicts and too else ''}"

    def found(mended: Any) -> None:
        if isinstance(mended, str):
            app.notify(mended, severity="error")
        elif mended is not None:
            _show(app, title, mended, more=not too)

    app.push_screen(ProgressDialog(title, lambda watch: app.adviser.mend(answers, watch, warnings=too), MOST_DESIGNS), found)


def _show(app: WizardApp, title: str, mended: Mended, *, more: bool) -> None:
    """Show what would be changed; the person keeps it all, has the warnings fixed too, or leaves all as it is."""
    from rules.counting import counted
    from rules.findings import Kind
    from rules.remedies import ready
    from wizard.interview import with_labels
    from wizard.mending import mended_lines

    changes = counted(len(mended.applied), "change")
    choices = [("keep", f"Keep {changes}")] if mended.applied else []
    if more and any(ready(each) for each in mended.after.of_kind(Kind.WARNING)):
        choices.append(("warnings", "Look for remedies of the warnings too"))
    choices.append(("drop", "Leave all as it is"))

    async def chosen(choice: str | None) -> None:
        if choice == "warnings":
            fix_all(app, warnings=True)
        elif choice == "keep":
            app.change(app.work.session.replaced(mended.after.answers))
            await app.resync()
            app.notify(f"{changes} made; undo takes back all at once.", timeout=5)

    dialog = TextDialog(title, Content(""), choices)
    app.push_screen(dialog, chosen)
    dialog.call_after_refresh(lambda: dialog.show_text(Content(with_labels("\n".join(mended_lines(mended, dialog.text_width))))))
