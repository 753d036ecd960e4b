"""What stands in the report of a design, in the order in which a buyer reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.answer_fields import FIELDS
from rules.findings import Kind
from wizard.comparing import BY_ID, entries_of, price_of
from wizard.interview import load_interview
from wizard.preferences import currency, own_note
from wizard.report.blocks import Block, Heading, Items, Paragraph, PictureBlock, Table
from wizard.report.money import costs, delivery
from wizard.shown import value_text
from wizard.summary import addressee, figure_texts, short_money

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rules.advisor import Considered
    from rules.design import Design, Dissent
    from rules.findings import Finding

STAGES = {
    "vram": "Memory",
    "interconnect": "Interconnect",
    "fabric": "Fabric",
    "software": "Software",
    "storage_cpu": "Storage and CPU",
    "power": "Power and racks",
    "reliability": "Reliability",
    "money": "Money",
}
PICTURE_WIDTH = 96
COMPARED = ("gpus", "days", "price", "cost", "power", "racks")


def contents(design: Design, considered: Considered | None, meta: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of a report; pictures where the design was `considered` here."""
    blocks: list[Block] = [Heading(1, str(meta.get("name") or "Design of a GPU cluster"))]
    if meta.get("notes"):
        blocks.append(Paragraph(str(meta["notes"])))
    for part in (_summary, _conflicts, _answers):
        blocks += part(design)
    if considered is not None and design.figures is not None:
        blocks += _pictures(considered)
    blocks += _reasons(design)
    for title, rows in (("Warnings", _warnings(design)), ("What is assumed", _assumptions(design))):
        blocks += [Heading(2, title), Items(tuple(rows))] if rows else []
    blocks += [*_materials(design), *costs(design), *delivery(design)]
    blocks += [*_alternatives(design, considered), *_rejected(design), *_questions(design)]
    return [*blocks, *_grounds(design, meta)]


def _summary(design: Design) -> Iterable[Block]:
    yield Heading(2, "What it is")
    if design.figures is None:
        yield Paragraph("No design: nothing that the answers allow can be sized.", strong=True)
        return
    yield Paragraph(f"{design.name}. Plan: {design.plan}.")
    if not design.fits:
        yield Paragraph("This is the nearest candidate: it does not meet every answer.", strong=True)
    yield Items(tuple(figure_texts(design.figures)))
    if design.notices:
        yield Items(tuple(f"Note: {notice}." for notice in design.notices))
    if own_note():
        yield Paragraph(f"{own_note()[0].upper() + own_note()[1:]}.")


def _conflicts(design: Design) -> Iterable[Block]:
    if not design.conflicts:
        return
    yield Heading(2, "What cannot hold together")
    for conflict in design.conflicts:
        yield Paragraph(conflict.because, strong=True)
        if conflict.remedies:
            yield Items(tuple(f"Would help: {remedy.text}" for remedy in conflict.remedies))
    for found in design.conflict_sets:
        yield Paragraph(f"{found.sentence}.")
        yield Items(tuple(f"Smallest change of {change.key}: {change.text}" for change in found.changes))


def _answers(design: Design) -> Iterable[Block]:
    rows = []
    for key in (each.key for each in FIELDS if each.key in design.answers.values):
        value = design.answers.values[key]
        question = load_interview().question(key)
        label = question.label.strip() if question is not None else key
        rows.append((label, value_text(key, value), design.answers.provenance.get(key, "you"), key))
    yield Heading(2, "What was answered")
    if rows:
        yield Table(("question", "answer", "from", "name"), tuple(rows))
    else:
        yield Paragraph("Nothing was answered; everything is assumed.")


def _pictures(considered: Considered) -> Iterable[Block]:
    from wizard.pictures import PICTURES, svg, text

    yield Heading(2, "Pictures")
    for each in PICTURES:
        try:
            lines, drawn = text(each.id, considered, PICTURE_WIDTH), svg(each.id, considered)
        except Exception as error:  # one picture must not keep the report from being written
            yield Paragraph(f"{each.title}: cannot be drawn ({type(error).__name__}: {error}).")
            continue
        yield PictureBlock(f"{each.title}: {each.shows}", tuple(line.rstrip() for line in lines), drawn)


def _reasons(design: Design) -> Iterable[Block]:
    yield Heading(2, "Why it is as it is")
    for stage, title in STAGES.items():
        decided = [found for found in design.of_kind(Kind.DECISION) if found.stage.value == stage]
        if decided:
            yield Heading(3, title)
            yield Items(tuple(_reason(found) for found in decided))
    if design.reentries:
        yield Heading(3, "Sent back")
        yield Items(tuple(f"{each.edge}: {each.because}" for each in design.reentries))
    if design.dissents:
        yield Heading(3, "Where sources disagree")
        yield Items(tuple(_dissent(each) for each in design.dissents))


def _dissent(each: Dissent) -> str:
    return f"Taken: {each.taken} ({each.taken_source}), {each.because}. Other: {each.other} ({each.other_source})."


def _reason(found: Finding) -> str:
    name = found.decision.replace("_", " ").replace(".", ", ")
    value = f": {found.value}" if found.value else ""
    return f"{name}{value}. {found.because} [{', '.join([*found.guidance, found.rule])}]"


def _warnings(design: Design) -> list[str]:
    rows = []
    for found in design.of_kind(Kind.WARNING):
        todo = "; ".join(remedy.text for remedy in found.remedies) or (f"ask {addressee(found.to)}: {found.ask}" if found.ask else "")
        rows.append(f"{found.because}{f' What to do: {_ended(todo)}' if todo else ''} [{', '.join([*found.guidance, found.rule])}]")
    return rows


def _assumptions(design: Design) -> list[str]:
    return [f"{_assumed_label(each.key)}: {f'{each.value}, ' if each.value else ''}{_ended(each.because)}" for each in design.assumptions]


def _assumed_label(key: str) -> str:
    """Return what an assumption is about: the question's label, else the stage of the rule that assumes."""
    question = load_interview().question(key)
    if question is not None:
        return question.label.strip()
    stage, _, name = key.partition(".")
    return STAGES.get(stage) or f"{name} ({stage})".replace("_", " ")


def _ended(text: str) -> str:
    """Return a sentence that ends with one mark."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _materials(design: Design) -> Iterable[Block]:
    if not design.bom:
        return
    yield Heading(2, "What to buy")
    rows = []
    for line in design.bom:
        low, high = line.unit_low, line.unit_high if line.unit_high is not None else line.unit_low
        unit = "unknown" if low is None else _range(low, high or low)
        total = "unknown" if low is None else _range(low * line.quantity, (high or low) * line.quantity)
        kind = line.category.replace("_", " ")
        rows.append((f"{line.quantity:,}", line.name, kind, unit, total, line.date, line.source, line.confidence))
    head = ("number", "part", "kind", "price of one", "price of all", "date of the price", "source of the price", "confidence")
    yield Table(head, tuple(rows), right=(0, 3, 4))
    unpriced = sum(line.unit_low is None for line in design.bom)
    if unpriced:
        yield Paragraph(
            f"{unpriced} of {len(design.bom)} lines {'has' if unpriced == 1 else 'have'} no known price; totals leave them out.",
            strong=True,
        )


def _range(low: float, high: float) -> str:
    first, last = short_money(low), short_money(high)
    return first if first == last else f"{first.removesuffix(f' {currency()}')}–{last}"


def _alternatives(design: Design, considered: Considered | None) -> Iterable[Block]:
    entries = entries_of(design, considered)
    good = [entry for entry in entries if entry.state != "rejected"]
    if len(good) < 2:
        return
    yield Heading(2, "What else would do")
    columns = [BY_ID[name] for name in COMPARED]
    rows = tuple((entry.name, *(entry.text(column) for column in columns), entry.state) for entry in good)
    yield Table(("candidate", *(column.title for column in columns), "state"), rows, right=tuple(range(1, len(columns) + 1)))
    yield Items(tuple(f"{entry.name} instead: {price_of(good[0], entry)}." for entry in good[1:4]))


def _rejected(design: Design) -> Iterable[Block]:
    rows = [each for each in design.rejected if each.kind == "rule"]
    if rows:
        yield Heading(2, "What will not do")
        yield Items(tuple(f"{each.name}: {each.because} [{each.rule}]" for each in rows))


def _questions(design: Design) -> Iterable[Block]:
    found = design.of_kind(Kind.QUESTION)
    if not found:
        return
    yield Heading(2, "Questions before buying")
    for vendor in dict.fromkeys(each.to for each in found):
        yield Heading(3, f"To {addressee(vendor)}")
        yield Items(tuple(_question(each) for each in found if each.to == vendor))


def _question(each: Finding) -> str:
    return f"{each.ask} A good answer: {_ended(each.good_answer)} Why: {each.because} [{', '.join(each.guidance)}]"


def _grounds(design: Design, meta: Mapping[str, Any]) -> Iterable[Block]:
    """Yield what the report rests on: versions, and the statements of the guidance that it names."""
    from rules.guidance.statements import STATEMENTS

    yield Heading(2, "What it rests on")
    rows = [
        (label, str(meta[key]))
        for key, label in (("created", "made"), ("tool_version", "version"), ("catalog_hash", "catalog"), ("rules_hash", "rules"))
        if meta.get(key)
    ]
    if rows:
        yield Table(("what", "which"), tuple(rows))
    named = sorted({statement for found in design.findings for statement in found.guidance})
    yield Items(tuple(f"{statement}: {STATEMENTS.get(statement, '')}" for statement in named))
