"""The app: the way from screen to screen, and the actions that work on all of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events

from wizard.advice import Adviser
from wizard.cli import narrate, one_line
from wizard.config import Config, load_config, nearest
from wizard.files import FileError
from wizard.interview import load_interview
from wizard.preferences import use
from wizard.situations import load_situations
from wizard.stopping import leaving_on_signals
from wizard.tui.actions import ACTIONS, HOMES, Action, action_of, actions_of, bindings_of, keys_of
from wizard.tui.asked_app import AskedApp
from wizard.tui.asking import Asker
from wizard.tui.giving import Giver
from wizard.tui.help import help_text
from wizard.tui.keeping_app import URGENT
from wizard.tui.keymap import use_keymap
from wizard.tui.pages import COMPARE, LOOK, PAGES
from wizard.tui.palette import WizardCommands
from wizard.tui.pasting import paste_as_text
from wizard.tui.screens.base import SIZES_ACROSS, SIZES_DOWN, SMALLEST_HEIGHT, SMALLEST_WIDTH, WizardScreen
from wizard.tui.screens.compare import CompareScreen
from wizard.tui.screens.dialogs import FileDialog, TextDialog
from wizard.tui.screens.interview import InterviewScreen
from wizard.tui.screens.lists import DesignScreen, ListScreen, ReviewScreen, TabScreen
from wizard.tui.screens.look import LookScreen
from wizard.tui.screens.sliders import SliderScreen
from wizard.tui.screens.start import StartScreen
from wizard.work import Opened, Work, copied, fresh, opened, resumed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.binding import BindingType

    from wizard.advice import Advise
    from wizard.kept import Unfinished
    from wizard.session import Session
    from wizard.tui.row import Row

SWITCH_S = 0.001
"""How long the engine's thread may keep the interpreter while a key waits: a fifth of Python's own setting, for a quicker echo."""


class WizardApp(AskedApp):
    """The wizard. `advise` replaces the engine, for tests; `work` is plain state, so that a key repaints only what shows it."""

    TITLE = "cluster-wizard"
    CSS_PATH = "wizard.tcss"
    COMMANDS = {WizardCommands}
    HORIZONTAL_BREAKPOINTS = SIZES_ACROSS
    VERTICAL_BREAKPOINTS = SIZES_DOWN
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("everywhere")]

    def __init__(
        self, file: str | None = None, catalog_folders: Sequence[str] = (), advise: Advise | None = None, config: Config | None = None
    ) -> None:
        super().__init__(Adviser(catalog_folders, advise))
        self._configure(config or Config())
        self.animation_level = "none"  # nothing here moves by itself, and over a slow line it would only cost
        self.fault: FileError | None = None
        self.asker, self.giver = Asker(self), Giver(self)
        self._file = file

    def _configure(self, config: Config) -> None:
        """Take over theme, keys and ways of writing; raises FileError for what there is not."""
        self.config = config
        use(config.preferences)
        keymap = use_keymap(config)
        if config.theme:
            if config.theme not in self.available_themes:
                known = f"there are {', '.join(sorted(self.available_themes))}"
                raise FileError(config.path or "config", f"theme: no such theme{nearest(config.theme, self.available_themes)}; {known}")
            self.theme = config.theme
        self.set_keymap(keymap)

    async def on_mount(self) -> None:
        """Show the start page, or the file that was named; then load the engine while the person reads."""
        if self._file is None:
            await self.push_screen(StartScreen())
        else:
            await self._open_named(Path(self._file))
        self.call_after_refresh(self.solve)

    async def _open_named(self, path: Path) -> None:
        try:
            await self._take(opened(path))
        except FileError as error:
            self.fault = error
            self.exit(2)

    async def _take(self, found: Opened) -> None:
        async def take() -> None:
            await self._start(found.work)
            if found.note:
                self.notify(one_line(found.note), severity="warning" if found.warns else "information", timeout=12 if found.warns else 6)

        await self.leave(take)

    async def on_event(self, event: events.Event) -> None:
        """Where the terminal is too small to show anything, no key and no click acts, save the one that quits."""
        acts = isinstance(event, (events.Key, events.Paste, events.MouseEvent)) and not event.is_forwarded
        quits = isinstance(event, events.Key) and event.key in keys_of(action_of("quit"))
        urgent = any(screen.has_class(URGENT) for screen in self.screen_stack[-1:])
        if acts and not quits and not urgent and (self.size.width < SMALLEST_WIDTH or self.size.height < SMALLEST_HEIGHT):
            return
        await super().on_event(event)

    # --- from screen to screen

    def _interview(self) -> InterviewScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, InterviewScreen)), None)

    async def start_work(self, work: Work) -> None:
        """Take other work in hand and show its first step; what was in hand stays in its autosave."""
        await self._take(Opened(work))

    async def _start(self, work: Work) -> None:
        self.work = work
        await self._pop_to(None)
        await self.push_screen(InterviewScreen())
        self.solve()

    async def _pop_to(self, screen: object) -> None:
        while len(self.screen_stack) > 1 and self.screen is not screen:
            await self.pop_screen()

    async def continue_work(self) -> None:
        """Go on with the work in hand, at the questions."""
        if self._interview() is None:
            await self.push_screen(InterviewScreen())
        else:
            await self.back_to_interview()

    async def back_to_interview(self) -> InterviewScreen:
        """Show the questions where they were left."""
        interview = self._interview()
        if interview is None:
            interview = InterviewScreen()
            await self._pop_to(None)
            await self.push_screen(interview)
        else:
            await self._pop_to(interview)
            await interview.resync()
        return interview

    async def back(self) -> None:
        """Go back one screen."""
        await self.pop_screen()
        if isinstance(self.screen, InterviewScreen):
            await self.screen.resync()
        elif isinstance(self.screen, WizardScreen):
            self.screen.show_work()

    async def go_to_step(self, step: str) -> None:
        """Show a step of the interview."""
        await (await self.back_to_interview()).enter_step(step)

    async def go_to_question(self, key: str) -> None:
        """Show the step of a question and focus it, even where it is not asked beside the other answers."""
        question = load_interview().question(key)
        if question is None:
            self.notify(f"{key} is no question here; a file of answers or --set {key}=… gives it.", severity="warning", timeout=8)
            return
        self.work.sought.add(key)
        await (await self.back_to_interview()).enter_step(question.step, key)

    async def change_answer(self, key: str) -> None:
        """Change one answer of the review; Next or Enter comes back to it."""
        await self.go_to_question(key)
        interview = self._interview()
        if interview is not None:
            interview.return_to_review = True

    async def resume(self, found: Unfinished) -> None:
        """Go on with an autosave."""
        await self._try(lambda: Opened(resumed(found)))

    async def start_example(self, path: Path) -> None:
        """Start new work from an example's answers."""
        await self._try(lambda: Opened(copied(path)))

    async def start_new(self, *, first_only: bool = False) -> None:
        """Start work that nobody has touched; `first_only`: with the questions of a first design."""

        def make() -> Opened:
            work = fresh()
            work.first_only = first_only
            return Opened(work)

        await self._try(make)

    async def start_situation(self, id_: str) -> None:
        """Start new work from a situation's answers."""

        def make() -> Opened:
            session = fresh().session
            for key, raw in next(each for each in load_situations() if each.id == id_).answers.items():
                session = session.answer(key, raw, "preset")
            return Opened(Work(session))

        await self._try(make)

    async def _try(self, make: Callable[[], Opened]) -> None:
        try:
            found = make()
        except FileError as error:
            self.notify(str(error), severity="error", timeout=12)
            return
        await self._take(found)

    # --- actions of the registry

    async def perform(self, action: Action) -> None:
        """Perform an action of the registry from wherever the person is: first go to the screen that it belongs to."""
        if action.scope == "interview":
            await (await self.back_to_interview()).run_action(action.id)
        elif action.scope == "everywhere":
            await self.screen.run_action(f"app.{action.id}")
        else:
            if not (isinstance(self.screen, WizardScreen) and action in actions_of(self.screen.SCOPE)):
                await self.run_action(HOMES[action.scope], self)
            await self.screen.run_action(action.id)

    def action_perform_id(self, id_: str) -> None:
        """Perform a clicked action, later: the widget that was hit waits for it, and it may close the screen of that widget."""
        self.call_later(self.perform_id, id_)

    async def perform_id(self, id_: str) -> None:
        """Perform an action by its id."""
        action = next(each for each in ACTIONS if each.id == id_)
        await self.run_action(id_, self if action.scope == "everywhere" else self.screen)

    def action_click_tab(self, tab: str) -> None:
        """Show a tab that was clicked."""
        self.call_later(self.action_show_tab, tab)

    async def action_start_page(self) -> None:
        """Show the start page; the work in hand stays in hand."""
        self.work.autosave()
        start = next((screen for screen in self.screen_stack if isinstance(screen, StartScreen)), None)
        if start is None:
            await self.push_screen(StartScreen())
        else:
            await self._pop_to(start)
            start.refresh_list()
            start.show_work()

    async def action_review_answers(self) -> None:
        """Show all answers."""
        await self._show_list(ReviewScreen())

    async def action_show_design(self) -> None:
        """Show the design."""
        await self.action_show_tab("reasons")

    async def action_vendor_questions(self) -> None:
        """Show the questions for vendors."""
        await self.action_show_tab("questions")

    async def action_compare_candidates(self) -> None:
        """Show all candidates side by side."""
        await self.action_show_tab(COMPARE)

    async def action_look(self) -> None:
        """Show the pictures of the design."""
        await self.action_show_tab(LOOK)

    async def action_show_tab(self, tab: str) -> None:
        """Show a tab of the design, in place of the one that is there."""
        self.clear_notifications()
        here = self.screen
        if isinstance(here, TabScreen) and here.tab == tab:
            return
        if isinstance(here, DesignScreen) and tab in PAGES:
            here.go_page(tab)
            return
        await self._show_list(CompareScreen() if tab == COMPARE else LookScreen() if tab == LOOK else DesignScreen(tab))

    async def _show_list(self, screen: ListScreen) -> None:
        if isinstance(self.screen, StartScreen):
            await self.continue_work()
        if isinstance(self.screen, type(screen)) or (isinstance(self.screen, TabScreen) and isinstance(screen, TabScreen)):
            await self.pop_screen()
        await self.push_screen(screen)

    async def action_undo_answer(self) -> None:
        """Take the last change back."""
        await self._travel(self.work.session.undo(), "Nothing to undo")

    async def action_redo_answer(self) -> None:
        """Do a change again."""
        await self._travel(self.work.session.redo(), "Nothing to redo")

    async def _travel(self, session: Session, nothing: str) -> None:
        if session.answers == self.work.answers:
            self.notify(nothing, timeout=2)
            return
        before = self.work.answers
        self.change(session)
        await self.resync()
        keys = sorted(key for key in {*before.values, *session.answers.values} if before.values.get(key) != session.answers.values.get(key))
        labels = [question.label.strip() for key in keys if (question := load_interview().question(key))]
        self.notify("Changed: " + ", ".join(f"{label} is {self._shown(key)}" for key, label in zip(keys, labels, strict=False)), timeout=3)

    def _shown(self, key: str) -> str:
        from wizard.shown import value_text

        return value_text(key, self.work.answers.values.get(key))

    def action_explain(self) -> None:
        """Explain the focused question, and list the keys."""
        screen = self.screen
        row = screen.focused_row() if isinstance(screen, InterviewScreen) else None
        question = row.question if row is not None else None
        title = question.label.strip() if question is not None else "Help"
        scope = screen.SCOPE if isinstance(screen, WizardScreen) else "everywhere"
        self.push_screen(TextDialog(title, help_text(question, self.work, scope, warm=self.adviser.catalog is not None)))

    def show_behind(self, row: Row) -> None:
        """Show what stands behind a line of the design; remedies can be applied."""
        self.asker.show_behind(row)

    def action_save_design(self) -> None:
        """Save to the work's file; ask for a name the first time."""
        self.giver.save()

    def action_save_as(self) -> None:
        """Ask for a file name and save."""
        self.giver.save_as()

    async def action_sliders(self) -> None:
        """Show the limits as sliders."""
        if isinstance(self.screen, StartScreen):
            await self.continue_work()
        if not isinstance(self.screen, SliderScreen):
            await self.push_screen(SliderScreen())

    async def resync(self) -> None:
        """Show a session that changed elsewhere, on the questions too."""
        interview = self._interview()
        if interview is not None:
            await interview.resync()
        self.show_work()

    async def action_open_file(self) -> None:
        """Ask for a file and open it."""

        async def chosen(path: Path | None) -> None:
            if path is not None:
                await self._try(lambda: opened(path))

        await self.push_screen(FileDialog("Open a design or a file of answers", "", must_exist=True), chosen)

    async def action_quit(self) -> None:
        """Keep the answers and leave; where they cannot be kept, ask first."""

        async def go() -> None:
            self.exit(0)

        await self.leave(go)


def open_wizard(file: str | None, catalog_folders: list[str], config: str | None = None) -> int:
    """Run the wizard and return its exit code; raises FileError where `file` or the config cannot be used."""
    sys.setswitchinterval(SWITCH_S)
    paste_as_text()
    app = WizardApp(file, catalog_folders, config=load_config(config))
    with leaving_on_signals(app.told_to_end) as told:
        code: Any = app.run()
    if app.fault is not None:
        raise app.fault
    farewell = app.work.farewell()
    if farewell:
        narrate(farewell)
    return told.exit_code or int(code or app.return_code or 0)
