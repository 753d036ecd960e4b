"""How certain a design is: its totals with ranges, what open answers cost, and prices and rates that could change the choice."""

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
    from collections.abc import Iterable

    from textual.widget import Widget

    from rules.doubts import Doubt
    from wizard.certainty import Certainty

LABEL = 24
SETTLED_BY = {"price": "budget.own_prices", "rate": "measured.step_time"}
"""By kind of doubt the question whose answer settles it: a quote, a test run; how often parts fail no test run tells."""
FAILURES = "failure_rate"


class CertaintyScreen(ListScreen):
    """What is assumed or known as a range, and what it means. Enter goes to the question that settles it."""

    def __init__(self, certainty: Certainty) -> None:
        super().__init__()
        self.certainty = certainty

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
        told = "   Enter answers what settles a line"
        self.query_one("#intro", Quiet).put(Content.assemble((" How certain the design is", "bold"), (told, "$foreground-muted")))
        self.query_one(PointedList).refill(self._options())
        self.query_one(LiveStrip).show(self.work)

    def _options(self) -> Iterable[Option]:
        interview, width = load_interview(), self.size.width - 1
        if self.certainty.totals:
            yield Option(_heading("Totals", "as the ranges of prices, of rates and of the model leave them"), disabled=True)
            for total in self.certainty.totals:
                yield Option(hanging(Content(f"   {total.text}"), width), disabled=True)
        yield Option(_heading("Open answers", "numbers halved and doubled or at published ends, choices changed"), disabled=True)
        for each in self.certainty.weighty:
            question = interview.question(each.key)
            label = question.label.strip() if question is not None else each.key
            text = Content.assemble((f"   {label:<{LABEL}}", "bold"), (f"{each.assumed}: ", "$foreground-muted"), each.sentence)
            if self._kept(text):
                yield Option(hanging(text, width), id=each.key)
        if self.certainty.doubts:
            yield Option(_heading("Prices and rates", "that could change the choice"), disabled=True)
        for number, doubt in enumerate(self.certainty.doubts):
            text = Content.assemble((f"   {doubt.kind.capitalize()}: ", "bold"), doubt.text)
            if self._kept(text):
                yield Option(hanging(text, width), id=f"{number}|{_settled_by(doubt)}")

    def _kept(self, text: Content) -> bool:
        return all(word in text.plain.lower() for word in self.filter.lower().split())

    def named_answer(self) -> str:
        """Return the answer of the line."""
        return self.pointed().rpartition("|")[2]

    async def open_row(self, id_: str) -> None:
        """Answer it."""
        key = id_.rpartition("|")[2]
        if key:
            await self.wizard.go_to_question(key)
        else:
            self.wizard.notify("No answer settles this: ask operators of such GPUs, and plan for both ends.", timeout=8)


def _settled_by(doubt: Doubt) -> str:
    """Return the question whose answer settles a doubt, "" for none."""
    return "" if doubt.key == FAILURES else SETTLED_BY[doubt.kind]


def _heading(text: str, note: str) -> Content:
    return Content.assemble((f" {text}", "bold $text-accent"), (f"  {note}", "$foreground-muted"))
