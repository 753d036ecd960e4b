"""The app's care for answers: the autosave while the person types, and the question before anything that would lose them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from textual import work as in_worker
from textual.content import Content
from textual.message import Message

from wizard.files import FileError
from wizard.kept import autosave_of
from wizard.tui.actions import ACTIONS
from wizard.tui.keys_app import KeysApp
from wizard.tui.screens.base import WizardScreen
from wizard.tui.screens.dialogs import FileDialog, TextDialog
from wizard.work import Work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from textual.notifications import SeverityLevel
    from textual.screen import ModalScreen
    from textual.timer import Timer

    from wizard.session import Session

DEBOUNCE_S = 0.06
"""Pause after the last key before the engine runs; a person's keys come about twice as far apart while typing a word."""
KEEP_S = 0.5
"""The autosave is written at most this often: a killed program loses no more typing than this, and a slow disk is not worn by every key."""
PATIENCE_S = 0.25
"""How long an answer waits for the one before it to be on disk; on a disk that hangs the screen must not."""
URGENT = "-urgent"
ANSWERS_FILE = "my-answers.toml"


Chosen = TypeVar("Chosen")


class Kept(Message):
    """Answers are no longer kept, or are kept again."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work


class LossDialog(TextDialog):
    """Asks what becomes of answers that are neither saved nor in the autosave."""


class KeepingApp(KeysApp):
    """Keeps the answers of the work in hand."""

    def __init__(self) -> None:
        super().__init__()
        self.work = Work()
        self._keeping: Timer | None = None
        self._kept_at = -KEEP_S
        self._before: threading.Thread | None = None

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notice as it is written: names of files and messages about them may hold brackets, which are no markup."""
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def push_screen(self, *arguments: Any, **options: Any) -> Any:
        """Show a screen in front; notices on what the person did before would cover it."""
        self.clear_notifications()
        return super().push_screen(*arguments, **options)

    def show_work(self) -> None:
        """Show the work on the screen that is in front, and on the one under a dialog."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, WizardScreen):
                screen.show_work()
                return

    def keep(self) -> None:
        """Write the autosave soon. Keys that come meanwhile do not put it off, so that fast typing is kept too."""
        if self._keeping is None:
            wait = max(DEBOUNCE_S, self._kept_at + KEEP_S - time.monotonic())
            self._keeping = self.set_timer(wait, self._keep_now)

    def keep_field(self) -> None:
        """Write the autosave at once: a field is left."""
        if self._keeping is not None:
            self._keeping.stop()
            self._keep_now()

    def keep_before(self, session: Session) -> None:
        """See to it that no more than one answer can be lost: what was said before is on disk before another answer changes."""
        if self.work.outruns(session) and (self._before is None or not self._before.is_alive()):
            self._before = threading.Thread(target=self._write, args=(self.work,), daemon=True)
            self._before.start()
            self._before.join(PATIENCE_S)

    def _keep_now(self) -> None:
        self._keeping, self._kept_at = None, time.monotonic()
        self._keep(self.work)

    @in_worker(thread=True, description="keep the answers", group="keep", exit_on_error=False)
    def _keep(self, work: Work) -> None:
        self._write(work)

    def _write(self, work: Work) -> None:
        before = work.at_risk
        work.autosave()
        if work.at_risk != before:
            self.post_message(Kept(work))

    def on_unmount(self) -> None:
        """Keep what was typed last, however the wizard ends."""
        if not self.work.given_up:
            self.work.autosave()

    def on_kept(self, event: Kept) -> None:
        """Say that the answers are not kept, and why."""
        self.show_work()
        if event.work.at_risk:
            self.notify(f"Your {_not_kept(event.work)}. Save (^s) writes a file where you choose.", severity="warning", timeout=12)

    def told_to_end(self) -> None:
        """Keep the answers and leave without asking: the system or the terminal wants the program to end. Called in a thread of its own.

        The answers are kept first: a loop that is busy may not come to leaving before the time for it is over.
        """
        self.work.autosave()
        self.call_from_thread(self.exit, 0)

    def action_help_quit(self) -> None:
        """Say what quits, to a person who expects Ctrl+C to."""
        keys = next(each.key for each in ACTIONS if each.id == "quit")
        self.notify(f"{keys} quits; your answers are kept.", title="Ctrl+C does not quit")

    async def leave(self, go: Callable[[], Awaitable[None]]) -> None:
        """Do what takes the work out of hand, once its answers are safe or the person gives them up."""
        self.work.autosave()
        if not self.work.at_risk:
            await go()
        elif not any(isinstance(screen, LossDialog) for screen in self.screen_stack):
            await self._ask_where(go)

    async def _ask_where(self, go: Callable[[], Awaitable[None]]) -> None:
        async def chosen(choice: str | None) -> None:
            if choice == "elsewhere":
                await self._write_elsewhere(go)
            elif choice == "without":
                self.work.given_up = True
                await go()

        text = Content(f"The {_not_kept(self.work)}.\n\nLeaving now would lose them.")
        choices = [("elsewhere", "Write the answers to another file"), ("without", "Leave without them")]
        self.clear_notifications()  # they say the same, and would cover the choices
        await self._push_urgent(LossDialog("Your answers are not kept", text, choices), chosen)

    async def _write_elsewhere(self, go: Callable[[], Awaitable[None]]) -> None:
        async def chosen(path: Path | None) -> None:
            if path is None:
                return
            try:
                self.work.write_answers(path.absolute())
            except FileError as error:
                self.notify(f"Not written: {error}", severity="error", timeout=12)
                await self._ask_where(go)
                return
            await go()

        await self._push_urgent(FileDialog("Write the answers to", ANSWERS_FILE, must_exist=False), chosen)

    async def _push_urgent(self, dialog: ModalScreen[Chosen], chosen: Callable[[Chosen | None], Awaitable[None]]) -> None:
        """Show a dialog that stays in reach in the smallest terminal: what it asks cannot wait for a larger one."""
        dialog.add_class(URGENT)
        await self.push_screen(dialog, chosen)


def _not_kept(work: Work) -> str:
    place = work.kept.place if work.kept is not None else autosave_of(work.path)
    return f"answers cannot be kept in {place} ({work.not_kept})"
