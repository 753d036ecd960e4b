"""The app below its screens: the work in hand and the engine that follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work as in_worker
from textual.message import Message

from wizard.changes import causes_text
from wizard.config import Config, region_note
from wizard.names import Names
from wizard.tui.keeping_app import DEBOUNCE_S, KeepingApp
from wizard.tui.widgets.live_strip import LiveStrip

if TYPE_CHECKING:
    from textual.timer import Timer

    from wizard.advice import Advice, Adviser
    from wizard.session import Session
    from wizard.work import Work

LATE_S = 0.5
"""After this long without a design the strip says that it is being worked out; most come well before."""


class Settled(Message):
    """The engine's advice is here."""

    def __init__(self, work: Work, advice: Advice) -> None:
        super().__init__()
        self.work, self.advice = work, advice


class EngineApp(KeepingApp):
    """Keeps the work, and the design up to date with it. `work` is plain state: a key repaints only what shows it."""

    def __init__(self, adviser: Adviser) -> None:
        super().__init__()
        self.adviser = adviser
        self.names = Names(adviser)
        self._timer: Timer | None = None
        self._late: Timer | None = None
        self._solving = False
        self.config = Config()
        self._region_told = False

    def change(self, session: Session) -> None:
        """Take over a session that a screen made; the engine follows."""
        self.keep_before(session)
        drafts = self.work.session.drafts
        if self.work.change(session):
            self.follow()
            self.keep()
        elif drafts != session.drafts:
            self.keep()
        self.show_work()

    def follow(self) -> None:
        """Run the engine once the person pauses."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DEBOUNCE_S, self.solve)

    def solve(self) -> None:
        """Run the engine now, unless it is done with these answers, or runs already; it then runs again when it is done."""
        if not self._solving and self.work.settled != self.work.generation:
            self._solving = True
            self._late = self.set_timer(LATE_S, self.show_late)
            self._evaluate(self.work)

    @in_worker(thread=True, description="design", group="engine", exit_on_error=False)
    def _evaluate(self, work: Work) -> None:
        """Advise, off the screen's thread."""
        generation, answers = work.generation, work.answers
        opened = work.opened if answers == work.session.saved else None
        self.post_message(Settled(work, self.adviser.advise(generation, answers, opened)))

    def on_settled(self, event: Settled) -> None:
        """Show new advice; advice that newer answers have overtaken is dropped, and the engine runs again."""
        self._solving = False
        self._tell_region()
        if self._late is not None:
            self._late.stop()
        if event.work is not self.work or event.advice.generation != self.work.generation:
            self.solve()
        else:
            self.work.settle(event.advice)
            self.show_work()
            if event.advice.changes:
                self.tell_changes()

    def _tell_region(self) -> None:
        """Say once that the catalog does not know the region of the person's config."""
        catalog = self.adviser.catalog
        if catalog is not None and not self._region_told:
            self._region_told = True
            if note := region_note(self.config, catalog):
                self.notify(note, severity="warning", timeout=12)

    def tell_changes(self) -> None:
        """Say that a saved design comes out otherwise now, and why."""
        path, causes = self.work.path, causes_text(self.work.causes)
        self.notify(
            f"Derived again: {self.work.changed_text}, because {causes}. "
            f"F4 lists them; so does 'cluster-wizard replay {path.name if path else ''}'.",
            timeout=10,
        )

    def show_late(self) -> None:
        """Say that the design is still being worked out."""
        for strip in self.screen.query(LiveStrip):
            strip.show(self.work, late=True)
