"""The parts of a step: its seconds by what they are spent on, one layer and the head, and what data-parallel ranks exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from catalogs.sums import plain_sum
from rules.sizing.pipeline import idle_passes
from rules.sizing.traffic import RECOMPUTED_TENSOR, LayerTraffic

if TYPE_CHECKING:
    from rules.sizing.collectives import Group
    from rules.sizing.results import Plan


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
        return plain_sum(self)

    @property
    def exposed(self) -> float:
        """Return the seconds in which the GPU waits for communication."""
        return self.tensor_parallel + self.expert_parallel + self.context_parallel + self.pipeline_transfer + self.data_parallel


class Exchange(NamedTuple):
    """Weights that data-parallel ranks share: who they are, and the bytes of gradients and of parameters of one rank."""

    who: Group
    gradients: float
    parameters: float


class Block(NamedTuple):
    """One layer of the average stage and the head, per micro-batch, with what does not depend on the pipeline or on data parallelism."""

    products: float
    attention: float
    elementwise: float
    recompute_selective: float
    recompute_full: float
    head: float
    traffic: LayerTraffic
    tokens: float

    def repeated(self, recompute: str, share: float) -> float:
        """Return the seconds that recomputation adds to a layer; `share` of the layers recompute everything with "full"."""
        return share * self.recompute_full if recompute == "full" else self.recompute_selective if recompute == "selective" else 0.0

    def layer(self, recompute: str, share: float) -> float:
        """Return the seconds of one layer with its exposed communication and recomputation, the mean where only a share recomputes."""
        arithmetic = self.products + self.attention + self.elementwise + self.repeated(recompute, share)
        tensor = self.traffic.tensor * (1 + share * (RECOMPUTED_TENSOR - 1))
        return arithmetic + tensor + self.traffic.expert + self.traffic.context

    def idle(self, plan: Plan, layer: float) -> float:
        """Return the passes of a micro-batch through a stage that the schedule idles; a layer of `layer` seconds has three products."""
        return idle_passes(plan.schedule, plan.pipeline, plan.virtual_stages, self.products / 3 / layer, self.recompute_full / layer)
