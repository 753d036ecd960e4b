"""Small rules and random rulesets for the tests of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.engine import Evaluation, compile_rules, evaluate
from rules.findings import Kind, Scalar, Stage, Strength
from rules.guidance.declare import CANDIDATE, Comparison, Rule, Scaled

if TYPE_CHECKING:
    from random import Random

NUMBERS = (0, 1, -1, 2, 3, 7, 8, 0.1, 0.2, 0.3, 0.1 + 0.2, 1e-5, 1e-7, -2.5e-9, 1e16, 1e20, 6.022e23, 2**53, 40.8, 79.6, 1 / 3, 100, 1000)
TEXTS = ("", "a", "ab", "abc", 'say "yes"', "it's", "back\\slash", "back\\", "naïve µs", "true", "1.0", "new\nline", "x" * 900)
OPERATORS = ("<", "<=", ">", ">=", "==", "!=")


def rule(name: str = "vram.sample", *when: Comparison, **changes: Any) -> Rule:
    """A rule of the VRAM stage that says "it fires" when all of `when` hold."""
    settings: dict[str, Any] = {
        "stage": Stage.VRAM,
        "kind": Kind.ASSUMPTION,
        "strength": Strength.ADVICE,
        "guidance": ("G1a.1",),
        "because": "it fires",
    }
    return Rule(id=name, when=when, **(settings | changes))


def random_rules(random: Random, rules: int, fields: int) -> list[Rule]:
    """Rules with 0 to 4 random comparisons over fields number0…, text0…, flag0…, chained over up to eight flags."""
    flags = [f"concluded{number}" for number in range(8)]
    made = []
    for number in range(rules):
        # A premise is written only by rules of lower flags, so chains are up to eight long and never circular.
        depth = random.randrange(9) if random.random() < 0.6 else 0
        premise = flags[depth - 1] if depth else CANDIDATE
        when = tuple(_comparison(random, fields) for _ in range(random.randrange(0 if depth else 1, 4)))
        writes = tuple(random.sample(flags[depth:], k=min(len(flags) - depth, random.randrange(3))))
        made.append(rule(f"vram.r{number:02}", *when, premise=premise, writes=writes, priority=random.choice((1, 50, 100, 100))))
    return made


def _comparison(random: Random, fields: int) -> Comparison:
    sort = random.choice(("number", "number", "number", "text", "flag"))
    left, other = f"{sort}{random.randrange(fields)}", f"{sort}{random.randrange(fields)}"
    sign = random.choice(OPERATORS if sort == "number" else ("==", "!="))
    if random.random() < 0.5:
        factor = random.choice((1.0, 1.0, 0.9, 1.25, 1e-6, 1024.0)) if sort == "number" else 1.0
        return Comparison(left, sign, Scaled(other, factor))
    return Comparison(left, sign, _value(random, sort))


def _value(random: Random, sort: str) -> Scalar:
    if sort == "number":
        return random.choice(NUMBERS) if random.random() < 0.7 else random.uniform(-1e3, 1e3) * 10 ** random.randrange(-8, 9)
    return random.choice(TEXTS) if sort == "text" else random.random() < 0.5


def random_fact(random: Random, fields: int) -> dict[str, Scalar]:
    """A fact over the fields of `random_rules`, from which about one field in twelve is missing."""
    names = [(sort, f"{sort}{number}") for sort in ("number", "text", "flag") for number in range(fields)]
    return {name: _value(random, sort) for sort, name in names if random.random() > 0.08}


def run(rules: list[Rule], fact: dict, *, strict: bool = True) -> Evaluation:
    return evaluate(compile_rules(rules).stage(Stage.VRAM), fact, strict=strict)


def fired(*rules: Rule, **fact: object) -> list[str]:
    return [step.rule_id for step in run(list(rules), fact).trace]


def fires(comparison: Comparison, **fact: object) -> bool:
    return fired(rule("vram.only", comparison), **fact) == ["vram.only"]
