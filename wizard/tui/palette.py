"""The command palette: every action of the registry with its key, every step and every question."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from wizard.interview import load_interview
from wizard.shown import answered
from wizard.tui.actions import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from wizard.tui.app import WizardApp

Command = tuple[str, str, "Callable[[], object]"]


class WizardCommands(Provider):
    """Finds actions, steps and questions."""

    def commands(self) -> list[Command]:
        """Return title, help and callback of every command that exists on this screen."""
        app = cast("WizardApp", self.app)
        rows: list[Command] = []
        for each in sorted(ACTIONS, key=lambda action: (action.scope != "everywhere", action.scope != "interview")):
            if each.id == "command_palette":
                continue
            title = f"{each.title}   {each.all_keys}" if each.all_keys else each.title
            rows.append((title, each.text, partial(app.perform, each)))
        interview = load_interview()
        for number, step in enumerate(interview.steps, start=1):
            title = f"Go to step {number}: {step.title}, {answered(interview, app.work.session, step.id)}"
            rows.append((title, step.intro, partial(app.go_to_step, step.id)))
        for step in interview.steps:
            for question in interview.of_step(step.id, app.work.answers):
                title = f"Question: {question.label.strip()} ({step.title})"
                rows.append((title, question.ask, partial(app.go_to_question, question.key)))
        return rows

    async def discover(self) -> Hits:
        """Show everything before anything is typed."""
        for title, text, callback in self.commands():
            yield DiscoveryHit(title, callback, help=text)

    async def search(self, query: str) -> Hits:
        """Show what matches the typed text, in title or help."""
        matcher = self.matcher(query)
        for title, text, callback in self.commands():
            score = max(matcher.match(title), matcher.match(text) * 0.5)
            if score > 0:
                yield Hit(score, matcher.highlight(title), callback, help=text)
