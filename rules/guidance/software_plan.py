"""Rules on what the parallel plan asks of software and people: strategy, idle pipelines, utilisation, acceptance."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

LONG_SEQUENCE = 65_536
"""Tokens from which the measured loss of utilisation with sequence length applies (llm-foundry benchmarks: 2k to 65k)."""
SCALING_GPUS = 512
"""GPUs from which the measured loss of throughput per GPU applies (llm-foundry benchmarks: 128 to 512 H100)."""

PLAN_RULES: tuple[Rule, ...] = (
    Rule(
        id="software.acceptance_all_nodes",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.multi_node == True,),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-accept-nccl", "sw-accept-full-scale"),
        because=(
            "Faults that show at {limit_sw_accept_full_scale} nodes cannot be seen at 2 to 4, so the acceptance test runs on all {nodes}."
        ),
        ask=Ask(
            to="server vendor",
            ask="Will you run {collectives} all-reduce of 4 to 16 GiB on {acceptance_words} before hand-over?",
            good_answer=(
                "yes; between nodes per GPU at least {limit_sw_accept_nccl_percent_of_nic} % of the adapter's {network_gbps}, on one node "
                "what its own links give"
            ),
        ),
    ),
    Rule(
        id="software.long_sequence",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.sequence_length >= LONG_SEQUENCE,),
        guidance=("G1b.3",),
        thresholds=("sw-long-seq",),
        because=(
            "At {sequence_length} tokens attention rules: utilisation fell from {limit_sw_long_seq_short} to {limit_sw_long_seq_long} "
            "from 2k to 65k tokens on 8 H100."
        ),
        fix=(Fix("training.sequence_length", "train most tokens at a short length and extend it at the end", "8192"),),
    ),
    Rule(
        id="software.pipeline_bubble",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.pipeline_stages > 1, F.bubble_percent > limit("sw-pp-bubble")),
        guidance=("G1b.3",),
        thresholds=("sw-pp-bubble",),
        because=(
            "{micro_batches} micro-batches keep {pipeline_stages} pipeline stages idle for {bubble_percent}; keep it under "
            "{limit_sw_pp_bubble} %."
        ),
        fix=(
            Fix("training.global_batch", "a larger batch gives more micro-batches"),
            Fix("parallelism.pipeline", "fewer stages idle less"),
        ),
    ),
    Rule(
        id="software.rail_order",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.rail_fabric == True,),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-nccl-no-topology",),
        because="{collectives} does not see the network's rails: set {limit_sw_nccl_no_topology} and the order of ranks by node.",
        ask=Ask(
            to="network vendor",
            ask="Which settings of {collectives} and which rank order did you use on rails of {nodes} nodes?",
            good_answer="a file of settings with the bus bandwidth that it reached",
        ),
    ),
    Rule(
        id="software.scaling_loss",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.gpus >= SCALING_GPUS, F.has_plan == True),  # noqa: E712
        writes=("asked_scaling_loss",),
        guidance=("G5.1", "G1b.3"),
        thresholds=("sw-scaling-loss",),
        because="Throughput per GPU falls with size: by {limit_sw_scaling_loss} % from 128 to 512 H100 for a small model.",
        ask=Ask(
            to="server vendor",
            ask="What throughput per GPU does a model like this reach on {quarter_gpus} and on {gpus} GPUs?",
            good_answer="at {gpus} GPUs no more than {limit_sw_scaling_loss} % less than at {quarter_gpus}",
        ),
    ),
    Rule(
        id="software.scheduler_roots",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.separate_fabrics > 1,),
        guidance=("G1e.3",),
        thresholds=("sw-slurm-fabric-root",),
        because="{separate_fabrics} separate networks: give the scheduler one topology root for each, or it places jobs across them.",
        ask=Ask(
            to="network vendor",
            ask="Do you deliver the scheduler's topology file with {separate_fabrics} roots?",
            good_answer="yes, generated from the cabling",
        ),
    ),
    Rule(
        id="software.shard_in_node",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.shards_beyond_domain == True, F.domain_shard_fits == True),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-fits-node-hsdp",),
        because=(
            "The plan shares weights over all data-parallel ranks, so gathers cross the network. Shared inside each scale-up domain and "
            "copied between domains, a GPU would hold up to {domain_shard_gib}, which fits, and gathers would stay off the network."
        ),
        ask=Ask(
            to="your software team",
            ask="Which is faster here: {plan}, or the same with weights shared inside the node and copied between nodes?",
            good_answer="both measured over some hundred steps, memory included; the design counts with the first",
        ),
    ),
    Rule(
        id="software.strategy_fast_network",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.network_fast == True, F.shards_data_only == True),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-fast-inter",),
        because="With {network_gbps} per GPU between nodes {plan} does; {sharding_name} changes the code least.",
        decides=("software.first_strategy", "sharded data parallelism, ZeRO stage {zero_stage}"),
    ),
    Rule(
        id="software.strategy_model_parallel",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.network_fast == True, F.model_parallel == True),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-fast-inter",),
        because=(
            "Sharded data parallelism changes the code least, but of the plans that fit none was faster than {plan}: the model is split "
            "too."
        ),
        decides=("software.first_strategy", "{plan}"),
    ),
    Rule(
        id="software.strategy_slow_network",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.network_gbps > 0, F.network_fast == False, F.model_parallel == True, F.zero_stage <= 1),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-slow-inter",),
        because="With {network_gbps} per GPU between nodes, splitting the model ({plan}) moves less over the network than full sharding.",
        decides=("software.first_strategy", "{plan}"),
    ),
    # https://www.tensorflow.org/guide/distributed_training lists mirrored, parameter-server and central-storage strategies, all of them
    # data parallelism; https://www.tensorflow.org/guide/dtensor_overview places tensor layouts under tf.experimental.
    Rule(
        id="software.tensorflow_splits_nothing",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.framework == "TensorFlow", F.splits_state == True),  # noqa: E712
        guidance=("G1e.2", "G1e.3"),
        because=(
            "TensorFlow's distribution strategies copy the whole model to every GPU; sharded tensors (DTensor) are experimental, and there "
            "are no pipelines and no ZeRO. A model that does not fit whole on one {gpu} has no maintained way to train in it (plan: "
            "{plan})."
        ),
        fix=(
            Fix("software.framework", "train in JAX, which shards by annotation", "jax"),
            Fix("software.framework", "train in PyTorch", "pytorch"),
        ),
    ),
    Rule(
        id="software.utilization_optimistic",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.utilization > limit("sw-mfu-default", "a100_high"),),
        guidance=("G1b.3",),
        thresholds=("sw-mfu-default", "sw-mamf"),
        because=(
            "The plan expects {utilization} of dense peak; published runs reach up to {limit_sw_mfu_default_a100_high}, matrix products "
            "alone {limit_sw_mamf_h100} on H100."
        ),
        ask=Ask(
            to="server vendor",
            ask="Which share of dense peak does a model like this sustain over a day on {gpus} GPU(s)?",
            good_answer="at least {utilization}, which the design counts on",
        ),
    ),
)
