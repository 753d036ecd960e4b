"""Rules on the kind of network by the step it gives: ties between InfiniBand and Ethernet, and what hashed flows or a lost plane cost."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Rule

NETWORK_RULES: tuple[Rule, ...] = (
    Rule(
        id="interconnect.network_flows_collide",
        stage=Stage.INTERCONNECT,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.networks_compared == True, F.ethernet_open == True, F.hashed_longer_percent >= 1.0),  # noqa: E712
        guidance=("G2c.1", "G2c.2"),
        because=(
            "Flows that are hashed to paths collide: Ethernet without adaptive routing or spraying would lengthen the step of {plan} by "
            "{hashed_longer_percent}, while with them it is {ethernet_longer_percent} longer than over InfiniBand."
        ),
        ask=Ask(
            to="network vendor",
            ask="How are flows spread over the paths of the fabric, and what does an all-reduce over all {nodes} nodes reach?",
            good_answer=(
                "adaptive routing or packet spraying, with adapters that put packets back in order, and a step no more than "
                "{ethernet_longer_percent} longer than over InfiniBand"
            ),
        ),
        sources=("meta-roce-2024",),
    ),
    Rule(
        id="interconnect.networks_tie",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.networks_compared == True, F.networks_open == True, F.networks_tie == True),  # noqa: E712
        guidance=("G2b.2", "G2c.2"),
        because=(
            "At {network_per_gpu_gbps} per GPU InfiniBand and Ethernet tie for {plan}: switches that take longer add "
            "{ethernet_longer_percent} to a step of {step_s}, far below the estimate's error. A lost plane of two, half of the rate, costs "
            "{half_network_longer_percent}. Skills, price and lead time decide."
        ),
        decides=("fabric.compute.by_step_time", "InfiniBand and Ethernet tie"),
    ),
)
