"""The pictures of the design, one at a time; each can be exported and copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work as in_worker
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from wizard.files import FileError, write_atomically
from wizard.glyphs import ascii_only
from wizard.tui.actions import actions_of, bindings_of
from wizard.tui.pages import LOOK
from wizard.tui.screens.dialogs import FileDialog
from wizard.tui.screens.lists import TabScreen
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from textual import events
    from textual.binding import BindingType
    from textual.widget import Widget

    from rules.advisor import Considered
    from wizard.pictures import Picture

MARGIN = 4
TRIES_PLANS = "memory"
TRIES = {"try_recompute": "recompute more", "try_sharding": "another ZeRO stage", "try_micro_batch": "another micro-batch"}
"""What may be tried from the picture of memory by one key, by action."""
NOTHING = "There is nothing to draw yet: "


class LookScreen(TabScreen):
    """Where memory, time, power and money go; fabric, nodes and racks. `n` shows the next picture, `e` exports it."""

    SCOPE = "look"
    AUTO_FOCUS: ClassVar[str] = "#picture-pane"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("look")]
    tab = LOOK

    def __init__(self, picture: str = "") -> None:
        super().__init__()
        self.picture = picture or self._all()[0].id
        self.lines: list[str] = []
        self._drawn: tuple[object, ...] = ()

    def body(self) -> Iterable[Widget]:
        """Return tabs, the pictures' names and the picture."""
        yield Quiet(id="pages")
        yield Quiet(id="pictures")
        yield ScrollableContainer(Static("", id="picture", markup=False), id="picture-pane")

    def foot(self) -> Iterable[Widget]:
        """Return nothing: a picture has no lines to filter."""
        return ()

    @property
    def filter(self) -> str:
        """Return no filter."""
        return ""

    def _all(self) -> tuple[Picture, ...]:
        from wizard.pictures import PICTURES

        return PICTURES

    @property
    def _about(self) -> Picture:
        from wizard.pictures import picture

        return picture(self.picture)

    def heading(self) -> str:
        """Return what the picture shows."""
        return self._about.title

    def show_work(self) -> None:
        """Draw the picture of the design as it is now, unless it stands there already."""
        self.show_title()
        self.show_tabs()
        self._show_names()
        considered = self.work.considered
        state = (self.picture, self.work.settled, id(considered), self.size.width, self.work.error)
        if state == self._drawn:
            return
        self._drawn = state
        if considered is None or self.work.design is None or self.work.design.figures is None:
            self._put(
                [NOTHING + self.work.why_no_design if self.work.design is None else "There is no design, so there is nothing to draw."]
            )
        else:
            self._draw(self.picture, considered, self.size.width - MARGIN)

    def _show_names(self) -> None:
        pieces = []
        for each in self._all():
            style = "bold reverse" if each.id == self.picture else "$foreground-muted"
            link = Style.from_meta({"@click": f"screen.show_picture('{each.id}')"})
            pieces.append(Content.styled(f" {each.title} ", style).stylize(link))
        names = Content(" ").join(pieces)
        about = [f" {self._about.shows}"]
        if self.picture == TRIES_PLANS:
            keys = {each.id: each.key for each in actions_of("look")}
            about.append(" what if: " + ", ".join(f"{keys[name]} {what}" for name, what in TRIES.items() if keys[name]))
        self.query_one("#pictures", Quiet).put(Content.assemble(names, "\n", ("\n".join(about), "italic $foreground-muted")))

    @in_worker(thread=True, description="draw a picture", group="picture", exclusive=True, exit_on_error=False)
    def _draw(self, picture: str, considered: Considered, width: int) -> None:
        """Draw, off the screen's thread; a picture that fails says so and ends nothing."""
        from wizard.pictures import text

        try:
            drawn = text(picture, considered, width, ascii=ascii_only())
        except Exception as error:  # the wizard must outlive any picture
            drawn = [f"this picture cannot be drawn: {type(error).__name__}: {error}"]
        self.app.call_from_thread(self._drew, picture, drawn)

    def _drew(self, picture: str, drawn: list[str]) -> None:
        if picture == self.picture and self.is_attached:
            self._put(drawn)

    def _put(self, drawn: list[str]) -> None:
        self.lines = drawn
        self.query_one("#picture", Static).update(Content("\n".join(drawn)))

    # --- from picture to picture

    def action_show_picture(self, picture: str) -> None:
        """Show a picture from its top."""
        self.app.clear_notifications()
        self.picture = picture
        self.query_one("#picture-pane").scroll_home(animate=False)
        self.show_work()

    def action_next_picture(self) -> None:
        """Show the next picture; after the last the first."""
        self._step(1)

    def action_previous_picture(self) -> None:
        """Show the picture before; before the first the last."""
        self._step(-1)

    def _step(self, step: int) -> None:
        names = [each.id for each in self._all()]
        self.action_show_picture(names[(names.index(self.picture) + step) % len(names)])

    async def action_open_row(self) -> None:
        """Enter shows the next picture: there is no line to open."""
        self.action_next_picture()

    def action_filter_rows(self) -> None:
        """A picture has no lines to filter."""

    def on_key(self, event: events.Key) -> None:
        """Digits show the picture of that number."""
        if event.character and event.character.isdigit() and 1 <= int(event.character) <= len(self._all()):
            event.stop()
            self.action_show_picture(self._all()[int(event.character) - 1].id)

    # --- one part of the plan changed

    def action_try_recompute(self) -> None:
        """Show the design with the next recomputation beside the design as it is."""
        self._try_plan("parallelism.recompute")

    def action_try_sharding(self) -> None:
        """Show the design with the next ZeRO stage beside the design as it is."""
        self._try_plan("parallelism.zero_stage")

    def action_try_micro_batch(self) -> None:
        """Show the design with another micro-batch beside the design as it is."""
        self._try_plan("parallelism.micro_batch")

    def _try_plan(self, key: str) -> None:
        """Say at once what the change does to memory and step time, then derive the whole design with it."""
        from rules.plan_whatif import next_value, plan_what_if

        considered = self.work.considered
        value = next_value(considered, key) if considered is not None else None
        effect = plan_what_if(considered, key, value) if considered is not None and value is not None else None
        if effect is None:
            self.notify("There is no other value that this plan could have.", severity="warning")
            return
        self.wizard.asker.try_change(key, effect.value, effect.words)

    # --- out of the wizard

    def action_copy_picture(self) -> None:
        """Put the picture's text on the clipboard."""
        self.app.copy_to_clipboard("\n".join(self.lines) + "\n")
        self.notify("Copied, where your terminal lets programs write to its clipboard.", timeout=4)

    def action_export_picture(self) -> None:
        """Ask for a file and write the picture: as text where its name ends in .txt, else as SVG."""
        considered = self.work.considered
        if considered is None:
            self.notify(NOTHING + self.work.why_no_design, severity="warning")
            return
        picture = self.picture

        def chosen(path: Path | None) -> None:
            if path is not None:
                self._export(picture, considered, path)

        self.app.push_screen(FileDialog("Export this picture as (.svg or .txt)", f"{picture}.svg", must_exist=False), chosen)

    @in_worker(thread=True, description="write a picture", group="export", exit_on_error=False)
    def _export(self, picture: str, considered: Considered, path: Path) -> None:
        from wizard.pictures import svg, text

        try:
            drawn = "\n".join(text(picture, considered, 100)) + "\n" if path.suffix == ".txt" else svg(picture, considered)
            write_atomically(path, drawn)
        except FileError as error:
            self.notify(f"Not written: {error}", severity="error", timeout=12)
        except Exception as error:  # a picture that cannot be drawn must not end the wizard
            self.notify(f"Not drawn: {type(error).__name__}: {error}", severity="error", timeout=12)
        else:
            self.notify(f"Wrote {path.name}.", timeout=4)
