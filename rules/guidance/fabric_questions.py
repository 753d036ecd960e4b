"""Questions on the network that every design asks, with its own numbers; one set for one node, one for several."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Rule

_MULTI_NODE = F.multi_node == True  # noqa: E712
_SINGLE_NODE = F.multi_node == False  # noqa: E712
_ASKED_BY_QUARTER_GPUS = 512
"""From here on the question on scaling compares with a quarter of the GPUs (software.scaling_loss), as published measurements do."""
_SEVERAL_TIMES_THE_BASE = (_MULTI_NODE, F.has_plan == True, F.nodes > F.base_nodes, F.gpus < _ASKED_BY_QUARTER_GPUS)  # noqa: E712
"""There is a smaller cluster to compare with."""

QUESTION_RULES: tuple[Rule, ...] = (
    Rule(
        id="fabric.ask_collectives_single",
        stage=Stage.FABRIC,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(_SINGLE_NODE, F.joins_fabric == True),  # noqa: E712
        writes=("asked_oversubscription", "asked_rdma"),
        guidance=("G5.5", "G5.4"),
        because="One node needs no fabric today; its adapters decide whether it can join one later.",
        ask=Ask(
            to="server vendor",
            ask=(
                "Which adapters does {node} take for a later network among nodes, do they do RDMA from GPU memory, and with which "
                "collectives?"
            ),
            good_answer=(
                "one adapter of at least 200 Gb/s per GPU can be added, with GPUDirect RDMA or its equivalent, without oversubscription"
            ),
        ),
    ),
    Rule(
        id="fabric.ask_oversubscription",
        stage=Stage.FABRIC,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(_MULTI_NODE, F.switches > 0),
        writes=("asked_oversubscription",),
        guidance=("G5.4", "G2c.2"),
        because=(
            "The design wires {switch_words} at {oversubscription}:1, on which an all-reduce should reach {bus_gb_per_s} of bus bandwidth; "
            "a fabric that congests loses more than a slower one that does not."
        ),
        ask=Ask(
            to="network vendor",
            ask="What bus bandwidth does an all-reduce of 4 GiB reach over all {gpus} GPUs{tiers_asked}?",
            good_answer="at least {bus_gb_per_s}{tiers_good}",
        ),
    ),
    Rule(
        id="fabric.ask_rdma",
        stage=Stage.FABRIC,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(_MULTI_NODE, F.switches > 0, F.gpu_direct == True),  # noqa: E712
        writes=("asked_rdma",),
        guidance=("G5.5", "G2d.1", "G2f.1"),
        because="The rate of {effective_gbps} per GPU needs RDMA from GPU memory past the CPUs: {technology_name}, adapter {nic_name}.",
        ask=Ask(
            to="server vendor",
            ask=(
                "Do the adapters do RDMA straight from GPU memory on the {nodes} nodes, with which driver and collectives library, "
                "and what does one adapter reach in a send and receive test?"
            ),
            good_answer="GPUDirect RDMA or its equivalent with ACS off; at least 80 % of {nic_speed_gbps} per adapter, on every node",
        ),
    ),
    Rule(
        id="fabric.ask_scaling",
        stage=Stage.FABRIC,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=_SEVERAL_TIMES_THE_BASE,
        writes=("asked_scaling",),
        guidance=("G5.1", "G6.2"),
        because=(
            "The design expects each GPU to wait for communication {exposed_percent} of a step on {gpus} GPUs; the "
            "model's state needs {base_words}."
        ),
        ask=Ask(
            to="server vendor",
            ask="What throughput per GPU have you measured on {nodes} nodes, against {base_words}, training a model like {model}?",
            good_answer="at least {scaling_asked_percent} of the rate per GPU of {base_words}, with the run's settings and logs",
        ),
        sources=("llm-foundry-benchmarks",),
    ),
    Rule(
        id="fabric.ask_scaling_single",
        stage=Stage.FABRIC,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(_SINGLE_NODE, F.gpus > 1),
        writes=("asked_scaling",),
        guidance=("G5.1", "G7.4"),
        because="Inside one node scaling shows over its {gpus} GPUs; beyond it only a measurement on several nodes would tell.",
        ask=Ask(
            to="server vendor",
            ask=(
                "What throughput per GPU have you measured on all {gpus} GPUs of {node}, against one GPU, and on two or more of "
                "these nodes?"
            ),
            good_answer="at least {scaling_asked_percent} of the rate of one GPU inside the node; a measured number for two nodes",
        ),
    ),
)
