"""The four questions by one key, about whatever is pointed at: why is it asked, how was it concluded, why not otherwise, what if."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from wizard.interview import load_interview
from wizard.teaching import lessons
from wizard.tui.row import Row
from wizard.tui.screens.dialogs import TextDialog
from wizard.tui.screens.interview import InterviewScreen
from wizard.tui.screens.lists import ListScreen

if TYPE_CHECKING:
    from wizard.tui.app import WizardApp

MOST_SHOWN = 48
"""Characters of a line in the title of the dialog."""


def ask_about(app: WizardApp) -> None:
    """Offer the four questions about the line or the question that is pointed at; those that need a name ask for it."""
    key, product, row = _pointed(app)
    question = load_interview().question(key) if key else None
    label = question.label.strip() if question is not None else key
    named = row.title if row is not None else label or product
    choices = [("why", f"Why is it asked: {label}")] if question is not None else []
    if row is not None or key:
        choices.append(("how", "How was it concluded: answers, formulas, rules and sources"))
    choices += [
        (
            "why_not",
            f"Why not {product or (f'another value of {label}' if label else 'a GPU, server, fabric, cooling, plan, precision')} …",
        ),
        ("what_if", f"What if {label or 'an answer'} were another …"),
    ]

    def chosen(choice: str | None) -> None:
        if choice == "why" and question is not None:
            told = lessons(question, app.work.design, warm=app.adviser.catalog is not None)
            lines = [Content.styled(question.ask, "bold"), Content("")]
            lines += [Content.assemble((f"{name}: ", "bold"), text) for name, text in told]
            app.push_screen(TextDialog(f"Why is it asked: {label}", Content("\n").join(lines)))
        elif choice == "how":
            app.show_behind(row if row is not None else Row(Content(label), label, (), subject=key))
        elif choice == "why_not":
            app.asker.ask_why_not(product or (f"{key}=" if key else ""))
        elif choice == "what_if":
            app.asker.ask_what_if(key)

    title = f"Ask about {named if len(named) <= MOST_SHOWN else named[: MOST_SHOWN - 1] + '…'}" if named else "Ask"
    app.push_screen(TextDialog(title, Content(""), choices), chosen)


def _pointed(app: WizardApp) -> tuple[str, str, Row | None]:
    """Return the answer, the product and the line of the design that are pointed at, as far as there are any."""
    screen = app.screen
    if isinstance(screen, InterviewScreen):
        field = screen.focused_row()
        return (field.key if field is not None else ""), "", None
    if isinstance(screen, ListScreen):
        return screen.named_answer(), screen.named_product(), screen.pointed_row()
    return "", "", None
