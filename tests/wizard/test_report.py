"""The report: everything that the design says, as Markdown and as a page; escaped, balanced and printable."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.assembly import assemble
from rules.findings import Kind
from tests.wizard.calls import call
from wizard.pictures import PICTURES
from wizard.report.blocks import Heading, Items, Paragraph, PictureBlock, Table
from wizard.report.contents import contents
from wizard.report.markdown import markdown
from wizard.report.money import amount
from wizard.report.page import page
from wizard.report.without_money import without_money

VOID = {"meta", "br", "hr", "img"}


class Balance(HTMLParser):
    """Counts what is open, and keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def weighed():
    answers = Answers.of({"model.preset": "llama-3.1-8b", "training.tokens": "200B", "scale.mode": "fixed", "scale.nodes": 4})
    considered = consider(answers, load_catalog())
    design = assemble(considered.context, considered.judged, considered.ranking, considered.rejected)
    return design, considered, contents(design, considered, {"name": "Four <nodes> & a | bar", "created": "2026-12-01"})


def plain(text: str) -> str:
    """Return text without what Markdown and wrapping add."""
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())


def test_every_reason_part_question_and_picture_is_in_both_forms(weighed):
    design, _, blocks = weighed
    parsed = Balance()
    parsed.feed(page(blocks))
    for text in (plain(markdown(blocks)), " ".join(" ".join(parsed.text).split())):
        for found in (*design.of_kind(Kind.DECISION), *design.of_kind(Kind.WARNING)):
            assert " ".join(found.because.split()) in text
        for found in design.of_kind(Kind.QUESTION):
            assert " ".join(found.ask.split()) in text
        for line in design.bom:
            assert " ".join(line.name.split()) in text
        for picture in PICTURES:
            assert f"{picture.title}: {picture.shows}" in text
        assert " cannot be drawn (" not in text
        assert "llama-3.1-8b" in text


def test_the_page_is_balanced_stands_alone_and_tells_pictures_apart(weighed):
    made = page(weighed[2])
    parsed = Balance()
    parsed.feed(made)
    assert parsed.open == []
    assert made.count("<svg") >= len(PICTURES)
    ids = re.findall(r'\bid="([^"]+)"', made)
    assert len(ids) == len(set(ids))
    assert not re.search(r'(src|href)="(https?:)?//', made.replace("http://www.w3.org", ""))
    assert "@media print" in made
    assert "prefers-color-scheme: dark" in made
    assert '<meta name="viewport"' in made
    chapters = re.findall(r'<li><a href="#([^"]+)">', made)
    assert len(chapters) > 6
    assert set(chapters) <= set(ids)
    assert len(re.findall(r'<svg role="img" aria-label="[^"]+"', made)) >= len(PICTURES)
    assert '<figure role="img"' not in made, "its text would be hidden from a screen reader"


def test_tables_name_their_columns_and_sentences_end_once(weighed):
    made = page(weighed[2])
    assert '<th scope="col"></th>' not in made
    words = plain(markdown(weighed[2]))
    sentences = [line for line in markdown(weighed[2]).splitlines() if line.startswith("- ")]
    assert [line for line in sentences if re.search(r"[?!.]\.( |$)", line)] == []
    assert not re.search(r"^- [a-z]+\.[a-z_]+: ", markdown(weighed[2]), re.MULTILINE), "a name of a key stands where words should"
    assert "ask server vendor" not in words


def table(blocks, *begins):
    return next(block for block in blocks if isinstance(block, Table) and block.head[: len(begins)] == begins)


def test_what_it_costs_and_when_it_is_there_stand_in_the_report(weighed):
    """Every total with its range, what it leaves out, what moves it, dated offers with source; no unknown time is told as none."""
    blocks = weighed[2]
    totals = {row[0]: row[1:] for row in table(blocks, "cost", "low").rows}
    assert {"the purchase, net", "owning it for 3 years", "a GPU-hour, used or not", "the run"} <= set(totals)
    assert any(isinstance(block, Items) and any(row.startswith("Left out of every total: ") for row in block.rows) for block in blocks)
    assert len(table(blocks, "input of the cost").rows) == 5
    assert all(date and source for _, _, date, source, _ in table(blocks, "offer").rows)
    bought = table(blocks, "number", "part")
    assert bought.head[-3:] == ("date of the price", "source of the price", "confidence")
    assert all(row[3] == "unknown" or (row[5] and row[6]) for row in bought.rows)
    (mounting,) = [row for row in table(blocks, "task").rows if row[0] == "mounting and cabling"]
    assert mounting[2:4] == ("unknown", "unknown")
    assert mounting[1].startswith("at least ")
    assert {row[3] for row in table(blocks, "task").rows if row[2] == "unknown"} == {"unknown"}


def test_amounts_keep_the_digits_that_matter():
    assert [amount(text) for text in ("4839257 USD", "3.637 USD/hour", "0.06274 USD", "unknown")] == [
        "4.84M USD",
        "3.64 USD",
        "0.0627 USD",
        "unknown",
    ]


def test_special_characters_are_text_and_nothing_else(weighed):
    blocks = [
        Heading(1, "a <b> & c"),
        Paragraph("1 * 2 | 3"),
        Items(("<script>",)),
        Table(("x|y",), (("`z`",),)),
        PictureBlock("t", ("<>",), "<svg></svg>"),
    ]
    made = page(blocks)
    assert "<script>" not in made
    assert "a &lt;b&gt; &amp; c" in made
    text = markdown(blocks)
    assert "1 \\* 2 \\| 3" in text
    assert "| x\\|y |" in text
    assert "\\<script\\>" in text


def test_pipes_in_cells_keep_the_tables_whole(weighed):
    lines = markdown(weighed[2]).splitlines()
    for number, line in enumerate(lines):
        if line.startswith("| ---"):
            width = len(re.findall(r"(?<!\\)\|", line))
            row = number + 1
            while row < len(lines) and lines[row].startswith("|"):
                assert len(re.findall(r"(?<!\\)\|", lines[row])) == width, lines[row]
                row += 1


SECRETS = {
    "budget.own_prices": ["nvidia-dgx-h200 = 383111 EUR"], "budget.exchange_rates": ["EUR = 1.0816"], "budget.tax": "19.7 %",
    "budget.staff": "417123 USD/year", "budget.interest": "5.43 %", "budget.purchase": "77.1M USD", "budget.support": "3.71 %",
}  # fmt: skip
MONEY = re.compile(r"\b(?:USD|EUR)\b|383,?111|1\.0816|19\.7 %|417,?123|5\.43 %|77\.1|3\.71 %|\bprice of (?:one|all)\b")


def test_a_report_to_show_to_others_tells_no_amount_and_all_else(weighed):
    answers = Answers.of({"model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-h200"], "scale.nodes": 4, **SECRETS})
    considered = consider(answers, load_catalog())
    design = assemble(considered.context, considered.judged, considered.ranking, considered.rejected)
    told = contents(design, None, {"name": "plan", "created": "2026-12-01"})
    assert len(MONEY.findall(markdown(told))) > 40
    shown = without_money(told)
    assert not MONEY.search(markdown(shown)), MONEY.search(markdown(shown))
    titles = [block.text for block in shown if isinstance(block, Heading)]
    assert not {"Money", "What it costs", "Renting instead", "At the end"} & set(titles)
    assert "When it is there" in titles
    (bought,) = [block for block in shown if isinstance(block, Table) and block.head[:3] == ("number", "part", "kind")]
    assert [row[1] for row in bought.rows] == [line.name for line in design.bom]
    pictures = {block.title for block in without_money(weighed[2]) if isinstance(block, PictureBlock)}
    gone = {block.title for block in weighed[2] if isinstance(block, PictureBlock)} - pictures
    assert any("money" in each.lower() for each in gone)
    assert any("memory" in each.lower() for each in pictures)


def test_the_command_writes_by_suffix_and_says_whether_it_fits(tmp_path):
    answers = tmp_path / "plan.toml"
    answers.write_text('[model]\npreset = "llama-3.1-8b"\n[scale]\nmode = "fixed"\nnodes = 1\n')
    assert call("report", answers, "-o", tmp_path / "r.md").code == 0
    assert (tmp_path / "r.md").read_text().startswith("# plan\n")
    assert call("report", answers, "-o", tmp_path / "r.html", "--no-pictures").code == 0
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert call("report", answers).out.startswith("# plan\n")
    assert "USD" not in call("report", answers, "--no-pictures", "--without-prices").out
    wrong = call("report", answers, "-o", tmp_path / "r.pdf")
    wrong.assert_one_message()
    answers.write_text('[model]\npreset = "llama-3.1-8b"\n[scale]\nmode = "fixed"\nnodes = 1\n[budget]\npurchase = "100 USD"\n')
    found = call("report", answers)
    assert found.code == 1
    assert "## What cannot hold together" in found.out
    assert "budget.purchase = 100 USD" in plain(found.out)
