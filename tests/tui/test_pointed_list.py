"""The list with a pointer, alone in an app of its own."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets.option_list import Option

from wizard.tui.widgets.pointed_list import PointedList

LINES = 40


def options(order: range) -> list[Option]:
    return [Option(f"  line {number}", id=str(number)) for number in order]


class Shown(App[None]):
    def compose(self) -> ComposeResult:
        yield PointedList(*options(range(LINES)))


async def test_a_pointer_in_sight_stays_in_sight_and_one_that_was_scrolled_away_brings_nothing_back():
    async with Shown().run_test(size=(20, 10)) as pilot:
        lines = pilot.app.query_one(PointedList)
        lines.highlighted = 0
        await pilot.pause()
        lines.refill(options(range(LINES - 1, -1, -1)), follow=True)  # another order: the line is the last now
        await pilot.pause()
        await pilot.pause()
        assert lines.highlighted_option.id == "0"
        assert lines.scroll_y + lines.size.height >= LINES > lines.scroll_y
        lines.scroll_to(y=0, animate=False)  # as the wheel of a mouse does
        lines.refill(options(range(LINES - 1, -1, -1)), follow=True)
        await pilot.pause()
        await pilot.pause()
        assert lines.highlighted_option.id == "0"
        assert lines.scroll_y == 0
