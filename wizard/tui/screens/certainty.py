"""What each open answer costs in certainty, the weightiest first; Enter answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets.option_list import Option

from wizard.interview import load_interview
from wizard.tui.screens.lists import ListScreen, hanging
from wizard.tui.widgets.live_strip import LiveStrip
from wizard.tui.widgets.pointed_list import PointedList
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.widget import Widget

    from wizard.certainty import Effect

LABEL = 24


class CertaintyScreen(ListScreen):
    """The effects of what is assumed."""

    def __init__(self, effects: Sequence[Effect]) -> None:
        super().__init__()
        self.effects = sorted(effects, key=lambda each: -each.weight)

    def body(self) -> Iterable[Widget]:
        """Return the list above the live strip."""
        yield Quiet(id="intro")
        yield PointedList(id="rows")
        yield LiveStrip(id="strip")

    def heading(self) -> str:
        """Return what the screen is."""
        return "certainty"

    def show_work(self) -> None:
        """Show the effects."""
        self.show_title()
        told = "   numbers halved and doubled, choices changed; Enter answers one"
        self.query_one("#intro", Quiet).put(Content.assemble((" What the open answers cost", "bold"), (told, "$foreground-muted")))
        self.query_one(PointedList).refill(self._options())
        self.query_one(LiveStrip).show(self.work)

    def _options(self) -> Iterable[Option]:
        interview = load_interview()
        for each in self.effects:
            question = interview.question(each.key)
            label = question.label.strip() if question is not None else each.key
            text = Content.assemble((f"   {label:<{LABEL}}", "bold"), (f"{each.assumed}: ", "$foreground-muted"), each.sentence)
            if all(word in text.plain.lower() for word in self.filter.lower().split()):
                yield Option(hanging(text, self.size.width - 1), id=each.key)

    def named_answer(self) -> str:
        """Return the answer of the line."""
        return self.pointed()

    async def open_row(self, id_: str) -> None:
        """Answer it."""
        await self.wizard.go_to_question(id_)
