"""A small engine with known results, and the app around it, for the tests of the screens."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from rules.design import Alternative, Assumption, Design, Figures, Rejected
from rules.findings import Finding, Kind, Remedy, Stage, Strength
from rules.sizing.results import BomLine
from tests.screen_text import screen_text
from wizard.tui.app import WizardApp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

    from catalogs import Catalog
    from rules.answers import Answers
    from wizard.tui.screens.interview import InterviewScreen
    from wizard.tui.widgets.field_row import FieldRow

NARROW, WIDE, TINY = (80, 24), (120, 36), (60, 20)


def finding(kind: Kind, because: str, **more: Any) -> Finding:
    """Return a finding of the fabric stage."""
    return Finding("fabric.example", Stage.FABRIC, kind, Strength.STRONG, because, ("G2a.2",), **more)


def small_engine(answers: Answers, catalog: Catalog) -> Design:
    """Return a design of two servers; a purchase budget under 1M USD is a conflict, and `facility.region` "nowhere" breaks the engine."""
    if answers.text("facility.region") == "nowhere":
        raise RuntimeError("rule power.example failed on purpose")
    nodes = answers.count("scale.nodes") or 2
    budget = answers.number("budget.purchase")
    found = [
        finding(
            Kind.DECISION,
            "Each step moves 37 GB.",
            decision="fabric.compute.technology",
            value="InfiniBand NDR",
            numbers={"rate": "400 Gb/s"},
        ),
        finding(Kind.WARNING, "The spine is nearly full."),
        finding(Kind.QUESTION, "A slow fabric costs days.", ask="What bandwidth is reached?", to="network vendor", good_answer="340 GB/s"),
    ]
    if budget is not None and budget < 1e6:
        remedies = (Remedy("budget.purchase", "2M USD", "budget to 2M USD"), Remedy("scale.nodes", "", "fewer nodes"))
        found.append(finding(Kind.REJECT, "The budget buys one server; two are needed.", remedies=remedies))
    figures = Figures(
        8 * nodes, nodes, nodes, days=12.5, step_s=4.7, mfu=0.41, memory_gib=62.1, memory_capacity_gib=79.6,
        purchase_usd=7e5 * nodes, total_power_kw=21.0,
    )  # fmt: skip
    sections = {
        "memory": {"terms": {"parameters": "40 GiB", "activations": "20 GiB", "optimizer": "2.1 GiB"}},
        "performance": {"step_parts": {"products": "4 s", "pipeline_bubble": "0.7 s"}},
    }
    fits = not any(each.kind is Kind.REJECT for each in found)
    return Design(
        answers, catalog.version, "example", f"{nodes} × Example Server, {8 * nodes} GPUs", "TP8 PP1 DP2", fits, figures, sections,
        bom=(BomLine("example", "Example Server", "servers", nodes),),
        findings=tuple(found),
        assumptions=(Assumption("budget.years", "3 years", "a usual time"),),
        alternatives=(Alternative(2, "other", "2 × Other Server", "TP4", figures, "costs 9% more"),),
        rejected=(Rejected("third", "Third Server", "rule", "vram.example", "needs 141 GB, has 80 GB"),),
    )  # fmt: skip


@asynccontextmanager
async def wizard(
    size: tuple[int, int] = NARROW, file: str | None = None, engine: Any = small_engine
) -> AsyncIterator[tuple[WizardApp, Pilot[int]]]:
    """Run the wizard on a screen of `size`."""
    app = WizardApp(file, advise=engine)
    async with app.run_test(size=size) as pilot:
        await rest(app, pilot)
        yield app, pilot


@asynccontextmanager
async def interview(size: tuple[int, int] = NARROW, engine: Any = small_engine) -> AsyncIterator[tuple[WizardApp, Pilot[int]]]:
    """Run the wizard at the first question of a new design."""
    async with wizard(size, engine=engine) as (app, pilot):
        await pilot.press("enter")
        await rest(app, pilot)
        yield app, pilot


async def rest(app: WizardApp, pilot: Pilot[int]) -> None:
    """Wait until keys, timers and engine have come to rest."""
    for _ in range(200):
        await pilot.pause()
        await app.workers.wait_for_complete()
        await pilot.pause()
        if app.work.settled == app.work.generation and not app._solving:
            await pilot.pause()  # what came is painted after it came
            return
        await pilot.pause(0.02)
    raise AssertionError("the engine did not come to rest")


async def press(app: WizardApp, pilot: Pilot[int], *keys: str) -> str:
    """Press keys, wait, and return the screen as text."""
    await pilot.press(*keys)
    await rest(app, pilot)
    return screen_text(app)


async def type_text(app: WizardApp, pilot: Pilot[int], text: str) -> str:
    """Type text as a person does, and return the screen."""
    names = {" ": "space", ".": "full_stop", ",": "comma", "-": "minus", "/": "slash", "?": "question_mark"}
    return await press(app, pilot, *[names.get(letter, letter) for letter in text])


def row(app: WizardApp, key: str) -> FieldRow:
    """Return the row of a question on the interview screen."""
    screen: Any = next(screen for screen in app.screen_stack if hasattr(screen, "rows"))
    shown: InterviewScreen = screen
    return next(each for each in shown.rows() if each.key == key)
