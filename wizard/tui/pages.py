"""The pages of a finished design as rows: what a line says, and what stands behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from rules.counting import counted
from rules.findings import Kind, Remedy, Stage
from wizard.glyphs import sign
from wizard.interview import load_interview
from wizard.meanings import fact_meaning, section_meaning, value_words, words
from wizard.preferences import own_note
from wizard.shown import assumed_text
from wizard.summary import addressee
from wizard.tui.figures import STAGE_NAMES
from wizard.tui.parts import parts
from wizard.tui.row import Row, heading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rules.design import Design, Rejected
    from rules.findings import Finding

LIMIT = "limit_"
"""How the names of limits begin among the numbers of a finding."""
LABELLED = 50
"""Column at which the meanings of numbers begin."""
REJECTED_BY = {
    "rule": ("Rejected by a rule", "sized and judged; a limit does not hold"),
    "search": ("No size or parallel plan found", "the search ended without one that works"),
    "dominated": ("Judged no further", "a candidate much like it was preferred"),
    "answers": ("Left out by your answers", "change the answer to consider it"),
}
"""Headings of the rejected by kind, with what the kind means."""


def finding_row(found: Finding) -> Row:
    """Return a finding as a line; behind it the sentence, the figures, the rule and what to do."""
    mark, style = {
        Kind.REJECT: ("conflict", "bold $text-error"),
        Kind.WARNING: ("warning", "$text-warning"),
        Kind.DECISION: ("holds", "$text-success"),
        Kind.ASSUMPTION: ("assumed", ""),
        Kind.QUESTION: ("question", ""),
    }[found.kind]
    value = found.value or found.because
    label = decision_label(found.decision) if found.decision else STAGE_NAMES[found.stage]
    text = Content.assemble(
        (f" {sign(mark)} ", style), (f"{label}: ", "bold"), value, ("  " + " ".join(found.guidance), "$foreground-muted")
    )
    title = f"{label}: {value}" if found.value else label
    return Row(text, title, tuple(_behind(found)), found.remedies, found.rule, found.guidance, found.rule)


def decision_label(decision: str) -> str:
    """Return a decision's dotted name as words: "fabric.compute.technology" becomes "Fabric, compute technology"."""
    first, _, rest = decision.replace("_", " ").partition(".")
    return f"{first.capitalize()}, {rest.replace('.', ' ')}" if rest else first.capitalize()


def _behind(found: Finding) -> Iterable[Content]:
    yield Content(found.because)
    if any(not name.startswith(LIMIT) for name in found.numbers):
        yield Content("")
        yield Content.assemble(("Numbers it rests on", "bold"))
        yield from _numbers(found.numbers, found.stage)
    if found.ask:
        yield Content("")
        yield Content.assemble((f"Ask {addressee(found.to)}: " if found.to else "Check: ", "bold"), found.ask)
    if found.good_answer:
        yield Content.assemble(("A good answer: ", "bold"), found.good_answer)


def reasons(design: Design) -> list[Row]:
    """Return conflicts first, then warnings, then every decision by stage."""
    rows: list[Row] = []
    if design.conflicts:
        rows += [heading(f"{sign('conflict')} Conflicts", "the design may be saved all the same"), *map(finding_row, design.conflicts)]
        told = Content.assemble((" > ", "bold"), "Which answers cannot hold together, and what would help")
        rows.append(Row(told, "Conflicts", action="find_conflicts"))
        told = Content.assemble((" > ", "bold"), "Fix all: what the remedies would change, before and after")
        rows.append(Row(told, "Fix all", action="fix_all"))
    notices = [each for each in (*design.notices, own_note()) if each]
    if notices:
        rows.append(heading(f"{sign('warning')} What the design rests on"))
        rows += [
            Row(Content.assemble((f" {sign('warning')} ", "$text-warning"), each), "What it rests on", (Content(each),)) for each in notices
        ]
    warnings = design.of_kind(Kind.WARNING)
    if warnings:
        rows += [heading(f"{sign('warning')} Warnings", "Enter shows what to check or change"), *map(finding_row, warnings)]
    for stage, name in STAGE_NAMES.items():
        decided = [found for found in design.of_kind(Kind.DECISION) if found.stage is stage]
        if decided:
            rows += [heading(name), *map(finding_row, decided)]
    for failure in design.failures:
        rows.append(Row(Content.assemble((f" {sign('conflict')} ", "bold $text-error"), failure), "A rule failed", (Content(failure),)))
    for each in design.reentries:
        text = Content.assemble((" > ", ""), (f"{each.edge}: ", "bold"), each.because)
        rows += [] if rows and rows[-1].title.startswith("Sent back") else [heading("Sent back", "a later stage changed an earlier one")]
        rows.append(Row(text, f"Sent back: {each.edge}", (Content(each.because),)))
    return rows


def rejected(design: Design) -> list[Row]:
    """Return the candidates that will not do, by what rejected them."""
    rows: list[Row] = []
    for kind in dict.fromkeys([*REJECTED_BY, *(each.kind for each in design.rejected)]):
        mine = [each for each in design.rejected if each.kind == kind]
        if mine:
            title, note = REJECTED_BY.get(kind, (kind, ""))
            rows += [heading(title, f"({len(mine)}) {note}"), *map(_rejected_row, mine)]
    return rows or [heading("No candidate was rejected")]


def _rejected_row(each: Rejected) -> Row:
    text = Content.assemble((f" {sign('conflict')} ", "$text-error"), (each.name, "bold"), f"  {each.because}")
    by_rule = each.kind == "rule"
    behind = [Content(each.because)]
    if each.numbers:
        behind += [Content(""), *_numbers(each.numbers, _stage_of(each.rule))]
    return Row(text, each.name, tuple(behind), rule=each.rule if by_rule else "", product=each.name)


def _stage_of(rule: str) -> Stage | None:
    """Return the stage whose name begins a rule's id, None where none does."""
    name = rule.partition(".")[0]
    return next((stage for stage in Stage if stage.value == name), None)


def _numbers(found: Mapping[str, str], stage: Stage | None) -> Iterable[Content]:
    """Yield numbers with what they mean; limits are told with the rule, where their sources stand."""
    for name, value in ((name, value) for name, value in found.items() if not name.startswith(LIMIT)):
        meaning = fact_meaning(stage, name) if stage is not None else words(name)
        yield Content.assemble((f"  {meaning}: ", "$foreground-muted"), value_words(value))


def assumed(design: Design) -> list[Row]:
    """Return every assumption with its reason."""
    rows = [heading("Assumed", "answer the question, or confirm the value, to make the design certain")]
    rows.append(
        Row(
            Content.assemble((" > ", "bold"), "How far the design may be off for each, for prices and rates"),
            "Certainty",
            action="find_effects",
        )
    )
    interview = load_interview()
    for each in design.assumptions:
        question = interview.question(each.key)
        label = question.label.strip() if question is not None else decision_label(each.key)
        value = assumed_text(each.key, design) if question is not None else each.value
        text = Content.assemble(
            f" {sign('assumed')} ", (f"{label}: ", "bold"), f"{value}  " if value else "", (each.because, "$foreground-muted")
        )
        answer = (Remedy(each.key, "", f"answer “{label}”"),) if question is not None else ()
        rows.append(
            Row(text, label, (Content.styled(value, "bold"), Content(each.because)), answer, each.rule, subject=each.rule or each.key)
        )
    return rows


def numbers(design: Design, width: int = 78) -> list[Row]:
    """Return every figure of every section with what it means; meanings stand in the line where it stays within `width`."""
    rows: list[Row] = []
    products = {line.item: line.name for line in design.bom}
    for name, section in design.sections.items():
        facts = list(_figures(name, section))
        if facts:
            rows.append(heading(decision_label(name)))
            rows += [_number_row(name, *fact, products, width) for fact in facts]
    return rows or [heading("Nothing was sized yet")]


def _figures(prefix: str, section: Mapping[str, object], label: str = "") -> Iterable[tuple[str, str, object]]:
    """Yield key, label and value of a section; inner tables and lists are flattened."""
    for name, value in section.items():
        key = f"{prefix}.{name}"
        if isinstance(value, dict):
            yield from _figures(key, value, f"{label}{name}: ")
        elif isinstance(value, (list, tuple)):
            for number, each in enumerate(value):
                yield key, f"{label}{name}" if number == 0 else "", _told(each) if isinstance(each, dict) else each
        else:
            yield key, f"{label}{name}", value


def _told(table: Mapping[str, object]) -> str:
    """Return a table on one line, tables inside it in brackets."""
    parts = []
    for part, inner in table.items():
        shown = f"({_told(inner)})" if isinstance(inner, dict) else value_words(inner)
        parts.append(f"{words(str(part))} {shown}")
    return ", ".join(parts)


def _number_row(section: str, key: str, label: str, value: object, products: Mapping[str, str], width: int) -> Row:
    label = words(": ".join(products.get(part, part) for part in label.split(": ")))
    shown, meaning = products.get(str(value)) or value_words(value), section_meaning(key)
    text = Content.assemble((f"   {label:<30} ", "$foreground-muted"), shown)
    note = Content.styled(f"{' ' * max(2, LABELLED - text.cell_length)}{meaning}", "$foreground-muted")
    if meaning and text.cell_length + note.cell_length <= width:
        text += note
    behind = (Content(shown), *((Content.styled(meaning, "$foreground-muted"),) if meaning else ()))
    return Row(text, f"{decision_label(section)}: {label}".removesuffix(": "), behind, subject=key)


def questions(design: Design) -> list[Row]:
    """Return the questions for vendors, by whom to ask."""
    found = design.of_kind(Kind.QUESTION)
    rows: list[Row] = []
    for vendor in dict.fromkeys(each.to for each in found):
        mine = [each for each in found if each.to == vendor]
        rows.append(heading(f"To {addressee(vendor)}", counted(len(mine), "question")))
        for each in mine:
            text = Content.assemble(
                (f" {sign('question')} ", "bold"), each.ask, ("\na good answer: ", "$foreground-muted"), each.good_answer
            )
            rows.append(Row(text, f"To {addressee(vendor)}", tuple(_behind(each)), (), each.rule, each.guidance, each.rule))
    return rows or [heading("No questions yet")]


PAGES: Mapping[str, tuple[str, Callable[..., list[Row]]]] = {
    "reasons": ("Design", reasons),
    "rejected": ("Rejected", rejected),
    "assumed": ("Assumed", assumed),
    "parts": ("Parts", parts),
    "numbers": ("Numbers", numbers),
    "questions": ("Questions", questions),
}
"""The pages by id: title and the function that makes its rows."""
SIZED = ("parts", "numbers")
"""Pages with columns, whose rows depend on the width."""


COMPARE, LOOK = "compare", "look"
TABS: Mapping[str, str] = {
    "reasons": "Design", COMPARE: "Compare", **{id_: title for id_, (title, _) in PAGES.items() if id_ != "reasons"}, LOOK: "Look",
}  # fmt: skip
"""Every tab of the design in order, with its title: the pages, the comparison of candidates, the pictures."""


def tabs(here: str) -> Content:
    """Return the line of tabs; each can be clicked."""
    pieces = []
    for id_, title in TABS.items():
        style = "bold reverse" if id_ == here else "$foreground-muted"
        pieces.append(Content.styled(f" {title} ", style).stylize(Style.from_meta({"@click": f"app.click_tab('{id_}')"})))
    return Content("").join(pieces)


def only_matching(rows: Sequence[Row], words: str) -> list[Row]:
    """Return the rows that hold every word, with the headings that they stand under."""
    wanted, kept = words.lower().split(), list[Row]()
    above: Row | None = None
    for row in rows:
        if row.is_heading:
            above = row
        elif all(word in f"{row.title} {row.text.plain} {row.rule}".lower() for word in wanted):
            kept += [above, row] if above is not None else [row]
            above = None
    return kept or [heading("Nothing here holds these words", words)]


def page_rows(page: str, design: Design, width: int) -> list[Row]:
    """Return the rows of a page on a list of `width` columns."""
    make = PAGES[page][1]
    return make(design, width) if page in SIZED else make(design)
