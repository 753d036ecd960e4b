"""Rules on what the plan needs of the network: technology, rate, and what a slower one would cost."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

_MULTI_NODE = F.multi_node == True  # noqa: E712
_SINGLE_NODE = F.multi_node == False  # noqa: E712
_SENDS = F.has_traffic == True  # noqa: E712
_STARVED_FACTOR = 4.0
"""ZeRO-3 that takes so many times its computing is refused where it was asked for: GPUs would wait four fifths of the time. A published
case of 10 GbE took 90 s a step against 4 s on one node [hiyouga/LlamaFactory issue 5014]."""
_NEGLIGIBLE_PERCENT = 5.0
"""Change of a step that is within the error of its estimate on tuned published runs."""

CHOICE_RULES: tuple[Rule, ...] = (
    Rule(
        id="fabric.asked_not_possible",
        stage=Stage.FABRIC,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.asked_for_missing == True,),  # noqa: E712
        guidance=("G2b.2",),
        because="The answers ask for {asked}, but {asked_missing_words}.",
        fix=(Fix("preferences.fabric", "let the reasons decide", "any"),),
    ),
    Rule(
        id="fabric.bandwidth_hides_traffic",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_SENDS, F.traffic_to_budget <= limit("fab-overlap")),
        guidance=("G2a.2", "G4.3", "G6.2"),
        thresholds=("fab-overlap", "fab-effective"),
        because=(
            "Each step moves {traffic_gb} per GPU between nodes; at {effective_gbps} that takes {traffic_s} beside {budget_s} of "
            "computing that can hide it. At half of the rate the step would be {half_rate_longer_percent} longer."
        ),
        decides=("fabric.compute.rate", "{nics_per_node} × {nic_speed_gbps} per node, {offered_gbps} per GPU"),
    ),
    Rule(
        id="fabric.bandwidth_short",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(_SENDS, F.traffic_to_budget > limit("fab-overlap")),
        guidance=("G2a.2", "G6.2"),
        thresholds=("fab-overlap", "fab-effective"),
        because=(
            "Each step moves {traffic_gb} per GPU between nodes; at {effective_gbps} that takes {traffic_s} beside {budget_s} of "
            "computing that can hide it. The step is {slower_percent} longer than on a network without limit."
        ),
        writes=("network_bound",),
        fix=(
            Fix("preferences.nodes", "choose servers with faster or more adapters"),
            Fix("parallelism.zero_stage", "shard less over the network", "1"),
            Fix("training.global_batch", "raise the batch: more computing per exchange"),
        ),
    ),
    Rule(
        id="fabric.baseline_enough",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(_SENDS, F.node_gbps > F.baseline_gbps, F.baseline_slower_percent < _NEGLIGIBLE_PERCENT),
        guidance=("G2a.1",),
        because=(
            "With one 100 GbE link per node a step would be {baseline_slower_percent} longer, within the error of its estimate: a "
            "faster network buys little time for this plan."
        ),
        decides=("fabric.compute.baseline", "100 GbE per node would carry this plan"),
        judgement="5 % is the error of estimated steps on tuned published runs",
    ),
    Rule(
        id="fabric.baseline_too_slow",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_SENDS, F.node_gbps > F.baseline_gbps, F.baseline_slower_percent >= _NEGLIGIBLE_PERCENT),
        guidance=("G2a.1", "G4.3"),
        because=(
            "With one 100 GbE link per node each step would be {baseline_slower_percent} longer; the plan needs {needed_node_gbps} "
            "per node on average, and exchanges come in bursts."
        ),
        decides=("fabric.compute.baseline", "100 GbE per node is too slow for this plan"),
        judgement="5 % is the error of estimated steps on tuned published runs",
    ),
    Rule(
        id="fabric.below_baseline",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(_SENDS, F.node_gbps < F.baseline_gbps),
        guidance=("G2a.1",),
        because="Nodes have {node_gbps}, less than the 100 GbE that is the common baseline for training over several nodes.",
        fix=(
            Fix("own_server.nic_speed", "take adapters of 100 Gb/s or more", "100 Gb/s"),
            Fix("preferences.nodes", "choose servers with faster adapters"),
        ),
    ),
    Rule(
        id="fabric.ethernet_enough",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.reason == "light",),
        guidance=("G4.3", "G2b.2"),
        because=(
            "Half of the rate would lengthen a step by {half_rate_longer_percent} only, twice the latency floor by {floor_longer_percent} "
            "with messages of up to {message_mib} MiB, and tensor, expert and context groups stay inside fast links: Ethernet "
            "is enough, on {switches} switch(es)."
        ),
        decides=("fabric.compute.technology", "{technology_name}, {layout_words}: {switch_words}"),
    ),
    Rule(
        id="fabric.experts_over_many_nodes",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(_MULTI_NODE, F.expert_domains > limit("fab-moe-nodes")),
        guidance=("G2e.2", "G2b.1"),
        thresholds=("fab-moe-nodes",),
        because="Experts are spread over {expert_domains} scale-up domains; a token may then cross the network to each of its experts.",
        fix=(Fix("parallelism.expert", "spread experts over fewer nodes, or limit to how many nodes a token is routed"),),
    ),
    Rule(
        id="fabric.infiniband_for_latency",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.reason == "latency",),
        guidance=("G2b.1", "G2b.2"),
        because=(
            "Tensor, expert or context groups reach over {domains_spanned} scale-up domains ({plan}): every layer waits for the "
            "network. Half of the rate would lengthen a step by {half_rate_longer_percent}, twice the latency floor by "
            "{floor_longer_percent}; InfiniBand keeps its rate when all send at once, by adaptive routing, and has the lower latency."
        ),
        decides=("fabric.compute.technology", "{technology_name}, {layout_words}: {switch_words}"),
    ),
    Rule(
        id="fabric.infiniband_for_traffic",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.reason == "heavy",),
        guidance=("G6.3", "G2a.1", "G4.3"),
        because=(
            "Half of the rate would lengthen a step by {half_rate_longer_percent}: the step depends on the network, and a lossless "
            "fabric with adaptive routing delivers its rate in bursts too."
        ),
        decides=("fabric.compute.technology", "{technology_name}, {layout_words}: {switch_words}"),
    ),
    Rule(
        id="fabric.messages_small",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(_SENDS, F.message_share < limit("fab-payload", "at_256_mib")),
        guidance=("G2b.1",),
        thresholds=("fab-payload",),
        because=(
            "The largest message is {message_mib} MiB, at which collectives have reached {message_share} of the adapters' rate: "
            "latency, not bandwidth, sets their time."
        ),
        fix=(Fix("parallelism.micro_batch", "larger micro-batches or reduction buckets make larger messages"),),
    ),
    Rule(
        id="fabric.model_parallel_between_nodes",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(_MULTI_NODE, F.domains_spanned > 1),
        guidance=("G2e.2", "G2b.1"),
        because=(
            "{plan} lets tensor, expert or context groups reach over {domains_spanned} scale-up domains; they exchange in every "
            "layer, so leaf placement and congestion decide the step."
        ),
        fix=(Fix("parallelism.tensor", "keep these groups inside a scale-up domain"),),
        ask=Ask(
            to="network vendor",
            ask="What do all-to-all and all-gather of 64 MiB take over {domains_spanned} nodes on one leaf, and on different leaves?",
            good_answer="less than 10 % apart, and within twice the time of the same bytes at {effective_gbps}",
        ),
    ),
    Rule(
        id="fabric.network_bound_llm",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        premise="network_bound",
        when=(F.is_language_model == True,),  # noqa: E712
        guidance=("G6.3",),
        because=(
            "Communication is a large part of {model}'s step on this network; the fastest fabric that can be paid for shortens every step."
        ),
        fix=(
            Fix("preferences.fabric", "allow InfiniBand", "any"),
            Fix("preferences.oversubscription", "do not oversubscribe", "1"),
        ),
    ),
    Rule(
        id="fabric.none_needed",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_SINGLE_NODE,),
        guidance=("G7.4", "G6.1"),
        because=(
            "The {gpus} GPU(s) are in one server or one scale-up domain: nothing crosses a network, so no InfiniBand or fast "
            "Ethernet is bought."
        ),
        decides=("fabric.compute.technology", "none"),
    ),
    Rule(
        id="fabric.speed_ladder_zero3",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(_SENDS, F.zero_stage == 3, F.node_gbps <= F.ladder_gbps),
        guidance=("G6.3", "G2a.2"),
        thresholds=("fab-zero3-ladder-v100", "fab-zero3-scale-h100"),
        because=(
            "ZeRO-3 of a large model ran badly on V100 nodes of 100 Gb/s; scaled to {gpu} that is {ladder_gbps} per node, and these "
            "have {node_gbps}."
        ),
        fix=(
            Fix("parallelism.zero_stage", "shard the optimizer only", "1"),
            Fix("preferences.nodes", "choose servers with faster or more adapters"),
        ),
    ),
    Rule(
        id="fabric.technology_given",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.reason_is_given == True,),  # noqa: E712
        guidance=("G4.3", "G2b.2"),
        because=(
            "{reason_words}. Half of the network's rate would lengthen a step by {half_rate_longer_percent}, twice the latency floor by "
            "{floor_longer_percent}."
        ),
        decides=("fabric.compute.technology", "{technology_name}, {layout_words}: {switch_words}"),
    ),
    Rule(
        id="fabric.zero3_over_network",
        stage=Stage.FABRIC,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(_SENDS, F.zero_stage == 3, F.zero_stage_given == True, F.zero3_s > F.micro_step_s * _STARVED_FACTOR),  # noqa: E712
        guidance=("G2a.2", "G6.2"),
        thresholds=("fab-comms-zero3", "fab-comms-ddp"),
        because=(
            "ZeRO-3 moves {zero3_gb} per node and accumulation step, {zero3_s} on this network beside {micro_step_s} of computing; "
            "plain data parallelism moves {plain_gb} once per step."
        ),
        fix=(
            Fix("parallelism.zero_stage", "shard the optimizer only", "1"),
            Fix("preferences.fabric", "a faster RDMA fabric", "any"),
        ),
        judgement="at four times the computing GPUs would wait four fifths of the time; a published case took 90 s a step against 4 s",
    ),
)
