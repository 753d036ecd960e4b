"""The seven questions of guidance G5 are on every list: what no other rule asked in a situation of its own is asked here.

The rules that ask with a design's own figures write a flag each (`asked_scaling`, …); where it is missing, the plain question stands
in. They belong to stage reliability because it comes after all stages that ask.
"""

# ruff: noqa: E712 - `F.flag == False` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Rule

_VENDOR = "server vendor"
_NOT_ASKED = "No figure of the design answers it yet, and the purchase should not wait for one."


def _plain(name: str, guidance: str, flags: tuple[str, ...], ask: str, good_answer: str) -> Rule:
    """Return the rule that asks where none of the rules that write `flags` did."""
    return Rule(
        id=f"reliability.ask_{name}",
        stage=Stage.RELIABILITY,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=tuple(getattr(F, flag) == False for flag in flags),
        guidance=(guidance,),
        because=_NOT_ASKED,
        ask=Ask(to=_VENDOR, ask=ask, good_answer=good_answer),
    )


ALWAYS_ASKED: tuple[Rule, ...] = (
    _plain(
        "fabric",
        "G5.4",
        ("asked_oversubscription",),
        "If {node} is joined with others later: by which network, over which adapters, and at which ratio of downlink to uplink bandwidth?",
        "a network of at least 100 Gb/s per node at 1:1, or a plain statement that it is made to stand alone",
    ),
    _plain(
        "full_load",
        "G5.7",
        ("asked_load", "asked_sustained_clocks", "asked_unknown_power"),
        "What does {node} draw at its inlet and give off as heat with {gpu} at full training load, and which air or water does that need?",
        "watts, air and inlet temperature measured over an hour of training, not the sum of data sheets",
    ),
    _plain(
        "parallelism",
        "G5.2",
        ("asked_parallelism",),
        "Is {node} with {gpu} made for data parallelism, tensor parallelism or both, and what does it reach in each?",
        "both named, each with a measured run of a model of this kind",
    ),
    _plain(
        "rdma",
        "G5.5",
        ("asked_rdma",),
        "Which collectives library runs on {gpu} in {node}, does it move data by RDMA or through host memory, and at which rate?",
        "the library by name and version, and its bus bandwidth measured on {gpus} GPU(s)",
    ),
    _plain(
        "scaling",
        "G5.1",
        ("asked_scaling", "asked_scaling_loss"),
        "What throughput per GPU have you measured with {gpu} on a model of this kind, with which settings, and on how many GPUs?",
        "a measured run with its log, on {gpus} GPU(s) or on half and twice as many",
    ),
    _plain(
        "sustained_share",
        "G5.6",
        ("asked_share",),
        "Which share of its peak does {gpu} sustain in training over a day, at which clocks and power?",
        "measured over a day; 40 to 55 % of the dense BF16 peak is what published runs on A100 and H100 reach",
    ),
    _plain(
        "topology",
        "G5.3",
        ("asked_topology",),
        "How is {gpu} attached in {node}: PCIe generation and lanes, and which link would join a second one?",
        "x16 at the GPU's own generation, and the name of the link",
    ),
)
