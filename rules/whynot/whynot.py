"""Why not X: what stood against it first, by how much, and the smallest change of one answer that would admit it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalogs.quantities import grouped
from rules.advisor import Considered, consider, fitting
from rules.answers import AnswerError
from rules.choice import behind_by
from rules.constraints import POLICY, SIZES, constraints, least_needed, relaxed
from rules.remedies import mend
from rules.smallest import DROPPED, OTHER_COST, SmallestChange, exception_to, smallest_change
from rules.whatif import with_changes
from rules.whynot.dividing import plan_changes
from rules.whynot.margins import Margin, margins_of
from rules.whynot.obstacles import MOST_OBSTACLES, PRODUCTS, Obstacle, by_answers, excluded_by, rules_of
from rules.whynot.plan_weighed import plan_obstacle
from rules.whynot.wishes import Wish, is_renting, wish_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.answers import Answers
    from rules.candidate import Candidate
    from rules.choice import Ranked

MOST_DESIGNS = 48
"""Designs that are made to find the smallest change; one takes a tenth of a second."""
_FIGURES = (
    ("ownership_usd", "cost of owning it", "USD"),
    ("purchase_usd", "purchase", "USD"),
    ("days", "time of the run", "days"),
    ("step_s", "step time", "s"),
    ("it_power_kw", "power", "kW"),
)
_WORK = (("usd_per_million_units", "cost of the work", "USD per million units"),)
"""What is shown first where candidates are ranked by it: a dearer server may do the work for less."""
OWN = "own_server.gpu"
DIGITS = 3
"""Digits of what candidates are ranked by; what is the same in them is level."""
NEGLIGIBLE = 0.0005
"""Figures that differ by less are the same."""
IMMERSION, RELEASED = "immersion", "facility.immersion_released"
"""Tanks, and the answer that names the servers which may go into one."""


@dataclass(frozen=True)
class WhyNot:
    """The answer. `chosen`: it is what the design has. `candidate` is what was looked at, "" where none could be made.

    `changes`: for each answer the smallest change that admits it alone; `together`: changes that do so all at once, where none does alone.
    """

    what: str
    kind: str
    chosen: bool
    candidate: str
    obstacles: tuple[Obstacle, ...]
    changes: tuple[SmallestChange, ...]
    together: tuple[SmallestChange, ...] = ()
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        row: dict[str, Any] = {"what": self.what, "kind": self.kind, "chosen": self.chosen, "candidate": self.candidate}
        row |= {"obstacles": [each.document() for each in self.obstacles], "changes": [each.document() for each in self.changes]}
        return row | {"together": [each.document() for each in self.together], "notes": list(self.notes)}


_OWN_ALONE = Obstacle("answers", OWN, "a server of your own is described, so that no other is weighed")


def why_not(considered: Considered, what: str, *, changes: bool = True) -> WhyNot:
    """Return why a design has not `what`: a GPU, a server, a vendor, a fabric, a kind of cooling, a plan, another answer, or renting.

    `changes`: look for the smallest change of each answer that would admit it, which takes a second or two. Raises NoSuchWishError
    where nothing is called that.
    """
    if is_renting(what):
        from rules.whynot.renting import not_rented

        return not_rented(considered)
    wish = wish_of(what, considered)
    ranking = considered.ranking
    chosen = ranking.chosen
    if chosen is not None and ranking.good and _has(wish, chosen.candidate):
        return WhyNot(wish.name, wish.kind, True, chosen.candidate.id, (), ())
    other = next((each for each in ranking.good or ranking.unproven if wish.met_by(each.candidate)), None)
    if other is not None and chosen is not None and other is not chosen and wish.kind not in ("plan", "answer"):
        lifted = _lifted(wish, considered) if changes else ()
        return WhyNot(wish.name, wish.kind, False, other.candidate.id, (_ranked_lower(other, chosen, considered),), lifted)
    excluded = (*excluded_by(wish, considered), *by_answers(wish, considered.context.answers))
    forced = _forced(wish, considered)
    if isinstance(forced, AnswerError):
        return WhyNot(wish.name, wish.kind, False, "", (*excluded, Obstacle("answers", forced.key, forced.message)), ())
    if wish.kind in PRODUCTS and considered.context.answers.given(OWN):
        return WhyNot(wish.name, wish.kind, False, "", (_OWN_ALONE,), (), _without_own(wish, forced) if changes else ())
    found = _nearest(wish, forced)
    if found is None:
        excluded = tuple(dict.fromkeys((*excluded, *excluded_by(wish, forced))))
        single = _changes(wish, considered, forced) if changes else ()
        together = _together(wish, forced, _in_the_way(excluded)) if changes and not single else ()
        obstacles = excluded if wish.kind in PRODUCTS and excluded else (*excluded, *_never(wish, forced))
        notes = _to_be_named(wish, excluded) if wish.kind not in PRODUCTS and (single or together) else ()
        return WhyNot(wish.name, wish.kind, False, "", obstacles, single, together, notes)
    obstacles = excluded + _obstacles(found.candidate, forced)
    if found in forced.ranking.unproven:
        obstacles += (_price_open(found, forced),)
    if found in forced.ranking.good and chosen is not None:
        met = chosen in (*ranking.good, *ranking.unproven)
        obstacles += (_ranked_lower(found, chosen, forced, met=met),) if wish.kind not in PRODUCTS or not excluded else ()
        notes = _beside(found, chosen, obstacles)
        together = _plan_given(wish, considered) if changes else ()
        return WhyNot(wish.name, wish.kind, False, found.candidate.id, obstacles, _lifted(wish, considered), together, notes)
    single = _changes(wish, considered, forced) if changes else ()
    together = (_together(wish, forced) or _together(wish, forced, _refusing(found.candidate))) if changes and not single else ()
    notes = _to_be_named(wish, excluded) if single or together else ()
    return WhyNot(wish.name, wish.kind, False, found.candidate.id, obstacles, single, together, notes)


def _has(wish: Wish, candidate: Candidate) -> bool:
    """Return whether a candidate is the wish; without a plan none has the one that was asked about."""
    if wish.had is not None:
        return wish.had
    return wish.met_by(candidate) and (wish.kind != "plan" or candidate.choice is not None)


def _to_be_named(wish: Wish, excluded: Sequence[Obstacle]) -> tuple[str, ...]:
    """Return that what is not weighed unasked must be asked for too, whatever else is changed."""
    if not excluded:
        return ()
    asked = [(key, ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)) for key, value in wish.changes.items()]
    if wish.kind in PRODUCTS:
        named = "; ".join(f"{key} = {shown}" for key, shown in asked if isinstance(wish.changes[key], tuple))
        return (f"it is weighed only where it is asked for; name it too: {named}",)
    return (f"beside that, ask for it: {'; '.join(f'{key} = {shown}' for key, shown in asked)}",)


def _in_the_way(excluded: Sequence[Obstacle]) -> list[str]:
    """Return the answers without which its products would be weighed: preferences, and a size in which none of them comes."""
    keys = [each.rule for each in excluded if each.kind == "answers"]
    return [*keys, *(SIZES if any(each.rule == "proposals.size" for each in excluded) else ())]


def _together(wish: Wish, forced: Considered, dropped: Sequence[str] = ()) -> tuple[SmallestChange, ...]:
    """Return changes that admit it together where none does alone: answers and policies `dropped`, and the remedies of all else."""
    before, catalog = forced.context.answers, forced.context.catalog
    given_up = [key for key in dropped if key not in wish.changes and (key.startswith(POLICY) or before.given(key))]
    try:
        mended = mend(relaxed(before, given_up), catalog)
    except AnswerError:
        return ()
    if not mended.after.fits or not (mended.applied or given_up):
        return ()
    again = consider(mended.after.answers, catalog).ranking.chosen
    if again is None or not wish.met_by(again.candidate):
        return ()
    last = {each.key: each for each in mended.applied}
    rows = [_given_up(key, before, again.candidate) for key in given_up if key not in last]
    return (*rows, *(SmallestChange(key, before.text(key), each.after, 0.0, each.text) for key, each in last.items()))


def _given_up(key: str, before: Answers, again: Candidate) -> SmallestChange:
    if key.startswith(POLICY):
        return exception_to(key)
    if key in SIZES:
        size = again.nodes if key == "scale.nodes" else again.gpus
        return SmallestChange(key, before.text(key), str(size), 0.0, f"ask for {size:,}: a size that it comes in")
    return SmallestChange(key, before.text(key), DROPPED, 0.0, "do without this answer")


def _refusing(candidate: Candidate) -> list[str]:
    """Return the policies of the site that reject a candidate, as constraints are named."""
    rules = dict.fromkeys(found.rule.partition(".")[2] for found in candidate.rejections)
    return [rule for rule in rules if rule.startswith(POLICY)]


def _forced(wish: Wish, considered: Considered) -> Considered | AnswerError:
    """Return what is weighed when the answers ask for the wish; the error where they cannot."""
    context = considered.context
    try:
        return consider(with_changes(context.answers, wish.changes, "what-if"), context.catalog)
    except AnswerError as error:
        return error


def _nearest(wish: Wish, forced: Considered) -> Ranked | None:
    ranking = forced.ranking
    return next((each for each in (*ranking.good, *ranking.unproven, *ranking.bad) if wish.met_by(each.candidate)), None)


def _never(wish: Wish, forced: Considered) -> tuple[Obstacle, ...]:
    """Return why nothing that was weighed is the wish, where no answer says so: no size works, or there is nothing to join or to cool."""
    ranking = forced.ranking
    if wish.name == IMMERSION:
        because = "no server that was weighed is released by its vendor for a tank, as far as the answers say"
        return (Obstacle("answers", RELEASED, f"{because}; name it there if it is"),)
    several = any(each.candidate.nodes > 1 for each in (*ranking.good, *ranking.unproven, *ranking.bad))
    if wish.kind == "fabric" and not several:
        return (Obstacle("search", "fabric.single_node", "a design of one server has no fabric between servers"),)
    if wish.kind == "plan" and ranking.chosen is not None:
        weighed = plan_obstacle(wish, ranking.chosen.candidate, forced.context)
        if weighed is not None:
            return (weighed,)
    rows = [each for each in forced.rejected if each.kind == "search"]
    if rows:
        return tuple(Obstacle("search", each.rule, f"{each.name}: {each.because}") for each in rows[:1])
    return (Obstacle("search", "proposals.none", f"no candidate that the other answers allow has it: {wish.name}"),)


def _obstacles(candidate: Candidate, forced: Considered) -> tuple[Obstacle, ...]:
    """Return the rejections of a candidate in firing order, with their margins."""
    rules = rules_of(forced.context.answers)
    rows = []
    for found in candidate.rejections[:MOST_OBSTACLES]:
        margins = margins_of(rules[found.rule], candidate.facts[found.stage]) if found.rule in rules else ()
        rows.append(Obstacle("rule", found.rule, found.because, margins))
    if not rows and candidate.choice is None:
        rows.append(Obstacle("search", "plans.none", "no parallel plan of the search fits this size"))
    return tuple(rows)


def _price_open(found: Ranked, forced: Considered) -> Obstacle:
    """Return that nothing stands against it but its price, which nobody knows."""
    budget = forced.context.answers.text("budget.purchase")
    because = f"no price is known for {found.candidate.node.name}, so nothing proves that it is within the budget of {budget}"
    return Obstacle("ranking", "choice.budget_unproven", f"{because}; a quote under budget.own_prices would")


def _ranked_lower(other: Ranked, chosen: Ranked, weighed: Considered, *, met: bool = True) -> Obstacle:
    """Return that it would do but ranks lower, and by how much it is behind; `met` says whether the design meets every answer."""
    everyone = (*weighed.ranking.good, *weighed.ranking.unproven)
    mine, best = (float(f"{each.worth:.{DIGITS}g}") for each in (other, chosen))
    level, before = mine == best, mine < best
    place = f"as number {everyone.index(other) + 1} of {len(everyone)}" if other in everyone and chosen in everyone else "behind it"
    because = f"it meets every answer and ranks {place} by {chosen.measure}"
    if other in everyone and chosen in everyone:
        why = "" if other.apart and not chosen.apart else behind_by(other, chosen, weighed.context)
        because += f": {why}" if why else ""
    else:
        same = other.measure == chosen.measure and not other.apart
        if same and level:
            because = f"it meets every other answer and is level with the design by {chosen.measure}"
        elif same and before:
            because = f"it meets every other answer and would come before the design by {chosen.measure}, were it asked for"
    if not met:
        because = "it meets every answer, which the design does not; it is weighed only where it is asked for"
    if other.apart and not chosen.apart:
        because += "; its price is unknown, so it cannot come first"
    return Obstacle("ranking", "choice.objective", because, _between(other, chosen))


def _between(other: Ranked, chosen: Ranked) -> tuple[Margin, ...]:
    rows = []
    for name, label, unit in (*(_WORK if chosen.measure == other.measure == _WORK[0][1] else ()), *_FIGURES):
        mine, best = getattr(other.figures, name), getattr(chosen.figures, name)
        if mine and best and abs(mine / best - 1.0) >= NEGLIGIBLE:
            rows.append(Margin(label, f"{grouped(mine)} {unit}", f"{grouped(best)} {unit}", mine / best - 1.0))
    return tuple(rows)


def _beside(found: Ranked, chosen: Ranked, obstacles: tuple[Obstacle, ...]) -> tuple[str, ...]:
    """Return how it compares with the design, where no obstacle says so."""
    if any(each.kind == "ranking" for each in obstacles):
        return ()
    return tuple(f"beside the design: {each.text}" for each in _between(found, chosen))


def _without_own(wish: Wish, forced: Considered) -> tuple[SmallestChange, ...]:
    """Return that the server of one's own is given up, where the wish then meets every other answer."""
    answers, catalog = forced.context.answers, forced.context.catalog
    keys = [key for key in answers.values if key.startswith(OWN.partition(".")[0])]
    good = consider(with_changes(answers, dict.fromkeys(keys), "what-if"), catalog).ranking.good
    if not any(wish.met_by(each.candidate) for each in good):
        return ()
    return tuple(SmallestChange(key, answers.text(key), DROPPED, 0.0, "do without a server of your own") for key in keys)


def _plan_given(wish: Wish, considered: Considered) -> tuple[SmallestChange, ...]:
    """Return the answers that together ask for a plan, where the design then has it: of the plan alone, else of servers and size too."""
    answers = considered.context.answers
    plan = {key: value for key, value in wish.changes.items() if key.startswith("parallelism.")} if wish.kind == "plan" else {}
    for values in (plan, dict(wish.changes)) if plan else ():
        chosen = consider(with_changes(answers, values, "what-if"), considered.context.catalog).ranking.chosen
        if chosen is not None and chosen.candidate.choice is not None and wish.met_by(chosen.candidate):
            return tuple(_asked_for(key, value, answers, "ask for this plan") for key, value in values.items())
    return ()


def _lifted(wish: Wish, considered: Considered) -> tuple[SmallestChange, ...]:
    """Return the answers that ask for it, where it would meet all others; of a cooling that is not taken beside others, it alone."""
    answers = considered.context.answers
    if wish.kind == "plan":
        return ()
    asked = [wish.changes, *([dict.fromkeys(wish.changes, (wish.name,))] if wish.kind == "cooling" else [])]
    for changes in asked:
        chosen = consider(with_changes(answers, changes, "what-if"), considered.context.catalog).ranking.chosen
        if chosen is not None and wish.met_by(chosen.candidate):
            return tuple(_asked_for(key, value, answers) for key, value in changes.items())
    return ()


def _asked_for(key: str, value: object, answers: Answers, text: str = "") -> SmallestChange:
    shown = ", ".join(value) if isinstance(value, tuple) else str(value)
    return SmallestChange(key, answers.text(key), shown, 0.0 if text else 1.0, text or "ask for it; it meets every other answer")


def _further(wish: Wish, considered: Considered, forced: Considered) -> tuple[SmallestChange, ...]:
    """Return changes of answers that limit nothing and may admit it all the same.

    A server for the tank, a budget that is left open, a number of GPUs that a plan divides, what makes its data-parallel ranks.
    """
    answers, rows = forced.context.answers, []
    chosen = considered.ranking.chosen
    if wish.kind == "plan" and chosen is not None:
        return plan_changes(wish, chosen.candidate)
    if wish.name == IMMERSION and chosen is not None:
        text = "name the server, if its vendor releases it for tanks"
        rows.append(SmallestChange(RELEASED, answers.text(RELEASED), chosen.candidate.node.id, OTHER_COST, text))
    if any(wish.met_by(each.candidate) for each in forced.ranking.unproven):
        key = "budget.purchase"
        rows.append(SmallestChange(key, answers.text(key), DROPPED, OTHER_COST, "leave it open until a quote says what it costs"))
    return tuple(rows)


def _changes(wish: Wish, considered: Considered, forced: Considered) -> tuple[SmallestChange, ...]:
    """Return for each answer that binds the smallest change after which the wish meets every answer, the cheapest first."""
    asked = forced.context.answers
    catalog = considered.context.catalog
    spent = 0

    def admits(answers: Answers) -> bool:
        nonlocal spent
        spent += 1
        if spent > MOST_DESIGNS:
            return False
        wanted = wish.met_by if wish.kind in PRODUCTS else (lambda _: True)
        return any(wish.met_by(each.candidate) for each in fitting(answers, catalog, wanted))

    rows = [each for each in _further(wish, considered, forced) if admits(with_changes(asked, each.changes))]
    for each in constraints(asked):
        if each.key in wish.changes or each.key in {row.key for row in rows}:
            continue
        if each.key.startswith(POLICY):
            rows += [exception_to(each.key)] if admits(relaxed(asked, [each.key])) else []
            continue
        change = smallest_change(asked, each.key, admits, guess=least_needed(asked, catalog, each.key))
        if change is not None:
            rows.append(change)
    return tuple(sorted(rows, key=lambda each: (each.cost, each.key)))
