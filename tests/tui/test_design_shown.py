"""What the finished design shows: lower bounds, parts, rejections, meanings, how it was concluded, and designs derived again."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.design import Rejected
from rules.sizing.results import BomLine
from tests.screen_text import screen_text
from tests.tui.support import WIDE, interview, press, rest, small_engine, wizard
from wizard.files import design_text
from wizard.kept import autosave_of
from wizard.session import Session
from wizard.summary import addressee, headline
from wizard.tui.figures import live_lines, money_and_time
from wizard.tui.keeping_app import KEEP_S
from wizard.tui.pages import page_rows
from wizard.tui.widgets.pointed_list import PointedList
from wizard.work import Work

BOM = (
    BomLine("server", "Example Server", "compute", 2, 300_000.0, 350_000.0, "2026-03", "quote", "high"),
    BomLine("switch", "Example Switch", "switch", 3, 10_000.0, 10_000.0, "2025", "list", "low"),
    BomLine("cable", "Example cable of a length that nobody would want to read to its very end", "cable", 160),
    BomLine("copper", "Copper", "cable", 4, 50.0, 50.0, "2026", "list", "medium"),
)


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture
def design(catalog):
    return replace(small_engine(Answers(), catalog), bom=BOM)


def test_whom_to_ask_reads_as_a_sentence():
    assert addressee("network vendor") == "the network vendor"
    assert addressee("your software team") == "your software team"


def plain(rows):
    return [each.text.plain for each in rows]


def test_a_purchase_that_leaves_parts_out_is_a_lower_bound_everywhere(design):
    whole = "\n".join(headline(design))
    assert "1.4M USD" in whole
    assert "≥" not in whole
    flagged = replace(design, figures=replace(design.figures, purchase_open=True))
    assert "≥ 1.4M USD" in "\n".join(headline(flagged))
    assert "≥ 1.4M USD" in money_and_time(flagged, flagged.figures)[0]
    assert "≥ 1.4M USD" in "\n".join(line.plain for line in live_lines(Work(Session(), design=flagged, settled=0), 78))


def test_the_parts_have_a_total_subtotals_and_columns(design):
    lines = plain(page_rows("parts", design, 78))
    # 2 × 300–350 k, 3 × 10 k and 4 × 50 USD are 630–730 k
    assert "≥ 630k–730k USD" in lines[0]
    assert "1 of 4 lines without a price" in lines[0]
    assert any(line.startswith("Compute  600k–700k USD") for line in lines)
    assert any(line.startswith("Cable  ≥ 200 USD") and "1 of 2 lines without a price" in line for line in lines)
    server = next(line for line in lines if "Example Server" in line)
    assert re.search(r"2 × Example Server +600k–700k USD +2026-03 +high", server)
    assert any(re.search(r"160 × Example cable .*… +price unknown", line) for line in lines)
    assert all(len(line) <= 78 for line in lines)


def test_rejections_stand_under_the_kind_that_they_are_of(design):
    found = (
        Rejected("a", "A", "dominated", "pruning.dominated", "judged no further beside B"),
        Rejected("b", "B", "rule", "power.liquid_missing", "needs liquid", {"node_count": "3"}),
        Rejected("c", "C", "search", "proposals.size", "no size meets the deadline"),
        Rejected("d", "D", "dominated", "pruning.dominated", "judged no further beside B"),
        Rejected("e", "E", "answers", "preferences.gpus", "only other GPUs are wanted"),
    )
    rows = page_rows("rejected", replace(design, rejected=found), 78)
    under: dict[str, list[str]] = {}
    for each in rows:
        if each.is_heading:
            under[each.text.plain] = here = []
        else:
            here.append(each.title)
    assert list(under.values()) == [["B"], ["C"], ["A", "D"], ["E"]]
    assert [head.split("  ")[0] for head in under] == [
        "Rejected by a rule",
        "No size or parallel plan found",
        "Judged no further",
        "Left out by your answers",
    ]
    assert "proposals.size" not in "".join(plain(rows))


def test_no_page_shows_codes_for_words(catalog):
    from rules.advisor import advise

    real = advise(Answers.of({"model.preset": "llama-3.1-8b", "training.tokens": "1T"}), catalog)
    for page in ("reasons", "rejected", "parts", "numbers", "assumed"):
        for row in page_rows(page, real, 78):
            shown = [row.text.plain, row.title, *(line.plain for line in row.behind)]
            codes = [code for text in shown for code in re.findall(r"\b[a-z]+_[a-z_]+\b", text)]
            assert not codes, (page, codes)
    reasons = page_rows("reasons", real, 78)
    fits = next(row for row in reasons if row.rule == "vram.fits")
    assert "expected peak on the fullest GPU: " in "\n".join(line.plain for line in fits.behind)


async def test_enter_on_a_line_says_how_it_was_concluded_down_to_answer_formula_and_source():
    async with interview(WIDE, engine=None) as (app, pilot):
        await press(app, pilot, "f4")
        rows = app.screen.query_one(PointedList)
        rows.highlighted = next(number for number, each in enumerate(rows.options) if (each.id or "").startswith("vram.fits|"))
        await pilot.press("enter")
        await rest(app, pilot)
        text = "".join(line.plain for line in app.screen._text.split("\n"))
        assert "How it was concluded" in text
        assert "being derived" not in text
        assert "guidance G" in text
        assert "rule " in text
        assert "answer " in text
        assert "catalog " in text
        assert "= " in text


async def test_a_saved_design_that_comes_out_otherwise_says_so(tmp_path, catalog):
    path = tmp_path / "eight.toml"
    meta = {"name": "eight", "catalog_hash": "another", "rules_hash": "another", "tool_version": "0"}
    text = design_text(small_engine(Answers.of({"scale.nodes": 8}), catalog), meta)
    path.write_text(text)
    async with wizard(file=str(path)) as (app, pilot):
        assert "derived again" not in screen_text(app)
    path.write_text(text.replace("days = 12.5", "days = 99.5", 1))
    async with wizard(file=str(path)) as (app, pilot):
        assert "derived again: 1 conclusion changed" in screen_text(app)
        assert any("the catalog changed" in each.message for each in app._notifications)
        text = await press(app, pilot, "f4")
        assert "Derived again: 1 conclusion changed" in text
        row = next(row for row in app.screen._rows.values() if row.title == "Derived again")
        assert "99.5 → 12.5" in "\n".join(line.plain for line in row.behind)


async def test_resume_opens_where_one_was_with_text_that_is_not_valid_yet():
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "pagedown", "pagedown", "tab")
        await pilot.press("5", "4", "space", "x")
        await pilot.pause(KEEP_S + 0.2)
        await rest(app, pilot)
    assert "54 x" in autosave_of(None).read_text()
    async with wizard() as (app, pilot):
        text = await press(app, pilot, "enter")
        assert "step 3 of 5" in text
        assert "✓ Workload" in text
        assert "54 x" in text
        assert app.work.session.draft_of("scale.deadline") == "54 x"
        assert app.focused.key == "scale.deadline"


async def test_an_invalid_text_alone_is_kept_too_and_goes_when_it_is_emptied():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab", "x")
        await pilot.pause(KEEP_S + 0.2)
        await rest(app, pilot)
        assert "scale.deadline" in autosave_of(None).read_text()
        await press(app, pilot, "backspace")
        await pilot.pause(KEEP_S + 0.2)
        await rest(app, pilot)
        assert not autosave_of(None).exists()


def test_an_autosave_with_a_broken_note_still_resumes(tmp_path):
    from wizard.kept import unfinished
    from wizard.work import resumed

    place = autosave_of(None)
    place.parent.mkdir(parents=True)
    place.write_text('# left at {"step": "nowhere", "drafts": {"no.key": "x"}, "visited": ["nowhere"]\n[answers.scale]\nnodes = 8\n')
    work = resumed(unfinished()[0])
    assert work.answers.values == {"scale.nodes": 8}
    assert work.step == ""
