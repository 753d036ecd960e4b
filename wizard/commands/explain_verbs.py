"""`explain DESIGN why|why-not|what-if|conflicts|uncertain …`: the questions beside "how"."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from wizard.cli import GOOD, WRONG, narrate, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rules.advisor import Considered
    from rules.conflicts import Conflicts
    from rules.smallest import SmallestChange
    from rules.whynot.obstacles import Obstacle

WIDTH = 100
NEAREST_RULES = 12
"""Rules and values that `why` lists; the rest is counted."""


def why(considered: Considered, words: list[str], *, as_json: bool) -> int:
    """Say why an answer is asked for: which rules and values rest on it, and what changes if it is unknown."""
    from rules.answers import UNKNOWN, field_of
    from rules.whatif import what_if
    from wizard.interview import load_interview
    from wizard.reach import reach_of

    if len(words) != 1:
        return _wrong("why needs the key of an answer, such as: why facility.rack_power")
    key = words[0]
    field_of(key)
    question = load_interview().question(key)
    reach, answers = reach_of(key), considered.context.answers
    fired = {said.rule.id for each in considered.judged for said in each.candidate.said}
    unknown = what_if(answers, considered.context.catalog, {key: UNKNOWN})
    row: dict[str, Any] = {
        "answer": key,
        "value": answers.text(key),
        "given": answers.given(key),
        "ask": question.ask if question else "",
        "why": question.why if question else "",
        "rules": [{"rule": rule, "fired": rule in fired} for rule in reach.rules],
        "values": list(reach.sections),
        "if_unknown": unknown.document(),
    }
    if as_json:
        print_json(row)
        return GOOD
    said = f"{key} = {row['value'] or 'not answered'}" + ("" if row["given"] or not row["value"] else " (assumed)")
    print(said)
    _wrapped([row["ask"], row["why"]], "  ")
    _some("rules that rest on it", [f"{rule}{' (fired)' if rule in fired else ''}" for rule in reach.rules])
    _some("values of the design that rest on it", reach.sections)
    print("if it were unknown:")
    _compared(unknown.comparison)
    return GOOD


def _some(title: str, names: Iterable[str]) -> None:
    listed = list(names)
    more = f" and {len(listed) - NEAREST_RULES} more" if len(listed) > NEAREST_RULES else ""
    print(f"{title}: {len(listed)}")
    _wrapped([", ".join(listed[:NEAREST_RULES]) + more], "  ")


def why_not(considered: Considered, words: list[str], *, as_json: bool) -> int:
    """Say why the design has not something else."""
    from rules.whynot.whynot import why_not as explain
    from rules.whynot.wishes import NoSuchWishError

    if not words:
        return _wrong("why-not needs a GPU, a server, a fabric, a cooling, a plan or an answer, such as: why-not liquid cooling")
    try:
        found = explain(considered, " ".join(words))
    except NoSuchWishError as error:
        return _wrong(str(error))
    if as_json:
        print_json(found.document())
        return GOOD
    if found.chosen:
        print(f"{found.what}: it is what the design has")
        return GOOD
    print(f"{found.what} ({found.kind})" + (f", looked at as {found.candidate}" if found.candidate else ""))
    for each in found.obstacles:
        _obstacle(each)
    _changes("smallest change that admits it", found.changes)
    _changes("changes that admit it together", found.together)
    if not found.chosen and not found.changes and not found.together:
        print("no change was found that admits it: neither of one answer nor what the remedies ask for together")
    _wrapped(found.notes, "  ")
    return GOOD


def _obstacle(each: Obstacle) -> None:
    print(f"  {each.kind} {each.rule}")
    _wrapped([each.because], "      ")
    for margin in each.margins:
        print(f"      {margin.text}")


def what_if(considered: Considered, words: list[str], *, as_json: bool) -> int:
    """Show the design beside that of changed answers."""
    from rules.explain import ground_of
    from rules.whatif import what_if as compare

    pairs = [word.partition("=") for word in words]
    if not pairs or any(not separator or not key.strip() for key, separator, _ in pairs):
        return _wrong("what-if needs KEY=VALUE, such as: what-if scale.nodes=16; KEY= takes an answer away")
    changes = {key.strip(): value.strip() or None for key, _, value in pairs}
    if len(changes) < len(pairs):
        keys = [key.strip() for key, _, _ in pairs]
        return _wrong(f"what-if has {next(key for key in keys if keys.count(key) > 1)} twice; an answer has one value")
    found = compare(considered.context.answers, considered.context.catalog, changes, base=ground_of(considered).design)
    if as_json:
        print_json({"changes": changes, "comparison": found.document()})
    else:
        _compared(found.comparison)
    return GOOD


def _compared(comparison: Any) -> None:
    from rules.comparison.text import comparison_lines

    print("\n".join(comparison_lines(comparison, ("now", "then"), WIDTH)))


def conflicts(considered: Considered, words: list[str], *, as_json: bool) -> int:
    """Name the smallest sets of answers that cannot hold together, and what would help."""
    from rules.conflicts import find_conflicts

    if words:
        return _wrong("conflicts takes no further words")
    heard: list[str] = []

    def told(so_far: Conflicts) -> None:
        """Say on stderr which sets there are as soon as they are known: their smallest changes take longer."""
        if not heard:
            heard.extend(each.sentence for each in so_far.sets)
            for sentence in heard:
                narrate(f"found: {sentence}")
            narrate("looking for the smallest change of each answer …")

    found = find_conflicts(considered.context.answers, considered.context.catalog, considered=considered, told=told)
    if as_json:
        print_json(found.document())
        return GOOD
    if not found.sets:
        print("no conflict: the design meets every answer")
    for each in found.sets:
        _wrapped([each.sentence], "", "    ")
        _changes("smallest change that helps", each.changes)
        missing = [key for key in each.keys if key not in {change.key for change in each.changes}]
        _wrapped([f"no change of {key} alone was found among those that were tried" for key in missing], "    ")
    _changes("changes after which every answer holds", found.together)
    if not found.complete:
        print("not all combinations were tried: there may be further sets")
    return GOOD


def uncertain(considered: Considered, words: list[str], *, as_json: bool) -> int:
    """Name the ranges of the totals, then the unknown answers, prices and rates that could change the choice, the weightiest first."""
    from rules.doubts import totals_of
    from rules.uncertainty import WORTH_ASKING, doubts

    if words:
        return _wrong("uncertain takes no further words")
    found, chosen = doubts(considered), considered.ranking.chosen
    totals = totals_of(chosen) if chosen is not None else ()
    if as_json:
        rows = [vars(each) | {"text": each.text} for each in totals]
        print_json({"worth_asking": WORTH_ASKING, "totals": rows, "doubts": [each.document() for each in found]})
        return GOOD
    _wrapped(["; ".join(each.text for each in totals)], "", "    ")
    if not found:
        print("nothing that is unknown was found to change the choice")
    for number, each in enumerate(found, start=1):
        if number == WORTH_ASKING + 1:
            print("further:")
        _wrapped([f"{number}. {each.text}"], "", "   ")
    return GOOD


VERBS: dict[str, Callable[..., int]] = {
    "why": why,
    "why-not": why_not,
    "what-if": what_if,
    "conflicts": conflicts,
    "uncertain": uncertain,
}
"""By first word what is asked; any other word asks how it was concluded."""


def _changes(title: str, changes: Iterable[SmallestChange]) -> None:
    listed = list(changes)
    if listed:
        print(f"  {title}:")
    for each in listed:
        cost = f" (by {each.cost * 100:,.0f} %)" if each.cost and any(letter.isdigit() for letter in each.after[:1]) else ""
        _wrapped([f"{each.key} = {each.before or 'not answered'} → {each.after or 'not answered'}{cost}: {each.text}"], "    ", "        ")


def _wrapped(texts: Iterable[str], indent: str, more: str | None = None) -> None:
    for text in texts:
        if text:
            print(
                textwrap.fill(
                    text, WIDTH, initial_indent=indent, subsequent_indent=indent if more is None else more, break_long_words=False
                )
            )


def _wrong(message: str) -> int:
    narrate(f"cluster-wizard: explain: {message}")
    return WRONG
