"""The steps with their states, each a click away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from wizard.glyphs import sign
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Set

    from wizard.interview import Interview, Step
    from wizard.session import Session

WIDE, ROOMY = 104, 80
"""From these widths on, titles are written in full, and steps stand two columns apart."""


def step_state(interview: Interview, session: Session, step: Step, here: str, visited: Set[str]) -> str:
    """Return the state of a step: "wrong" where something typed is not valid, "here", "done" once seen, else "open"."""
    keys = {question.key for question in interview.of_step(step.id, session.answers)}
    if any(key in keys for key, _ in session.drafts):
        return "wrong"
    if step.id == here:
        return "here"
    return "done" if step.id in visited or any(session.answers.given(key) for key in keys) else "open"


def step_line(interview: Interview, session: Session, here: str, visited: Set[str], width: int) -> Content:
    """Return each step with its sign, then review and design, each a click away, as one line for `width` columns."""
    pieces: list[Content | str] = [" "]
    apart = "  " if width >= ROOMY else " "
    for step in interview.steps:
        state = step_state(interview, session, step, here, visited)
        title = step.title if width >= WIDE else step.title.split()[0]
        style = {"here": "bold reverse", "wrong": "bold $text-error", "done": "", "open": "$foreground-muted"}[state]
        text = f"{sign(state)} {title}"
        if state == "wrong" and step.id == here:
            style = "bold reverse"
        pieces += [Content.styled(text, style).stylize(_link(f"screen.go_step('{step.id}')")), apart]
    pieces += [Content.styled(f"{sign('line')} ", "$foreground-muted")]
    for title, action in (("Review", "app.perform_id('review_answers')"), ("Design", "app.perform_id('show_design')")):
        pieces += [Content.styled(title, "").stylize(_link(action)), "  "]
    return Content("").join(each if isinstance(each, Content) else Content(each) for each in pieces)


class StepBar(Quiet):
    """One line: each step with its sign, then review and design."""

    def show(self, interview: Interview, session: Session, here: str, visited: Set[str], width: int) -> None:
        """Show the states as they are now."""
        self.put(step_line(interview, session, here, visited, width))


def _link(action: str) -> Style:
    return Style.from_meta({"@click": action})
