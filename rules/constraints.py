"""Answers as constraints: which of them a design must keep, and what the answers look like without one.

What is trained is the need; limits, sizes, preferences and parts of the plan are constraints. An assumption that binds (the hall has
air only, the run ends within a quarter of a year) is one too. To relax a constraint never takes a candidate away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.advisor import fitting
from rules.answer_fields import COOLING
from rules.answers import field_of
from rules.findings import Kind
from rules.guidance.declare import Scaled
from rules.pruning import MOST_CANDIDATES
from rules.render import value_text
from rules.scale import deadline_counts, size_given
from rules.whatif import with_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from catalogs import Catalog
    from rules.answers import Answers
    from rules.candidate import Candidate
    from rules.policies import Policy

ORIGIN = "what-if"
LIMITS = (
    "budget.purchase",
    "facility.total_power",
    "facility.racks",
    "facility.rack_power",
    "facility.inlet_temperature",
    "facility.feed",
    "facility.circuits_per_rack",
    "facility.outlets_per_rack",
    "facility.rack_airflow",
    "facility.water_temperature",
    "facility.altitude",
    "facility.floor_load",
    "facility.delivery_weight",
    "facility.delivery_height",
    "facility.delivery_width",
    "facility.delivery_depth",
)
"""Limits of money and of the site: without an answer nothing is limited, or the usual is assumed."""
OWN_SERVER = ("own_server.cpu_cores", "own_server.memory", "own_server.supply_rating", "own_server.nic_lanes")
"""What a server of one's own has too little of: without an answer it is not known, and asked instead of refused."""
PREFERENCES = (
    "preferences.vendors",
    "preferences.gpus",
    "preferences.nodes",
    "preferences.fabric",
    "preferences.oversubscription",
    "preferences.storage",
    "training.precision",
    "software.framework",
)
"""Answers that rule products or techniques out; without an answer any is taken."""
PLAN = tuple(f"parallelism.{part}" for part in ("tensor", "pipeline", "context", "expert", "zero_stage", "micro_batch", "recompute"))
SIZES = ("scale.nodes", "scale.gpus")
POLICY = "policy."
"""What the key of a policy of the site begins with; it binds like an answer."""
DEADLINE, COOLING_KEY, MODE = "scale.deadline", "facility.cooling", "scale.mode"


@dataclass(frozen=True)
class Constraint:
    """An answer that binds; `assumed` where nobody gave it."""

    key: str
    value: str
    assumed: bool = False


def constraints(answers: Answers) -> tuple[Constraint, ...]:
    """Return the constraints that the answers state, and the assumptions that bind like one, in the order of the questions."""
    keys = [key for key in (*LIMITS, *PREFERENCES, *SIZES) if answers.given(key) and answers.text(key) != "any"]
    if answers.given("own_server.gpu"):
        keys += [key for key in OWN_SERVER if answers.given(key)]
    if answers.text("parallelism.mode") != "automatic" or not answers.given("parallelism.mode"):
        keys += [key for key in PLAN if answers.given(key)]
    if deadline_counts(answers):
        keys.append(DEADLINE)
    if set(answers.names(COOLING_KEY)) != set(COOLING):
        keys.append(COOLING_KEY)
    order = {key: number for number, key in enumerate(_ORDER)}
    rows = [Constraint(key, answers.text(key), not answers.given(key)) for key in sorted(keys, key=order.__getitem__)]
    rejecting = [policy for policy in answers.policies if policy.rule.kind is Kind.REJECT]
    return (*rows, *(Constraint(f"{POLICY}{policy.id}", _refused(policy)) for policy in rejecting))


def _refused(policy: Policy) -> str:
    """Return what a policy refuses, by its comparisons: its message is about one candidate, a constraint about all."""
    parts = []
    for each in policy.rule.when:
        right = f"{each.right.field} × {each.right.factor:g}" if isinstance(each.right, Scaled) else value_text(each.left, each.right)
        parts.append(f"{each.left} {'=' if each.operator == '==' else each.operator} {right}")
    return f"refuses {' and '.join(parts)}"


_ORDER = (DEADLINE, *SIZES, *PLAN, "budget.purchase", *LIMITS[1:], COOLING_KEY, *OWN_SERVER, *PREFERENCES)


def relaxed(answers: Answers, keys: Collection[str]) -> Answers:
    """Return answers that no longer state the constraints `keys`; where the size is one, the assumed deadline does not take its place."""
    dropped = {key.removeprefix(POLICY) for key in keys if key.startswith(POLICY)}
    if dropped:
        answers = answers.with_policies(policy for policy in answers.policies if policy.id not in dropped)
    changes: dict[str, object] = {key: None for key in keys if key in answers.values}
    if DEADLINE in keys:
        changes[DEADLINE] = f"{field_of(DEADLINE).maximum:g} days"
    if COOLING_KEY in keys:
        changes[COOLING_KEY] = COOLING
    by_budget = answers.text(MODE) == "budget" and "budget.purchase" in keys
    by_size = answers.text(MODE) == "fixed" and not any(answers.given(key) and key not in keys for key in SIZES)
    if answers.given(MODE) and (by_budget or (by_size and size_given(answers))):
        changes[MODE] = None
    left = with_changes(answers, changes, ORIGIN)
    if deadline_counts(left) and not deadline_counts(answers):
        left = with_changes(left, {DEADLINE: f"{field_of(DEADLINE).maximum:g} days"}, ORIGIN)
    return left


def sizes_open(answers: Answers, left: Answers) -> Iterator[Answers]:
    """Yield `left`, in which the size of `answers` was given up, at that size and at half of it.

    A size by deadline is the smallest in time, and that one may be refused as too small where a larger one is not.
    """
    for key in SIZES:
        number = answers.count(key)
        if number and answers.given(key) and not size_given(left):
            for size in dict.fromkeys((number, number // 2)):
                if size:
                    yield with_changes(left, {key: size}, ORIGIN)


def keeping(answers: Answers, all_: Sequence[Constraint], keys: Collection[str]) -> Answers:
    """Return answers in which of all constraints only `keys` stand."""
    return relaxed(answers, [each.key for each in all_ if each.key not in keys])


NEEDED: dict[str, str] = {
    "budget.purchase": "purchase_low_usd",
    "facility.total_power": "total_power_kw",
    "facility.racks": "racks",
}
"""By limit, the key figure that must not exceed it."""


def least_needed(answers: Answers, catalog: Catalog, key: str, wanted: Callable[[Candidate], bool] = lambda _: True) -> float | None:
    """Return the least that any candidate needs of a limit when it is not limited, None where that is no key figure or nothing fits."""
    if key not in NEEDED:
        return None
    found = (getattr(each.figures, NEEDED[key]) for each in fitting(relaxed(answers, [key]), catalog, wanted))
    return min((value for value in found if value is not None), default=None)


LARGE = 32_768
"""GPUs that make a candidate twice the work of a small one: sizing takes the longer the larger it is."""


class Oracle:
    """Says whether answers can be met, remembers what it said, and counts what it took in ordinary designs of 24 small candidates."""

    def __init__(self, catalog: Catalog, most: int) -> None:
        self.catalog, self.most, self.asked = catalog, most, 0
        self._known: dict[tuple[tuple[str, str], ...], bool] = {}

    def fits(self, answers: Answers) -> bool:
        """Return whether some candidate meets every answer."""
        key = _key(answers)
        if key not in self._known:
            self._known[key] = next(fitting(answers, self.catalog, self._counted()), None) is not None
        return self._known[key]

    def _counted(self) -> Callable[[Candidate], bool]:
        """Return what lets every candidate be judged and counts it; each question counts as one design at least."""
        work, before = 0.0, self.asked

        def judged(candidate: Candidate) -> bool:
            nonlocal work
            work += (1.0 + candidate.gpus / LARGE) / MOST_CANDIDATES
            self.asked = before + max(1, round(work))
            return True

        self.asked += 1
        return judged

    def knows(self, answers: Answers, fits: bool) -> None:
        """Remember what was found out otherwise."""
        self._known[_key(answers)] = fits

    def least_needed(self, answers: Answers, key: str) -> float | None:
        """Return the least that any candidate needs of a limit, as the function of that name; it is counted."""
        if key not in NEEDED:
            return None
        return least_needed(answers, self.catalog, key, self._counted())

    def allow(self, more: int) -> None:
        """Let so much more be asked from here on, however much was asked before."""
        self.most = self.asked + more

    @property
    def spent(self) -> bool:
        """Return whether as much was asked as may be."""
        return self.asked >= self.most


def _key(answers: Answers) -> tuple[tuple[str, str], ...]:
    values = [(name, str(value)) for name, value in answers.values.items()]
    return (*sorted(values), *((POLICY, policy.id) for policy in answers.policies))
