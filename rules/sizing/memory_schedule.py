"""How many micro-batches a pipeline stage holds at its peak, by schedule.

Sources: 1F1B [Narayanan 2021, arXiv:2104.04473 §2.2]; interleaved 1F1B [Megatron Core, schedules]; the zero-bubble family
[Qi 2023, arXiv:2401.10241 table 1; Qi 2024, arXiv:2405.15362 for the V shape]; DualPipe [DeepSeek-V3, arXiv:2412.19437 table 2].
"""

from __future__ import annotations

SCHEDULES = ("1f1b", "gpipe", "zb_h1", "zb_h2", "zb_v", "dualpipe")
"""Schedules that are known; 1f1b is interleaved where a plan has virtual stages."""


def in_flight(stage: int, stages: int, virtual: int, micro_batches: int, schedule: str = "1f1b") -> float:
    """Return how many micro-batches' activations of all its layers a pipeline stage holds at its peak.

    GPipe: m. 1F1B: min(m, p − r), so the first stage holds as many as there are stages.
    Interleaved: min(m·v, 2(p − r − 1) + (v − 1)p + 1) chunks of 1/v of its layers.
    ZB-H1: min(m, p) on every stage, since weight gradients wait for the bubble; ZB-H2 min(m, 2p − 1); ZB-V, two chunks per
    stage, min(m, p); DualPipe min(m, p + 1), on two copies of the weights.
    Raises ValueError for an unknown schedule.
    """
    if schedule == "1f1b":
        if virtual > 1:
            return min(micro_batches * virtual, 2 * (stages - stage - 1) + (virtual - 1) * stages + 1) / virtual
        return float(min(micro_batches, stages - stage))
    if schedule not in SCHEDULES:
        raise ValueError(f"no pipeline schedule is called {schedule!r}; known are {', '.join(SCHEDULES)}")
    most = {"gpipe": micro_batches, "zb_h1": stages, "zb_h2": 2 * stages - 1, "zb_v": stages, "dualpipe": stages + 1}[schedule]
    return float(min(micro_batches, most))
