"""The engine that samples answers between training steps: its cache of keys and values, what fits at once, and the least time it takes.

Each token of a sequence that is being written keeps its keys and values in every layer, 2·k·d·L elements of 16 bits [Kwon 2023,
arXiv:2309.06180 §2]; with latent attention the latent and the shared rotary key [DeepSeek-V2, arXiv:2405.04434 §2.1.2]. Writing a token
reads all weights and the cache of the sequences that are written beside it, so that memory bandwidth bounds the rate [Pope 2022,
arXiv:2211.05102 §2.1]. The engine is split over as many GPUs as the plan's tensor parallelism; prompts and answers fill the sequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.training_bytes import BF16_BYTES

if TYPE_CHECKING:
    from rules.sizing.results import ModelShape, Plan, Workload

SAMPLING = ("grpo", "ppo")
"""Methods that sample answers from the model between training steps."""


class Engine(NamedTuple):
    """An engine on one group of GPUs: bytes on each GPU of weights and of a cached token, the sequences of a step, tokens of each."""

    weights: float
    token: float
    sequences: int
    length: int

    @property
    def sequence(self) -> float:
        """Return the bytes of the cache of one sequence at its full length on a GPU."""
        return self.token * self.length


def cached_token_bytes(shape: ModelShape, tensor: int) -> float:
    """Return the bytes on a GPU that a token keeps in the cache, in the layers that see the whole sequence or slide alike.

    Heads are split over `tensor` GPUs as far as there are any, a latent is kept whole on each.
    """
    if shape.attention == "mla":
        return BF16_BYTES * shape.layers * (shape.kv_lora_rank + shape.qk_rope_head_dim)
    heads = shape.key_value_heads / min(tensor, max(1, shape.key_value_heads))
    return 2 * BF16_BYTES * shape.layers * heads * shape.head_dim


def engine_of(workload: Workload, plan: Plan) -> Engine | None:
    """Return the engine that samples for a plan, None for a method that samples nothing or a model that is no transformer."""
    if workload.post_training not in SAMPLING or not workload.model.layers:
        return None
    replicas = max(1, plan.gpus // plan.tensor)
    return Engine(
        BF16_BYTES * workload.parameters.total / plan.tensor,
        cached_token_bytes(workload.model, plan.tensor),
        -(-workload.global_batch // replicas),
        workload.sequence_length,
    )


def at_once(engine: Engine, room: float) -> int:
    """Return how many of its sequences an engine writes at once in `room` bytes beside its weights, at full length."""
    return min(engine.sequences, max(0, int(room // engine.sequence))) if engine.sequence else engine.sequences


def least_seconds(engine: Engine, together: int, bandwidth: float) -> float:
    """Return the least seconds in which an engine writes its sequences of one step, `together` at a time, at `bandwidth` bytes/s.

    Every token reads the weights and the caches, half full on average; prompts, which are read at once, count as written.
    """
    rounds = -(-engine.sequences // max(1, together))
    each = engine.weights + max(1, together) * engine.sequence / 2
    return rounds * engine.length * each / bandwidth
