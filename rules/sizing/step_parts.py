"""The parts of a step: its seconds by what they are spent on, and what data-parallel ranks exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rules.sizing.collectives import Group


class StepTime(NamedTuple):
    """The seconds of one step by part; they add up to `total`."""

    products: float
    attention: float
    elementwise: float
    head: float
    recompute: float
    tensor_parallel: float
    expert_parallel: float
    context_parallel: float
    pipeline_bubble: float
    pipeline_transfer: float
    data_parallel: float
    optimizer: float
    stragglers: float

    @property
    def total(self) -> float:
        """Return the seconds of the step."""
        return sum(self)

    @property
    def exposed(self) -> float:
        """Return the seconds in which the GPU waits for communication."""
        return self.tensor_parallel + self.expert_parallel + self.context_parallel + self.pipeline_transfer + self.data_parallel


class Exchange(NamedTuple):
    """Weights that data-parallel ranks share: who they are, and the bytes of gradients and of parameters of one rank."""

    who: Group
    gradients: float
    parameters: float
