"""Commands of plain mode that look at the design from the side: why not otherwise, candidates, pictures, the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rules.answers import shortened
from wizard.config import nearest
from wizard.files import FileError, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.whynot.whynot import WhyNot
    from wizard.plain.dialogue import Dialogue

WIDTH = 100
Found = TypeVar("Found")


def stoppable(dialogue: Dialogue, work: Callable[[], Found]) -> Found | None:
    """Return what long work finds; Ctrl+C stops it and not the conversation, and None is returned."""
    try:
        return work()
    except KeyboardInterrupt:
        dialogue.say("Stopped; nothing was changed.")
        return None


def why_not(dialogue: Dialogue, rest: str) -> None:
    """Say what stood against something else, by how much, and the smallest changes that admit it."""
    considered = dialogue.work.considered
    if not rest or considered is None:
        dialogue.say("Why not what? Write why-not and a GPU, a server, a fabric, a kind of cooling or a plan: why-not liquid.")
        return
    found = stoppable(dialogue, lambda: dialogue.adviser.why_not(considered, rest))
    if isinstance(found, str):
        dialogue.say(f"{found}.")
    elif found is not None:
        dialogue.say(*why_not_lines(found))


def why_not_lines(found: WhyNot) -> list[str]:
    """Return a "why not" as sentences."""
    if found.chosen:
        return [f"{found.what} is what the design has."]
    looked = f", looked at as {found.candidate}" if found.candidate else ""
    lines = [f"{found.what}{looked}:"]
    for each in found.obstacles:
        lines.append(f"  Against it: {each.because} ({each.rule or each.kind})")
        lines += [f"    {margin.text}" for margin in each.margins]
    lines += [f"  {note}" for note in found.notes]
    lines += [f"  This would admit it: {each.text} ({each.key})" for each in found.changes]
    lines += [f"  These would admit it together: {each.text} ({each.key})" for each in found.together]
    if not (found.changes or found.together):
        lines.append("  No change of an answer that was tried admits it.")
    return lines


def report(dialogue: Dialogue, rest: str) -> None:
    """Write the report to a file: a page where its name ends in .html, else Markdown."""
    from wizard.commands.report import SUFFIXES, report_text
    from wizard.report.contents import contents
    from wizard.versions import meta_of

    work, catalog = dialogue.work, dialogue.adviser.catalog
    if not rest or work.design is None or catalog is None:
        dialogue.say("Report where? Write report FILE.md or report FILE.html." if work.design is not None else "There is no design yet.")
        return
    path = Path(rest).expanduser()
    path = path if path.suffix.lower() in SUFFIXES else Path(f"{path}.md")
    try:
        blocks = contents(work.design, work.considered, meta_of(work.name, catalog, work.meta))
        write_atomically(path.absolute(), report_text(blocks, path.suffix.lower()))
    except FileError as error:
        dialogue.say(f"Not written: {error}.")
    else:
        dialogue.say(f"Wrote {path}.")


def compare(dialogue: Dialogue, rest: str) -> None:
    """Tell the candidates that pass a filter, each with its price against the chosen one."""
    from wizard.comparing import BY_ID, CHOSEN, FilterError, entries_of, matching, price_of

    work = dialogue.work
    if work.design is None:
        dialogue.say("There is no design yet.")
        return
    everyone = entries_of(work.design, work.considered)
    try:
        kept = matching(everyone, rest)
    except FilterError as error:
        dialogue.say(f"{error}.")
        return
    chosen = next((each for each in everyone if each.state == CHOSEN), None)
    for entry in kept:
        shown = ((BY_ID[name].title, entry.text(BY_ID[name], "at least")) for name in ("days", "price", "cost", "power", "racks"))
        figures = ", ".join(f"{title} {text.replace('?', 'unknown')}" for title, text in shown)
        against = f" Instead of the chosen one: {price_of(chosen, entry)}." if chosen is not None and entry.id != chosen.id else ""
        dialogue.say(f"{entry.name}, {entry.state}: {figures}.{against}")
    if not kept:
        dialogue.say("No candidate passes the filter.")


def look(dialogue: Dialogue, rest: str) -> None:
    """Draw a picture in plain characters, or list the pictures."""
    from wizard.pictures import PICTURES, text

    if dialogue.work.considered is None or dialogue.work.design is None or dialogue.work.design.figures is None:
        dialogue.say("There is nothing to draw yet.")
    elif rest not in {each.id for each in PICTURES}:
        dialogue.say(*([f"There is no picture {shortened(rest)!r}{nearest(rest, [each.id for each in PICTURES])}"] if rest else []))
        dialogue.say(*(f"  look {each.id}: {each.title}, {each.shows}" for each in PICTURES))
    else:
        dialogue.say(*text(rest, dialogue.work.considered, WIDTH, ascii=True))
