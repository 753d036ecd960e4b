"""The pages of a finished design as rows: what a line says, and what stands behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from rules.findings import Kind, Remedy
from wizard.interview import load_interview
from wizard.summary import figure_texts, short_money
from wizard.tui.figures import STAGE_NAMES, section_rows
from wizard.tui.glyphs import sign

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rules.design import Design
    from rules.findings import Finding
    from rules.sizing.results import BomLine

REJECTED_BY = {
    "rule": "Rejected by a rule",
    "search": "No parallel plan fits",
    "dominated": "Another candidate is better in every respect",
    "answers": "Left out by your answers",
}


@dataclass(frozen=True)
class Row:
    """A line of a page. `behind` is what Enter shows; a heading has nothing behind it and cannot be chosen."""

    text: Content
    title: str = ""
    behind: tuple[Content, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    rule: str = ""
    guidance: tuple[str, ...] = ()

    @property
    def is_heading(self) -> bool:
        """Return whether the row only structures the page."""
        return not self.title


def heading(text: str, note: str = "") -> Row:
    """Return a heading."""
    return Row(Content.assemble((text, "bold $text-accent"), (f"  {note}" if note else "", "$foreground-muted")))


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
    return Row(text, f"{label}: {value}" if found.value else label, tuple(_behind(found)), found.remedies, found.rule, found.guidance)


def decision_label(decision: str) -> str:
    """Return a decision's dotted name as words: "fabric.compute.technology" becomes "Fabric, compute technology"."""
    first, _, rest = decision.replace("_", " ").partition(".")
    return f"{first.capitalize()}, {rest.replace('.', ' ')}" if rest else first.capitalize()


def _behind(found: Finding) -> Iterable[Content]:
    yield Content(found.because)
    if found.numbers:
        yield Content("")
        yield Content.assemble(("Numbers it rests on", "bold"))
        for name, value in found.numbers.items():
            yield Content.assemble((f"  {name.replace('_', ' '):<34} ", "$foreground-muted"), value)
    if found.ask:
        yield Content("")
        yield Content.assemble((f"Ask the {found.to}: " if found.to else "Check: ", "bold"), found.ask)
    if found.good_answer:
        yield Content.assemble(("A good answer: ", "bold"), found.good_answer)


def reasons(design: Design) -> list[Row]:
    """Return conflicts first, then warnings, then every decision by stage."""
    rows: list[Row] = []
    if design.conflicts:
        rows += [heading(f"{sign('conflict')} Conflicts", "the design may be saved all the same"), *map(finding_row, design.conflicts)]
    if design.notices:
        rows.append(heading(f"{sign('warning')} What the design rests on"))
        rows += [
            Row(Content.assemble((f" {sign('warning')} ", "$text-warning"), each), "What it rests on", (Content(each),))
            for each in design.notices
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


def alternatives(design: Design) -> list[Row]:
    """Return the candidates that would do as well, in rank order, with how they compare."""
    if not design.alternatives:
        return [heading("No other candidate meets every answer", "the page Rejected says why")]
    rows = [heading("Would do as well", "in rank order; compared with the chosen one")]
    for each in design.alternatives:
        apart = "  price unknown, ranked apart" if each.apart else ""
        text = Content.assemble((f" {each.rank:>2}  ", "bold"), (each.name, "bold"), (apart, "$text-warning"), f"\n{each.because}")
        figures = [Content(f"  {line}") for line in figure_texts(each.figures)]
        rows.append(
            Row(text, each.name, (Content.assemble((each.plan, "$foreground-muted")), Content(each.because), Content(""), *figures))
        )
    return rows


def rejected(design: Design) -> list[Row]:
    """Return the candidates that will not do, by what rejected them."""
    rows: list[Row] = []
    kind = ""
    for each in design.rejected:
        if each.kind != kind:
            kind = each.kind
            rows.append(heading(REJECTED_BY.get(kind, kind)))
        text = Content.assemble(
            (f" {sign('conflict')} ", "$text-error"), (each.name, "bold"), f"  {each.because}", (f"  {each.rule}", "$foreground-muted")
        )
        numbers = [
            Content.assemble((f"  {name.replace('_', ' '):<34} ", "$foreground-muted"), value) for name, value in each.numbers.items()
        ]
        rows.append(Row(text, each.name, (Content(each.because), Content(""), *numbers), rule=each.rule if each.kind == "rule" else ""))
    return rows or [heading("No candidate was rejected")]


def assumed(design: Design) -> list[Row]:
    """Return every assumption with its reason."""
    rows = [heading("Assumed", "answer the question, or confirm the value, to make the design certain")]
    interview = load_interview()
    for each in design.assumptions:
        question = interview.question(each.key)
        label = question.label.strip() if question is not None else decision_label(each.key)
        value = (f"{each.value}  ", "") if each.value else ("", "")
        text = Content.assemble(f" {sign('assumed')} ", (f"{label}: ", "bold"), value, (each.because, "$foreground-muted"))
        answer = (Remedy(each.key, "", f"answer “{label}”"),) if question is not None else ()
        rows.append(Row(text, label, (Content.styled(each.value, "bold"), Content(each.because)), answer, each.rule))
    return rows


def parts(design: Design) -> list[Row]:
    """Return the bill of materials by category, each line with its price or that it is unknown."""
    rows: list[Row] = []
    for category in dict.fromkeys(line.category for line in design.bom):
        rows.append(heading(category.replace("_", " ").capitalize()))
        rows += [_part_row(line) for line in design.bom if line.category == category]
    return rows or [heading("Nothing to buy yet")]


def _part_row(line: BomLine) -> Row:
    price = "price unknown"
    if line.unit_low is not None:
        high = line.unit_high if line.unit_high is not None else line.unit_low
        low_text, high_text = short_money(line.unit_low * line.quantity), short_money(high * line.quantity)
        price = low_text if low_text == high_text else f"{low_text.removesuffix(' USD')}–{high_text}"
    text = Content.assemble((f" {line.quantity:>7,} {sign('times')} ", "bold"), line.name, ("   " + price, "$foreground-muted"))
    facts = section_rows({key: value for key, value in vars(line).items() if value not in (None, "")})
    return Row(text, line.name, tuple(Content.assemble((f"{name:<14} ", "$foreground-muted"), value) for name, value in facts))


def numbers(design: Design) -> list[Row]:
    """Return every figure of every section."""
    rows: list[Row] = []
    for name, section in design.sections.items():
        facts = section_rows(section)
        if facts:
            rows.append(heading(decision_label(name)))
            rows += [
                Row(Content.assemble((f"   {key:<32} ", "$foreground-muted"), value), f"{decision_label(name)}: {key}", (Content(value),))
                for key, value in facts
            ]
    return rows or [heading("Nothing was sized yet")]


def questions(design: Design) -> list[Row]:
    """Return the questions for vendors, by whom to ask."""
    found = design.of_kind(Kind.QUESTION)
    rows: list[Row] = []
    for vendor in dict.fromkeys(each.to for each in found):
        mine = [each for each in found if each.to == vendor]
        rows.append(heading(f"To the {vendor}", f"{len(mine)} question{'s' if len(mine) > 1 else ''}"))
        for each in mine:
            text = Content.assemble(
                (f" {sign('question')} ", "bold"), each.ask, ("\na good answer: ", "$foreground-muted"), each.good_answer
            )
            rows.append(Row(text, f"To the {vendor}", tuple(_behind(each)), (), each.rule, each.guidance))
    return rows or [heading("No questions yet")]


PAGES: Mapping[str, tuple[str, Callable[[Design], list[Row]]]] = {
    "reasons": ("Design", reasons),
    "alternatives": ("Alternatives", alternatives),
    "rejected": ("Rejected", rejected),
    "assumed": ("Assumed", assumed),
    "parts": ("Parts", parts),
    "numbers": ("Numbers", numbers),
    "questions": ("Questions", questions),
}
"""The pages by id: title and the function that makes its rows."""
