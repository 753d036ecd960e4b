"""The design in a few lines: for the live strip, and for the pane beside the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from catalogs.sums import plain_sum
from rules.counting import counted
from rules.findings import Kind, Stage
from wizard.changes import answers_changed, figures_changed, reasons, stages_changed
from wizard.glyphs import sign
from wizard.preferences import currency, written
from wizard.shown import in_labels
from wizard.summary import bounded, places_text, purchase_text, short_days, short_money, short_power, short_time
from wizard.tui.bars import legend, stacked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.design import Design, Figures
    from rules.findings import Finding
    from wizard.work import Work

STAGE_NAMES = {
    Stage.VRAM: "Memory",
    Stage.INTERCONNECT: "Interconnect",
    Stage.FABRIC: "Fabric",
    Stage.SOFTWARE: "Software",
    Stage.STORAGE_CPU: "Storage, CPU",
    Stage.POWER: "Power",
    Stage.RELIABILITY: "Reliability",
    Stage.MONEY: "Money",
}
GAP = "  "
NOTICE_LINES = 2


def count_texts(design: Design) -> list[tuple[str, str]]:
    """Return how many conflicts, warnings, assumptions and questions there are, each with its sign and style."""
    rows = (
        ("conflict", "conflict", len(design.conflicts), "bold $text-error"),
        ("warning", "warning", len(design.of_kind(Kind.WARNING)), "$text-warning"),
        ("assumed", "assumption", len(design.assumptions), ""),
        ("question", "question", len(design.of_kind(Kind.QUESTION)), ""),
    )
    shown = [(f"{sign(mark)} {counted(number, word)}", style if number else "") for mark, word, number, style in rows]
    if design.failures:
        shown.append((f"{sign('conflict')} {counted(len(design.failures), 'rule')} failed", "bold $text-error"))
    return shown if design.conflicts else [(f"{sign('holds')} no conflict", "$text-success"), *shown[1:]]


def live_lines(work: Work, width: int) -> list[Content]:
    """Return the three lines of the live strip; of the figures, those that fit into `width`."""
    design = work.design
    if design is None:
        return [Content("there is no design yet" if work.error else "the design is being worked out …"), Content(""), Content("")]
    if design.figures is None:
        head = Content.assemble((f"{sign('conflict')} no design: nothing that the answers allow can be sized", "bold $text-error"))
        return [head, Content(""), _counts(work, design)]
    nearest = "" if design.fits else "nearest: "
    head = Content.assemble((nearest + design.name, "bold"), GAP, (design.plan, "$foreground-muted"))
    return [head, Content.assemble(*_spaced(_fitting(_figures(design, design.figures), width))), _counts(work, design)]


def _fitting(pieces: Mapping[str, tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """Return the figures without those that a reader misses least, until the line fits."""
    kept = dict(pieces)
    for name in ("mfu", "step"):
        if sum(len(text) + len(GAP) for text, _ in kept.values()) - len(GAP) > width:
            kept.pop(name, None)
    return list(kept.values())


def _counts(work: Work, design: Design) -> Content:
    tail: list[str | tuple[str, str]] = []
    if work.error:  # first, and whether there was a conflict before says nothing about the answers now
        return Content.assemble(*_spaced([(f"{sign('conflict')} not up to date", "bold $text-error"), *count_texts(design)[1:]]))
    if not work.current:
        tail = [GAP, ("working …", "italic $foreground-muted")]
    return Content.assemble(*_spaced(count_texts(design)), *tail)


def _spaced(pieces: list[tuple[str, str]]) -> list[str | tuple[str, str]]:
    rows: list[str | tuple[str, str]] = []
    for number, piece in enumerate(pieces):
        rows += [GAP, piece] if number else [piece]
    return rows


def _figures(design: Design, figures: Figures) -> dict[str, tuple[str, str]]:
    """Return the key figures by name; those with a limit beside it, and a sign before it where the limit is passed."""
    answers, rows = design.answers, {}
    if figures.memory_gib and figures.memory_capacity_gib:
        texts = written(f"{figures.memory_gib:.3g}"), written(f"{figures.memory_capacity_gib:.3g} GiB")
        rows["memory"] = _limited(texts[0], figures.memory_gib, figures.memory_capacity_gib, texts[1], "/")
    if figures.step_s is not None:
        rows["step"] = (f"step {short_time(figures.step_s)}", "")
    if figures.mfu:
        rows["mfu"] = (f"MFU {figures.mfu:.0%}", "")
    if figures.days is not None:
        limit = answers.number("scale.deadline") if answers.text("scale.mode") == "deadline" else None
        rows["days"] = _limited(short_days(figures.days), figures.days, limit, short_days(limit) if limit else "")
    if figures.total_power_kw is not None:
        power = answers.number("facility.total_power")
        rows["power"] = _limited(short_power(figures.total_power_kw), figures.total_power_kw, power, short_power(power) if power else "")
    budget = answers.number("budget.purchase")
    if figures.purchase_usd is None:
        rows["price"] = ("price unknown", "")
    else:
        shown = purchase_text(figures, at_least=sign("at_least"))
        rows["price"] = _limited(shown, figures.purchase_usd, budget, short_money(budget) if budget else "")
    return rows


def _limited(shown: str, value: float, limit: float | None, limit_text: str, joint: str = " of ") -> tuple[str, str]:
    if not limit:
        return shown, ""
    passed = value > limit * (1 + 1e-9)
    unit = shown.rpartition(" ")[2]
    if limit_text.endswith(f" {unit}"):
        shown = shown.removesuffix(f" {unit}")
    return (f"{sign('conflict')} " if passed else "") + f"{shown}{joint}{limit_text}", "bold $text-error" if passed else ""


def conflict_lines(work: Work) -> list[Content]:
    """Return what must be seen: why there is no new design, or the first conflict and what would solve it; empty for neither."""
    if work.error:
        return [Content.assemble((f"{sign('conflict')} {in_labels(work.error)}", "bold $text-error"))]
    if work.design is None or not work.design.conflicts:
        return []
    first, more = work.design.conflicts[0], len(work.design.conflicts) - 1
    also = f"   (+{more} more: F4)" if more else ""
    lines = [Content.assemble((f"{sign('conflict')} CONFLICT  ", "bold $text-error"), first.because, (also, "$foreground-muted"))]
    fixes = f" {sign('separator')} ".join(remedy.text for remedy in first.remedies) or first.ask
    return [*lines, Content.assemble(("  Change one: ", "bold"), fixes)] if fixes else lines


def overview(design: Design, width: int, previous: Design | None = None) -> list[Content]:
    """Return the design on one page: choice, figures, where memory and time go, what each stage says."""
    if design.figures is None:
        return [Content.assemble((f"{sign('conflict')} No design", "bold $text-error")), *stage_lines(design, width)]
    figures = design.figures
    head = "Chosen" if design.fits else f"{sign('conflict')} Nearest, with conflicts"
    rows = [Content.assemble((f"{head}: ", "bold" if design.fits else "bold $text-error"), (design.name, "bold"))]
    rows += [Content.assemble(("  " + design.plan, "$foreground-muted"))]
    rows += [Content(f"  {line}") for line in money_and_time(design, figures)]
    rows += _last_change(previous, design, width)
    for notice in design.notices:
        rows += shortened(Content.assemble((f"{sign('warning')} ", "$text-warning"), notice), width)
    rows += [Content(""), *memory_bar(design, figures, width), *time_bar(design, figures, width)]
    return [*rows, Content(""), *stage_lines(design, width, previous)]


def _last_change(previous: Design | None, design: Design, width: int) -> list[Content]:
    """Return what the last answer changed, and why, in a few lines; empty where it changed nothing."""
    answered = answers_changed(previous.answers, design.answers) if previous is not None else ""
    if not answered or previous is None:
        return []
    rows = shortened(Content.assemble((f"{sign('changed')} last answer: ", "bold"), answered), width)
    changed = changes(previous, design)
    rows += shortened(Content.assemble("  ", (changed or "no key figure changed", "italic")), width)
    for lead, reason in reasons(previous, design)[:1]:
        rows += shortened(Content.assemble((f"  {lead} ", "$foreground-muted"), reason), width)
    return rows


def shortened(text: Content, width: int, most: int = NOTICE_LINES) -> list[Content]:
    """Return a text in at most `most` lines; the page of reasons has all of it."""
    lines = text.wrap(width)
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], (lines[most - 1] + " …").truncate(width, ellipsis=True)]


def money_and_time(design: Design, figures: Figures) -> list[str]:
    """Return price with its range, time, power and racks, in two lines."""
    is_open, at_least = figures.purchase_open, sign("at_least")
    money = purchase_text(figures, at_least=at_least)
    if figures.purchase_usd is not None and figures.purchase_low_usd and figures.purchase_high_usd:
        low, high = _bare(figures.purchase_low_usd), _bare(figures.purchase_high_usd)
        money += f" ({low}–{high})" if low != high else ""
    joint = f" {sign('separator')} "
    first = [money] + ([short_days(figures.days)] if figures.days is not None else [])
    second = [f"{short_power(figures.total_power_kw)} in all"] if figures.total_power_kw is not None else []
    second += [places_text(figures)] if figures.racks else []
    if figures.ownership_usd:
        owned = bounded(short_money(figures.ownership_usd), is_open=is_open, at_least=at_least)
        second.append(f"{owned} over {design.answers.text('budget.years')}")
    return [joint.join(part) for part in (first, second) if part]


def _bare(dollars: float) -> str:
    return short_money(dollars).removesuffix(f" {currency()}")


def changes(previous: Design | None, design: Design) -> str:
    """Return what the last answer changed in the key figures; "" for nothing."""
    return figures_changed(previous, design, sign("at_least"))


def memory_bar(design: Design, figures: Figures, width: int) -> list[Content]:
    """Return the memory per GPU by term, as a bar with its legend; empty where it is unknown."""
    terms, capacity = term_values(design, "memory", "terms", "GiB"), figures.memory_capacity_gib
    if not capacity or not figures.memory_gib:
        return []
    head = Content.assemble(("Memory per GPU", "bold"), written(f"  {figures.memory_gib:.1f} of {capacity:.1f} GiB"))
    return [head, stacked(terms, capacity, width), *legend(terms, capacity, "GiB", width)] if terms else [head]


def time_bar(design: Design, figures: Figures, width: int) -> list[Content]:
    """Return the step time by term, as a bar with its legend; empty where it is unknown."""
    terms = term_values(design, "performance", "step_parts", "s")
    if figures.step_s is None:
        return []
    utilization = f"   MFU {figures.mfu:.0%}" if figures.mfu else ""
    head = Content.assemble(("Step", "bold"), f"  {short_time(figures.step_s)}{utilization}")
    whole = plain_sum(terms.values())
    scale, unit = (1e3, "ms") if whole < 1 else (1.0, "s")
    scaled = {name: value * scale for name, value in terms.items()}
    return [head, stacked(terms, whole, width), *legend(scaled, whole * scale, unit, width)] if terms else [head]


def term_values(design: Design, section: str, table: str, unit: str) -> dict[str, float]:
    """Return the parts that a table of a section lists, in `unit`; empty where it has none."""
    from catalogs.quantities import QuantityError, magnitude

    terms = design.sections.get(section, {}).get(table)
    rows: dict[str, float] = {}
    for name, text in terms.items() if isinstance(terms, dict) else ():
        try:
            rows[str(name)] = magnitude(str(text), unit)
        except QuantityError:
            continue
    return rows


def stage_lines(design: Design, width: int, previous: Design | None = None) -> list[Content]:
    """Return, per stage in order, its verdict in one line: the worst finding, else what was decided; marked where it changed."""
    changed = stages_changed(previous, design)
    by_stage: dict[Stage, list[Finding]] = {stage: [] for stage in STAGE_NAMES}
    for found in design.findings:
        by_stage[found.stage].append(found)
    lines = [
        _stage_line(f"{number}{sign('changed') if stage.value in changed else ' '}", stage, found)
        for number, (stage, found) in enumerate(by_stage.items(), start=1)
    ]
    return [line.truncate(width, ellipsis=True) for line in lines]


def _stage_line(number: str, stage: Stage, found: list[Finding]) -> Content:
    head = f"{number}{STAGE_NAMES[stage]:<13}"
    for kind, mark, style in ((Kind.REJECT, "conflict", "bold $text-error"), (Kind.WARNING, "warning", "$text-warning")):
        those = [each for each in found if each.kind is kind]
        if those:
            noun = "conflict" if kind is Kind.REJECT else "warning"
            count = f"{counted(len(those), noun)}: " if len(those) > 1 else ""
            return Content.assemble(head, (sign(mark), style), f" {count}{those[0].because}")
    decided = [
        f"{each.decision.rpartition('.')[2].replace('_', ' ')}: {each.value}" for each in found if each.kind is Kind.DECISION and each.value
    ]
    text = "; ".join(decided) or ("nothing stands against it" if found else "")
    return Content.assemble(head, (sign("holds") if found else " ", "$text-success"), f" {text}")
