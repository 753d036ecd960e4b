"""The smallest change of one answer after which something holds, and what such a change costs.

The cost says how far an answer moves: a number by the share of its change (10 kW to 12 kW costs 0.2, 10 kW to 5 kW costs 1, since half
is as far as double), anything else as much as doubling a number (1). It ranks changes; it is no money.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from catalogs.quantities import format_number
from rules.answer_fields import COOLING, FEEDS
from rules.answers import AnswerError, field_of
from rules.render import value_text
from rules.whatif import with_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rules.answers import Answers

OTHER_COST = 1.0
"""What a change costs that is no number: as much as doubling one."""
EXCEPTION_COST = 2.0
"""What an exception from a policy costs: others must agree to it."""
MOST_ASKED = 16
"""Answers that the search for one smallest change asks about; then the nearest that was found to help is taken."""
MOST_DOUBLINGS = 6
"""Sixty-four times as much is another wish; the search for a number that helps ends there."""
MOST_DOUBLINGS_TRAINED = 3
"""The same of what is trained: an eighth of it is another training. The farthest is asked about first, since it seldom helps."""
TRAINED = "training."
"""What the keys of the numbers begin with that say what is trained."""
WITHIN = 1.02
"""A smallest number is found to two percent; counts up to EXACT are exact."""
EXACT = 256
"""Up to so many a count is found to the last one: of thousands of GPUs nobody buys one more or less."""
DIGITS = 3
RAISED = (
    "scale.deadline", "budget.purchase", "facility.total_power", "facility.racks", "facility.rack_power", "training.global_batch",
    "facility.rack_airflow", "facility.floor_load", "facility.delivery_weight", "facility.delivery_height", "facility.delivery_width",
    "facility.delivery_depth", "facility.circuits_per_rack", "facility.outlets_per_rack",
    "own_server.cpu_cores", "own_server.memory", "own_server.supply_rating", "own_server.nic_lanes",
)  # fmt: skip
"""Numbers that help by being larger."""
LOWERED = ("training.tokens", "training.samples", "training.sequence_length", "facility.inlet_temperature", "facility.pue",
           "facility.water_temperature", "facility.altitude")  # fmt: skip
"""Numbers that help by being smaller."""
EITHER_WAY = ("scale.nodes", "scale.gpus", "preferences.oversubscription")
"""Numbers that may help by being larger or smaller; larger is looked at first."""
WHOLE_WORDS = ("day", "year", "hour", "minute", "second")
"""Units that are written out, and so have a plural."""
ENDED = "; less of a change may do: the search ended here"
"""What a change says that holds but was not closed in on."""
DROPPED = ""
"""The value of a change that takes an answer away."""


@dataclass(frozen=True)
class SmallestChange:
    """The smallest change of one answer that helps. `after` is "" where the answer is taken away; `cost` ranks it."""

    key: str
    before: str
    after: str
    cost: float
    text: str

    @property
    def changes(self) -> dict[str, Any]:
        """Return the change as `with_changes` takes it."""
        return {self.key: self.after or None}

    def document(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {"key": self.key, "before": self.before, "after": self.after, "cost": float(f"{self.cost:.3g}"), "text": self.text}


class _Asking:
    """Asks whether something holds after a change, at most MOST_ASKED times and not once `spent` says that no more may be asked."""

    def __init__(self, answers: Answers, holds: Callable[[Answers], bool], spent: Callable[[], bool]) -> None:
        self.answers, self._holds, self._spent, self._left = answers, holds, spent, MOST_ASKED

    @property
    def over(self) -> bool:
        """Return whether no more may be asked."""
        return self._left <= 0 or self._spent()

    def holds(self, change: SmallestChange) -> bool:
        """Return whether it holds after a change; not after one that is no valid answer, nor where no more may be asked."""
        if self.over:
            return False
        self._left -= 1
        try:
            return self._holds(with_changes(self.answers, change.changes, "what-if"))
        except AnswerError:
            return False


def smallest_change(
    answers: Answers,
    key: str,
    holds: Callable[[Answers], bool],
    *,
    guess: float | None = None,
    hint: float | None = None,
    spent: Callable[[], bool] = lambda: False,
) -> SmallestChange | None:
    """Return the smallest change of the answer `key` after which `holds`, None where none was found.

    `guess` is a number below which it surely does not hold; where it holds at the guess, nothing else is asked. `hint` is a number that
    may do, such as a remedy's: it is asked about first, and taken where just short of it nothing holds. Once `spent`, the search ends
    with the smallest change that was found until then; it holds, may be larger than need be, and says so.

    `holds` is asked of whole answers; it should not turn false again as the number moves on, and where it does, a change that was
    asked about is returned all the same.
    """
    declared, asking = field_of(key), _Asking(answers, holds, spent)
    if guess is not None and (start := answers.number(key)) and guess > start:
        number = guess if declared.kind == "count" else _rounded(guess, up=True)
        likely = _numbered(answers, key, hint if hint is not None and guess <= hint < number else number)
        if asking.holds(likely):
            return likely
    if declared.kind in ("quantity", "number", "count") and answers.number(key) is not None:
        ways = [1] if key in RAISED else [-1] if key in LOWERED else [1, -1] if key in EITHER_WAY else []
        found = [change for way in ways if (change := _number(asking, key, way, hint)) is not None]
        if found:
            return min(found, key=lambda each: each.cost)
        if ways and key not in EITHER_WAY:
            return None
    return next((change for change in _others(answers, key) if asking.holds(change)), None)


def exception_to(policy: str) -> SmallestChange:
    """Return the change that sets a policy of the site aside; whoever made it must agree."""
    return SmallestChange(policy, "holds", DROPPED, EXCEPTION_COST, "make an exception from the policy of the site")


def left_open(answers: Answers, key: str) -> SmallestChange:
    """Return the change that takes a limit away, of which no smaller one was found; it costs what the farthest one does."""
    return SmallestChange(key, answers.text(key), DROPPED, 2.0**MOST_DOUBLINGS - 1.0, "leave it open; no smaller change was found")


def cost_between(answers: Answers, key: str, change: SmallestChange) -> float:
    """Return what a change costs that starts from `answers` instead of from where it was looked for."""
    start, end = answers.number(key), with_changes(answers, change.changes).number(key)
    if not start or not end or not change.after:
        return max(change.cost, OTHER_COST)
    return max(end / start, start / end) - 1.0


def _number(asking: _Asking, key: str, way: int, hint: float | None) -> SmallestChange | None:
    """Double or halve until it holds, or take the hint, then close in between the last that did not and the first that did."""
    answers = asking.answers
    declared, start = field_of(key), answers.number(key)
    if not start:
        return None
    whole = declared.kind == "count"
    low, high = declared.minimum or 0.0, declared.maximum or float("inf")

    def moved(doublings: int) -> float:
        number = min(max(start * 2.0 ** (way * doublings), low), high)
        return (ceil(number) if way > 0 else floor(number)) if whole else _rounded(number, up=way > 0)

    trained = key.startswith(TRAINED)
    most = MOST_DOUBLINGS_TRAINED if trained else MOST_DOUBLINGS
    if trained and not (moved(most) > 0 and asking.holds(_numbered(answers, key, moved(most)))):
        return None
    failing, good = start, moved(most) if trained else None
    if hint is not None and (hint - start) * way > 0 and asking.holds(_numbered(answers, key, hint)):
        good, most = hint, 0
        short = hint - way if whole else _rounded(hint * WITHIN**-way, up=way > 0)
        if (short - start) * way > 0 and not asking.holds(_numbered(answers, key, short)):
            failing = short
    for doublings in range(1, most if trained else most + 1):
        number = moved(doublings)
        if number in (failing, good) or number <= 0 or asking.over:
            break
        if asking.holds(_numbered(answers, key, number)):
            good = number
            break
        failing = number
    return None if good is None else _closed_in(asking, key, failing, good, whole=whole)


def _closed_in(asking: _Asking, key: str, failing: float, good: float, *, whole: bool) -> SmallestChange:
    """Return the change to the least number that holds, between one that does not and one that does; it says where the search ended."""
    answers, up = asking.answers, good > failing
    while not _close(failing, good, whole=whole):
        middle = (failing * good) ** 0.5
        middle = _between(failing, good, middle) if whole else _rounded(middle, up=up)
        if middle in (failing, good):
            break
        if asking.over:
            found = _numbered(answers, key, good)
            return replace(found, text=found.text + ENDED)
        if asking.holds(_numbered(answers, key, middle)):
            good = middle
        else:
            failing = middle
    return _numbered(answers, key, good)


def _numbered(answers: Answers, key: str, number: float) -> SmallestChange:
    """Return the change of a number."""
    declared, start = field_of(key), answers.number(key) or number
    text = str(int(number)) if declared.kind == "count" else value_text("", number)
    cost = max(number / start, start / number) - 1.0
    unit = f"{declared.shown_unit}s" if declared.shown_unit in WHOLE_WORDS and text != "1" else declared.shown_unit
    said = f"{'raise' if number > start else 'lower'} it to {text} {unit}".strip()
    return SmallestChange(key, answers.text(key), f"{text} {declared.unit}".strip(), cost, said)


def _between(failing: float, good: float, middle: float) -> int:
    low, high = sorted((int(failing), int(good)))
    return min(max(round(middle), low + 1), high - 1)


def _close(failing: float, good: float, *, whole: bool) -> bool:
    if whole and min(failing, good) <= EXACT:
        return abs(good - failing) <= 1
    return max(failing / good, good / failing) <= WITHIN


def _rounded(number: float, *, up: bool) -> float:
    """Return the number with three significant digits, away from where it came from."""
    near = float(f"{number:.{DIGITS}g}")
    if near == number or (near > number) is up:
        return near
    step = 10.0 ** (floor_log10(number) - DIGITS + 1)
    return float(format_number(near + step if up else near - step, DIGITS))


def floor_log10(number: float) -> int:
    """Return the power of ten that a positive number begins with."""
    return int(f"{number:e}".partition("e")[2])


def _feed_words(feed: str) -> str:
    """Return a feed in words: "208 V single-phase"."""
    return feed.replace("v_", " V ", 1).replace("_", "-")


def _others(answers: Answers, key: str) -> Iterator[SmallestChange]:
    """Yield what an answer that is no number may be changed to, the mildest change first."""
    before = answers.text(key)
    if key == "facility.cooling":
        have = answers.names(key)
        for other in COOLING:
            if other not in have:
                yield SmallestChange(key, before, ", ".join((*have, other)), OTHER_COST, f"provide {other.replace('_', '-')} cooling too")
        yield SmallestChange(key, before, ", ".join(COOLING), OTHER_COST * 2, "provide every kind of cooling")
    elif key == "facility.feed":
        for other in FEEDS:
            if other != before:
                yield SmallestChange(key, before, other, OTHER_COST, f"bring {_feed_words(other)} to it")
    elif key == "workload.kind" and before == "fine_tuning_full":
        yield SmallestChange(key, before, "fine_tuning_lora", OTHER_COST, "train adapters on frozen weights")
    if answers.given(key) and key != "facility.cooling":
        yield SmallestChange(key, before, DROPPED, OTHER_COST, "leave it open")
