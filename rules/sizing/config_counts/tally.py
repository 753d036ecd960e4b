"""The running sum of a count: parameters by part, which of them a token does not use, and operations that have no weights."""

from __future__ import annotations

from dataclasses import dataclass, field

CAUSAL_SHARE = 0.5
"""Mean share of the sequence that a token sees under a causal mask."""


@dataclass
class Tally:
    """Parameters by part. `look_ups` are rows fetched, not multiplied; `idle` are routed experts that a token does not visit;
    `apart` belongs to other inputs than text tokens (vision and audio towers); `operations` are forward operations per token
    without weights (attention scores, state updates); `tied_head` is the embedding where it also serves as the output head.
    """

    parts: dict[str, int] = field(default_factory=dict)
    look_ups: int = 0
    idle: int = 0
    apart: int = 0
    operations: float = 0.0
    tied_head: int = 0

    def add(self, part: str, parameters: int) -> None:
        """Add weights that every token is multiplied with."""
        self.parts[part] = self.parts.get(part, 0) + parameters

    def look_up(self, part: str, parameters: int) -> None:
        """Add a table whose rows are looked up."""
        self.add(part, parameters)
        self.look_ups += parameters

    def separate(self, part: str, parameters: int) -> None:
        """Add weights that text tokens do not pass."""
        self.add(part, parameters)
        self.apart += parameters

    @property
    def total(self) -> int:
        """Return all parameters."""
        return sum(self.parts.values())

    @property
    def active(self) -> int:
        """Return the parameters that one text token uses."""
        return self.total - self.idle - self.apart

    @property
    def multiplied(self) -> int:
        """Return the weights that one text token is multiplied with, a tied head among them."""
        return self.active - self.look_ups + self.tied_head


def linear(inputs: int, outputs: int, bias: bool = False) -> int:
    """Return the parameters of a linear map."""
    return inputs * outputs + (outputs if bias else 0)


def seen_tokens(sequence_length: int, window: int = 0, causal: bool = True) -> float:
    """Return how many tokens a token attends to on average, `s/2` under a causal mask.

    With a causal window of w tokens the mean over the positions is `w·(1 − w/2s)`. Lengths in tokens.
    """
    if not causal:
        return float(min(window, sequence_length) if window else sequence_length)
    if not window or window >= sequence_length:
        return sequence_length * CAUSAL_SHARE
    return window * (1 - window / (2 * sequence_length))
