"""Limits as sliders, and the design that follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets.option_list import Option

from rules.answers import AnswerError
from wizard.changes import figures_changed
from wizard.glyphs import ascii_only, sign
from wizard.interview import load_interview
from wizard.shown import value_text
from wizard.sliding import SLIDERS, Slider, answer_at, as_text, given, moved, price_slider, share, value_of
from wizard.summary import short_money
from wizard.tui.actions import bindings_of
from wizard.tui.figures import conflict_lines, overview
from wizard.tui.screens.base import WizardScreen
from wizard.tui.screens.compare import shortened_inside
from wizard.tui.widgets.live_strip import LiveStrip
from wizard.tui.widgets.pointed_list import PointedList
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual import events
    from textual.binding import BindingType
    from textual.widget import Widget

    from rules.design import Design
    from wizard.session import Session

LABEL, VALUE, LEAST_TRACK = 22, 18, 16


class SliderScreen(WizardScreen):
    """Left and Right move the slider that is pointed at; what the design was on coming here stays beside what it is now."""

    SCOPE = "sliders"
    AUTO_FOCUS: ClassVar[str] = "#rows"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("sliders")]

    def __init__(self) -> None:
        super().__init__()
        self._before_move: tuple[str, Session] | None = None
        self.sliders = SLIDERS
        self.start_design: Design | None = None

    def body(self) -> Iterable[Widget]:
        """Return the sliders above the design."""
        yield Quiet(id="intro")
        yield PointedList(id="rows")
        yield VerticalScroll(Quiet(id="overview"), id="slid", can_focus=False)
        yield LiveStrip(id="strip")

    def on_mount(self) -> None:
        """Fill the list."""
        self.show_work()
        self.set_focus(self.query_one("#rows"))

    def heading(self) -> str:
        """Return what the screen is."""
        return "sliders"

    def show_work(self) -> None:
        """Show sliders and design as they are now."""
        self._begin()
        self.show_title()
        told = Content.assemble(
            (" Move a limit, watch the design", "bold"), ("   Left, Right move; Del takes it away", "$foreground-muted")
        )
        self.query_one("#intro", Quiet).put(told)
        self.query_one(PointedList).refill([Option(self._line(each), id=each.id) for each in self.sliders])
        self.query_one("#overview", Quiet).put(Content("\n").join(self._design()))
        self.query_one(LiveStrip).show(self.work)

    def _begin(self) -> None:
        """Remember the design that was: the one that is there on coming here, or the first one after that."""
        if self.start_design is None and self.work.design is not None:
            self.start_design = self.work.design
            price = price_slider(self.start_design, self.wizard.adviser.catalog)
            self.sliders = (*SLIDERS, price) if price is not None else SLIDERS

    def _line(self, slider: Slider) -> Content:
        answers = self.work.answers
        question = load_interview().question(slider.key)
        label = shortened_inside(slider.name, LABEL - 1) if slider.item or question is None else question.label.strip()
        value, said = value_of(slider, answers), given(slider, answers)
        if slider.item:
            shown = f"{short_money(value or 0.0)} each"
        elif said:
            shown = value_text(slider.key, answers.values.get(slider.key))
        else:
            shown = answers.text(slider.key) or "not given"
        if not said and value is not None:
            shown = f"{sign('assumed')} {shown}"
        return Content.assemble(f"   {label:<{LABEL}}", (self._track(slider, value), "" if said else "$foreground-muted"), f"  {shown}")

    def _track(self, slider: Slider, value: float | None) -> str:
        width = max(LEAST_TRACK, self.size.width - LABEL - VALUE - 10)
        rail, knob, ends = ("-", "O", "[]") if ascii_only() else ("─", "●", "├┤")
        if value is None:
            return f"{ends[0]}{rail * width}{ends[1]}"
        at = round(share(slider, value) * (width - 1))
        return f"{ends[0]}{rail * at}{knob}{rail * (width - 1 - at)}{ends[1]}"

    def _design(self) -> list[Content]:
        design = self.work.design
        if design is None or design.figures is None:
            return [*conflict_lines(self.work)] or [Content(self.work.why_no_design)]
        changed = figures_changed(self.start_design, design, sign("at_least"))
        rows = [Content.assemble((f"{sign('changed')} since you came here: ", "bold"), (changed, "italic"))] if changed else []
        return [*rows, *conflict_lines(self.work), *overview(design, max(20, self.size.width - 4))]

    # --- moving

    def _pointed(self) -> Slider:
        option = self.query_one(PointedList).highlighted_option
        return next((each for each in self.sliders if option is not None and each.id == option.id), SLIDERS[0])

    def action_slide_up(self) -> None:
        """Move the slider to its next stop."""
        self._move(1)

    def action_slide_down(self) -> None:
        """Move the slider to the stop before."""
        self._move(-1)

    def _move(self, step: int) -> None:
        slider = self._pointed()
        self._take(slider, moved(slider, self.work.answers, step, self.work.design))

    def action_slide_off(self) -> None:
        """Take the limit away."""
        self._take(self._pointed(), None)

    def _take(self, slider: Slider, value: str | None) -> None:
        """Answer; all moves of one slider in a row are one step of undo."""
        base = self._before_move[1] if self._before_move and self._before_move[0] == slider.id else self.work.session
        self._before_move = (slider.id, base)
        answer = answer_at(slider, base.answers, value)
        try:
            self.wizard.change(base.clear(slider.key) if answer is None else base.answer(slider.key, answer))
        except AnswerError as error:
            self.notify(str(error), severity="error")

    def on_option_list_option_highlighted(self) -> None:
        """Another slider begins another step of undo."""
        if self._before_move is not None and self._before_move[0] != self._pointed().id:
            self._before_move = None

    def on_click(self, event: events.Click) -> None:
        """A click left or right of the middle of a slider moves it there."""
        rows = self.query_one(PointedList)
        inside = event.screen_x - LABEL - 4, event.screen_y - rows.region.y
        width = max(LEAST_TRACK, self.size.width - LABEL - VALUE - 10)
        if 0 <= inside[1] < len(self.sliders) and 0 <= inside[0] < width:
            slider = self.sliders[inside[1]]
            stops = slider.stops
            self._take(slider, as_text(slider, stops[round(inside[0] / (width - 1) * (len(stops) - 1))]))

    async def action_leave_sliders(self) -> None:
        """Go back where the person came from; what was moved stays."""
        await self.wizard.back()
