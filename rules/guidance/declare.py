"""The form of a rule: declared data, compiled by `rules.engine` and readable by everything else.

`when` is a list of comparisons that all hold over one flat fact per candidate and stage. A comparison sets a field against a
constant, another field, or another field times a factor; `limit("threshold-id")` is a field whose value comes from the
catalog of thresholds. A rule may write derived flags: rules of the same stage build on one with `premise="flag"`, rules of
later stages read it as a boolean field of their fact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.findings import Kind, Scalar, Stage, Strength

CANDIDATE = "candidate"
OPERATORS = ("<", "<=", ">", ">=", "==", "!=")


class RuleError(ValueError):
    """A rule that is declared wrongly or failed while it fired; `rule` is its id."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"rule {rule}: {message}")
        self.rule, self.message = rule, message


@dataclass(frozen=True)
class Scaled:
    """Another field times a factor, the right side of a comparison."""

    field: str
    factor: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """`left operator right`; `left` is a field name, `right` a constant or a scaled field."""

    left: str
    operator: str
    right: Scalar | Scaled

    def holds(self, fact: Mapping[str, Scalar]) -> bool:
        """Evaluate without the engine: the meaning of a comparison, used by the tests' naive evaluator and by explanations."""
        if self.left not in fact:
            return False
        left = fact[self.left]
        right: Scalar
        if isinstance(self.right, Scaled):
            if self.right.field not in fact:
                return False
            other = fact[self.right.field]
            right = other if self.right.factor == 1.0 else float(other) * self.right.factor
        else:
            right = self.right
        if self.operator in ("==", "!="):
            numbers = all(isinstance(side, (int, float)) and not isinstance(side, bool) for side in (left, right))
            same = float(left) == float(right) if numbers else left == right
            return same is (self.operator == "==")
        left_number, right_number = float(left), float(right)
        return {
            "<": left_number < right_number,
            "<=": left_number <= right_number,
            ">": left_number > right_number,
            ">=": left_number >= right_number,
        }[self.operator]

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the fact fields that the comparison reads."""
        return (self.left, self.right.field) if isinstance(self.right, Scaled) else (self.left,)


class FieldName:
    """A fact field in a rule's `when`; comparing it makes a `Comparison`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, factor: float = 1.0) -> None:
        self.name, self.factor = name, factor

    def __mul__(self, factor: float) -> FieldName:
        return FieldName(self.name, self.factor * factor)

    def _compare(self, operator: str, other: FieldName | Scalar) -> Comparison:
        if self.factor != 1.0:
            raise ValueError(f"{self.name}: the factor belongs on the right side of a comparison")
        right = Scaled(other.name, other.factor) if isinstance(other, FieldName) else other
        return Comparison(self.name, operator, right)

    def __lt__(self, other: FieldName | Scalar) -> Comparison:
        return self._compare("<", other)

    def __le__(self, other: FieldName | Scalar) -> Comparison:
        return self._compare("<=", other)

    def __gt__(self, other: FieldName | Scalar) -> Comparison:
        return self._compare(">", other)

    def __ge__(self, other: FieldName | Scalar) -> Comparison:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> Comparison:  # type: ignore[override]
        return self._compare("==", other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Comparison:  # type: ignore[override]
        return self._compare("!=", other)  # type: ignore[arg-type]


class _Fields:
    """`F.memory_needed_low_gib` names a field of the stage's fact."""

    def __getattr__(self, name: str) -> FieldName:
        return FieldName(name)


F = _Fields()


def limit(threshold: str, value: str = "") -> FieldName:
    """Return the fact field that carries the number of `threshold` (or of its named `value`) from the catalog."""
    return FieldName(limit_field(threshold, value))


def limit_field(threshold: str, value: str = "") -> str:
    """Return the name of the fact field for a threshold's number: `limit_` and the id with underscores."""
    return "limit_" + "_".join(part.replace("-", "_").replace(".", "_") for part in (threshold, value) if part)


@dataclass(frozen=True)
class Fix:
    """A remedy as declared: set the answer `key` to `value`, a template over the fact; empty where the person must choose.

    It is offered only where every comparison of `when` holds, so that nothing is advised which cannot help. Figures in `value` are
    rounded up, since remedies raise limits; `lower` marks a value to come down to, which is rounded down.
    """

    key: str
    text: str
    value: str = ""
    when: tuple[Comparison, ...] = ()
    lower: bool = False


@dataclass(frozen=True)
class Ask:
    """A question to a vendor as declared; all texts are templates over the fact."""

    to: str
    ask: str
    good_answer: str


@dataclass(frozen=True)
class Rule:
    """One rule. `because` and the texts of `decides`, `fix` and `ask` are templates: `{memory_needed_low_gib}` prints as "62.1 GiB".

    `decides` is (what is decided, value template) for rules of kind decision. `thresholds` are ids of the catalog's
    thresholds that the rule applies (those in `limit(...)` are among them). `priority`: lower fires first within a stage.
    `sources` are those of what the rule states beside its thresholds; `judgement` says of a number that no source prints why it was taken.
    """

    id: str
    stage: Stage
    kind: Kind
    strength: Strength
    when: tuple[Comparison, ...]
    guidance: tuple[str, ...]
    because: str
    thresholds: tuple[str, ...] = ()
    premise: str = CANDIDATE
    writes: tuple[str, ...] = ()
    decides: tuple[str, str] | None = None
    fix: tuple[Fix, ...] = ()
    ask: Ask | None = None
    priority: int = 100
    sources: tuple[str, ...] = field(default=())
    judgement: str = ""

    @property
    def reads(self) -> tuple[str, ...]:
        """Return every fact field that the rule's conditions read, sorted."""
        return tuple(sorted({name for comparison in self.when for name in comparison.reads}))
