"""Help in words: a question's, a line's of the design, and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from wizard.glyphs import sign
from wizard.interview import load_interview
from wizard.shown import answered
from wizard.teaching import lessons
from wizard.tui.actions import actions_of
from wizard.tui.widgets.step_bar import step_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from catalogs.schema import Threshold
    from rules.guidance.declare import Rule
    from wizard.interview import Question
    from wizard.tui.row import Row
    from wizard.work import Work

RESET = (
    "a program that is killed cannot put the terminal right. Where it shows odd characters, or not what you type, "
    "type reset and press Enter; your answers are offered at the next start."
)


def help_text(question: Question | None, work: Work, scope: str, *, warm: bool) -> Content:
    """Return help on a question where one is focused, how far the steps are, and the keys. `warm` says that the rules are loaded."""
    lines = [*(_question(question, work, warm=warm) if question is not None else ()), *_steps(work), Content.styled("Keys", "bold")]
    lines += [
        Content.assemble((f"  {action.all_keys:<18}", "$text-accent"), f"{action.title}. ", (action.text, "$foreground-muted"))
        for action in actions_of(scope)
        if action.all_keys
    ]
    lines += [Content(""), _line("If it was killed", RESET)]
    return Content("\n").join(lines)


def _steps(work: Work) -> Iterable[Content]:
    """Say how much of each step is answered; every question may stay open."""
    yield Content.styled("Steps", "bold")
    interview = load_interview()
    for step in interview.steps:
        state = step_state(interview, work.session, step, work.step, work.visited)
        yield Content.assemble(f"  {sign(state)} {step.title:<18}", (answered(interview, work.session, step.id), "$foreground-muted"))
    signs = f"  {sign('done')} seen or answered  {sign('here')} here  {sign('open')} not seen yet  {sign('wrong')} something is not valid"
    yield Content.styled(signs, "$foreground-muted")
    yield Content("")


def _question(question: Question, work: Work, *, warm: bool) -> Iterable[Content]:
    yield Content.styled(question.ask, "bold")
    yield Content("")
    for label, text in lessons(question, work.design, warm=warm):
        yield _line(label, text)
    yield Content("")


def _line(label: str, text: str) -> Content:
    return Content.assemble((f"{label}: ", "bold"), text)


def behind_text(row: Row, catalog: Catalog | None) -> Content:
    """Return what stands behind a line: the sentence, the numbers, then the rule with its guidance and sources."""
    lines = list(row.behind)
    if row.rule:
        lines += [Content(""), *_rule(row, catalog)]
    return Content("\n").join(lines)


def _rule(row: Row, catalog: Catalog | None) -> Iterable[Content]:
    from rules.cases import all_rules
    from rules.guidance.statements import STATEMENTS

    rule = all_rules().get(row.rule)
    yield Content.assemble(("Rule: ", "bold"), row.rule)
    for statement in row.guidance or (rule.guidance if rule is not None else ()):
        yield Content.assemble((f"  {statement}  ", "$text-accent"), STATEMENTS.get(statement, ""))
    if rule is not None:
        yield from _sources(rule, catalog)


def _sources(rule: Rule, catalog: Catalog | None) -> Iterable[Content]:
    if catalog is None:
        return
    ids = list(rule.sources)
    for name in rule.thresholds:
        threshold = catalog.thresholds.get(name)
        if threshold is not None:
            yield Content.assemble(("  limit  ", "$text-accent"), f"{name}: {threshold_text(threshold)}")
            ids.append(threshold.source)
    for each in dict.fromkeys(ids):
        source = catalog.sources.get(each)
        yield Content.assemble(("  source  ", "$text-accent"), f"{getattr(source, 'title', '')} [{each}]" if source is not None else each)


def threshold_text(threshold: Threshold) -> str:
    """Return a threshold as its number, and under which condition it concludes what."""
    numbers = {"": threshold.value, **threshold.values} if threshold.value is not None else dict(threshold.values)
    shown = ", ".join(f"{name.replace('_', ' ')} {value} {threshold.unit}".strip() for name, value in numbers.items())
    return f"{shown} ({threshold.condition}: {threshold.conclusion})"
