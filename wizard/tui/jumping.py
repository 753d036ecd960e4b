"""Where one can jump to from here, each place with its letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wizard.interview import load_interview
from wizard.tui.actions import ACTIONS
from wizard.tui.screens.interview import InterviewScreen
from wizard.tui.screens.jump import LETTERS, JumpDialog

if TYPE_CHECKING:
    from wizard.tui.app import WizardApp

SCREENS = ("review_answers", "show_design", "compare_candidates", "look", "sliders", "vendor_questions", "start_page")
"""Actions that show a screen, in the order of their capital letters."""


def places_from(app: WizardApp) -> list[tuple[str, str, str]]:
    """Return (letter, id, title): steps by number, the fields of the page by small letters, screens by capital ones."""
    steps = load_interview().steps
    places = [(str(number), f"step:{step.id}", step.title) for number, step in enumerate(steps, start=1)]
    if isinstance(app.screen, InterviewScreen):
        places += [(letter, row.key, row.question.label.strip()) for letter, row in zip(LETTERS, app.screen.rows(), strict=False)]
    titles = {each.id: each.title for each in ACTIONS}
    return places + [(letter.upper(), f"do:{id_}", titles[id_]) for letter, id_ in zip(LETTERS, SCREENS, strict=False)]


def jump(app: WizardApp) -> None:
    """Show the letters, and go where the person says."""

    async def chosen(place: str | None) -> None:
        kind, _, name = (place or "").rpartition(":")
        if kind == "step":
            await app.go_to_step(name)
        elif kind == "do":
            await app.perform_id(name)
        elif name:
            await app.go_to_question(name)

    app.push_screen(JumpDialog(places_from(app)), chosen)
