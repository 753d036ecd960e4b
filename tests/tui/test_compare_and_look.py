"""The comparison of candidates and the pictures."""

from __future__ import annotations

from tests.screen_text import screen_lines, screen_text
from tests.tui.support import NARROW, WIDE, interview, press, rest, type_text
from wizard.pictures import PICTURES
from wizard.tui.screens.compare import CompareScreen
from wizard.tui.screens.look import LookScreen

REAL = None
"""The real engine, which the comparison and the pictures draw all candidates from."""


def names(app) -> list[str]:
    """Return the names in the table, from top to bottom."""
    return [entry.name for entry in app.screen._entries.values()]


async def test_the_comparison_sorts_by_any_figure_says_by_which_and_filters():
    async with interview(WIDE, engine=REAL) as (app, pilot):
        text = await press(app, pilot, "f5")
        assert isinstance(app.screen, CompareScreen)
        assert "by rank" in text
        assert "◆" in text
        await press(app, pilot, "s")
        text = await press(app, pilot, "s")
        assert "by time" in text
        days = [entry.figures.days for entry in app.screen._entries.values() if entry.figures.days is not None]
        assert days == sorted(days)
        assert len(days) > 5
        text = await press(app, pilot, "r")
        assert "largest first" in text
        days = [entry.figures.days for entry in app.screen._entries.values() if entry.figures.days is not None]
        assert days == sorted(days, reverse=True)
        line = next(number for number, each in enumerate(screen_lines(app)) if "candidates" in each and "GPUs" in each)
        await pilot.click(offset=(screen_lines(app)[line].index("GPUs") + 1, line))
        await rest(app, pilot)
        assert "by GPUs" in screen_text(app)
        # a filter keeps some, Escape shows all again
        everyone = len(names(app))
        await press(app, pilot, "slash")
        text = await type_text(app, pilot, "l40s")
        assert 0 < len(names(app)) < everyone
        assert all("L40S" in name for name in names(app))
        assert f"of {everyone} candidates" in text
        await press(app, pilot, "escape")
        assert len(names(app)) == everyone
        assert isinstance(app.screen, CompareScreen)
        # one that cannot be read is a message and hides nothing
        await press(app, pilot, "slash")
        await pilot.press(*"size", "less_than_sign", "3")
        await rest(app, pilot)
        assert "no figure is called 'size'" in screen_text(app)
        assert len(names(app)) == everyone


async def test_another_candidate_is_pinned_with_its_price_and_undo_frees_it():
    async with interview(WIDE, engine=REAL) as (app, pilot):
        await press(app, pilot, "f5")
        chosen = names(app)[0]
        other = next(entry for entry in app.screen._entries.values() if entry.state == "fits" and entry.figures.gpus != 16)
        app.screen.query_one("#rows").highlighted = names(app).index(other.name)
        text = await press(app, pilot, "enter")
        assert "Instead of the chosen one:" in text
        text = await press(app, pilot, "enter")
        assert app.work.answers.names("preferences.nodes") == (other.node,)
        assert any(each.message.startswith(f"Pinned {other.name}") for each in app._notifications)
        assert app.work.design.name.partition(",")[0].partition(" × ")[2] == other.name.partition(" × ")[2]
        told = " ".join(text.split())
        assert f"Pinned: {app.work.pinned.price.partition(',')[0]}" in told  # what the choice costs stays on the screen
        assert app.work.pinned.price.endswith(f"than {chosen}")
        await press(app, pilot, "ctrl+z")
        assert not app.work.answers.given("preferences.nodes")
        assert app.work.design.name.startswith(chosen)
        assert "Pinned:" not in " ".join(screen_lines(app)[:16])


async def test_every_registered_picture_is_shown_within_80_columns_and_memory_names_the_keys_that_try_another_plan():
    async with interview(NARROW, engine=REAL) as (app, pilot):
        await press(app, pilot, "f6")
        assert isinstance(app.screen, LookScreen)
        for picture in PICTURES:
            app.screen.action_show_picture(picture.id)
            await rest(app, pilot)
            assert len(app.screen.lines) > 1, picture.id
            assert app.screen.lines[0].strip() in screen_text(app), picture.id
            assert "cannot be drawn" not in app.screen.lines[0], picture.id
            assert all(len(line) <= 78 for line in app.screen.lines), picture.id
        app.screen.action_show_picture("memory")
        await rest(app, pilot)
        assert "what if: r recompute more, z another ZeRO stage, m another micro-batch" in screen_text(app)
        for key, part in (("r", "recompute"), ("m", "micro batch")):
            text = await press(app, pilot, key)
            assert f"Before and after: {part}" in text
            assert "GiB" in text
            assert "a step" in text
            await press(app, pilot, "escape")
        app.screen.action_show_picture("money")
        await rest(app, pilot)
        assert "what if: r" not in screen_text(app)


async def test_a_picture_is_exported_as_svg_and_as_text_and_the_report_is_written_and_copied(tmp_path):
    async with interview(WIDE, engine=REAL) as (app, pilot):
        told = f"Wrote {PICTURES[0].id}.svg"
        await press(app, pilot, "f6", "e", "enter")
        assert any(told in each.message for each in app._notifications)
        written = tmp_path / f"{PICTURES[0].id}.svg"
        assert "<svg" in written.read_text()
        await press(app, pilot, "space", "b", "e")
        assert not list(app._notifications)  # a notice covers neither picture nor dialog
        await press(app, pilot, "end", *["backspace"] * 3)  # the whole name is selected: typing replaces it
        await type_text(app, pilot, "txt")
        await press(app, pilot, "enter")
        assert (tmp_path / f"{PICTURES[0].id}.txt").read_text().strip()
        app.action_write_report()
        await rest(app, pilot)
        await press(app, pilot, "enter")
        assert (tmp_path / "my-cluster.html").read_text().startswith("<!DOCTYPE html>")
        app.action_copy_report()
        await rest(app, pilot)
        assert app.clipboard.startswith("# Design of a GPU cluster")
        assert app.work.design.name in app.clipboard


async def test_a_picture_that_fails_says_so_and_ends_nothing(monkeypatch):
    import wizard.pictures

    def broken(*_args, **_more):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(wizard.pictures, "text", broken)
    async with interview(engine=REAL) as (app, pilot):
        text = await press(app, pilot, "f6")
        assert "cannot be drawn: RuntimeError: on purpose" in text
        assert "Help" in await press(app, pilot, "f1")


async def test_words_filter_the_lines_of_the_design():
    async with interview() as (app, pilot):
        await press(app, pilot, "f4", "slash")
        text = await type_text(app, pilot, "spine full")
        assert "The spine is nearly full." in text
        assert "InfiniBand NDR" not in text
        text = await press(app, pilot, "escape")
        assert "Chosen:" in text


async def test_words_filter_the_answers_of_the_review():
    async with interview() as (app, pilot):
        await press(app, pilot, "f7", "slash")
        text = await type_text(app, pilot, "electricity")
        assert "Electricity" in text
        assert "Optimizer" not in text
