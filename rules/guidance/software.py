"""Rules on software: the GPU line must be supported by the stack, the framework and the collectives library that the team uses."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

LONG_SEQUENCE = 65_536
"""Tokens from which the measured loss of utilisation with sequence length applies (llm-foundry benchmarks: 2k to 65k)."""
SCALING_GPUS = 512
"""GPUs from which the measured loss of throughput per GPU applies (llm-foundry benchmarks: 128 to 512 H100)."""

_GPU = Fix("preferences.gpus", "name a GPU whose software your team knows")

RULES: tuple[Rule, ...] = (
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
            ask=(
                "Will you run {collectives} all-reduce of 4 to 16 GiB on one node, on 4 to 16 nodes and on all {nodes} nodes before "
                "hand-over?"
            ),
            good_answer=(
                "yes; per GPU at least {limit_sw_accept_nccl_percent_of_nic} % of the adapter's {network_gbps} on every set of nodes"
            ),
        ),
    ),
    Rule(
        id="software.administrator",
        stage=Stage.SOFTWARE,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.gpus > 1,),
        guidance=("G4.4",),
        thresholds=("sw-sysadmin",),
        because=(
            "Somebody keeps drivers, {stack} and {framework} of {nodes} node(s) working: {limit_sw_sysadmin} dedicated administrator or "
            "more."
        ),
    ),
    Rule(
        id="software.bf16_supported",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.precision == "bf16", F.precision_in_gpu == True),  # noqa: E712
        guidance=("G1b.2",),
        because="{gpu} multiplies in BF16 and {framework} trains in it without loss scaling.",
        decides=("software.precision", "BF16"),
    ),
    Rule(
        id="software.collectives_known",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.stack_is_common == True),  # noqa: E712
        guidance=("G1e.3",),
        because="{stack} brings {collectives} ({collectives_version}), which {framework}, Megatron, DeepSpeed and FSDP call.",
        decides=("software.collectives", "{collectives}"),
    ),
    Rule(
        id="software.collectives_limited",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.collectives_status == "limitation"),
        guidance=("G1e.3",),
        because="{collectives} on {gpu}: {collectives_fact}",
        fix=(_GPU,),
    ),
    Rule(
        id="software.collectives_rough",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.gpus > 1, F.collectives_status == "rough_edge"),
        guidance=("G1e.3", "G1e.4"),
        because="{collectives} on {gpu}: {collectives_fact}",
        ask=Ask(
            to="server vendor",
            ask="Which version of {collectives} do you support on {gpu}, and what all-reduce rate does it reach from 64 MB to 4 GB?",
            good_answer="a released version, with no dip between 64 and 512 MB",
        ),
    ),
    Rule(
        id="software.fp8_gain",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.precision_low == True, F.precision_in_gpu == True, F.precision_in_software == True),  # noqa: E712
        guidance=("G1b.2", "G1b.3"),
        thresholds=("sw-fp8-gain",),
        because=(
            "Narrow formats gain less end to end than their peak promises: at most {limit_sw_fp8_gain} times BF16 was measured on 8 H100. "
            "{precision_fact}"
        ),
        ask=Ask(
            to="GPU vendor",
            ask="What does {precision} gain over BF16 end to end on {gpu} for this model, with the loss curve of both?",
            good_answer="a measured gain at equal loss; the design counts on no more than it estimates",
        ),
    ),
    Rule(
        id="software.framework_broken",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.framework_status == "broken",),
        guidance=("G1e.2", "G1e.4"),
        because="{framework} on {gpu}: {framework_fact}",
        fix=(Fix("software.framework", "use PyTorch, which runs on it", "pytorch"), _GPU),
    ),
    Rule(
        id="software.framework_limited",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.framework_status == "limitation",),
        guidance=("G1e.2", "G1e.4"),
        because="{framework} on {gpu}: {framework_fact}",
        fix=(_GPU,),
    ),
    Rule(
        id="software.framework_supported",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.framework_status == "supported",),
        guidance=("G1e.2", "G4.4"),
        because="{framework} supports {gpu}: {framework_fact}",
        decides=("software.framework", "{framework}, {framework_version}"),
    ),
    Rule(
        id="software.framework_unknown",
        stage=Stage.SOFTWARE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.framework_status == "unknown",),
        guidance=("G1e.2",),
        because="The catalog has no statement on {framework} on {gpu}; that is not a no, but nobody should buy on it.",
        ask=Ask(
            to="GPU vendor",
            ask="Which released version of {framework} trains on {gpu}, on how many nodes was it run, and who supports it?",
            good_answer="a release (no private fork), run on at least {nodes} node(s)",
        ),
    ),
    Rule(
        id="software.hard_to_use",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.problems >= 2,),
        guidance=("G1e.4",),
        because=(
            "{problems} things about {stack} on {gpu} cost work before training runs well; a slower GPU without them can be the faster "
            "way. {problem_list}"
        ),
        fix=(_GPU,),
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
        id="software.numa_balancing",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.stack == "ROCm",),
        guidance=("G1e.4",),
        thresholds=("sw-numa-balancing",),
        because=(
            "On ROCm nodes set kernel.numa_balancing to {limit_sw_numa_balancing} and boot with iommu=pt, or collectives and training "
            "slow down."
        ),
        ask=Ask(
            to="server vendor",
            ask="Are the {nodes} node(s) delivered with NUMA balancing off and the IOMMU in pass-through?",
            good_answer="yes, shown by the acceptance test's log",
        ),
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
        id="software.precision_missing",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.precision_in_gpu == False,),  # noqa: E712
        guidance=("G1b.2",),
        thresholds=("sw-fp8-hw",),
        because="{gpu} does not multiply in {precision}; its matrix units have {gpu_precisions}.",
        fix=(Fix("training.precision", "train in BF16, which every current GPU has", "bf16"), _GPU),
    ),
    Rule(
        id="software.precision_without_kernels",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.precision_in_gpu == True, F.precision_in_software == False),  # noqa: E712
        guidance=("G1b.2", "G1e.3"),
        because="{gpu} has the format, but training software has no complete {precision} kernels for it: {precision_fact}",
        fix=(Fix("training.precision", "train in FP8 or BF16", "bf16"), _GPU),
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
        guidance=("G1b.3",),
        thresholds=("sw-scaling-loss",),
        because="Throughput per GPU falls with size: by {limit_sw_scaling_loss} % from 128 to 512 H100 for a small model.",
        ask=Ask(
            to="server vendor",
            ask="What throughput per GPU does a model like this reach on one node and on {gpus} GPUs?",
            good_answer="at {gpus} GPUs no more than {limit_sw_scaling_loss} % less than at a quarter of them",
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
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.zero_stage == 3, F.state_fits_node == True),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-fits-node-hsdp",),
        because=(
            "The model state fits into one node, so it is sharded inside the node and replicated between nodes: gathers stay off the "
            "network."
        ),
        decides=("software.sharding", "hybrid: shard in the node, replicate between nodes"),
    ),
    Rule(
        id="software.stack_supported",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.stack_is_common == True, F.toolkit_status != "dropped"),  # noqa: E712
        guidance=("G1e.1", "G4.4"),
        because="{gpu} is supported by {stack} {toolkit_version}. {toolkit_basis}",
        decides=("software.stack", "{stack} {toolkit_version}"),
    ),
    Rule(
        id="software.stack_uncommon",
        stage=Stage.SOFTWARE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.stack_is_common == False, F.gpu_was_named == False),  # noqa: E712
        guidance=("G1e.1", "G1e.4"),
        because="{gpu} runs on {stack}, neither CUDA nor ROCm; it is never chosen unasked. {framework_fact}",
        fix=(Fix("preferences.gpus", "name the GPU to accept its stack"),),
    ),
    Rule(
        id="software.stack_uncommon_named",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.stack_is_common == False, F.gpu_was_named == True),  # noqa: E712
        guidance=("G1e.1", "G1e.4"),
        because="{gpu} runs on {stack}, neither CUDA nor ROCm: code, kernels and people have to move. {toolkit_fact}",
        ask=Ask(
            to="GPU vendor",
            ask="How long will you maintain {stack} for {gpu}, and which of our models run on it unchanged?",
            good_answer="until the end of the planned use, with the models and their measured rates named",
        ),
    ),
    Rule(
        id="software.strategy_fast_network",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.network_fast == True, F.has_plan == True),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-fast-inter",),
        because=(
            "With {network_gbps} per GPU between nodes, ZeRO or FSDP changes the code least; tensor and pipeline parallelism come where "
            "it does not fit."
        ),
        decides=("software.first_strategy", "sharded data parallelism"),
    ),
    Rule(
        id="software.strategy_slow_network",
        stage=Stage.SOFTWARE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.network_gbps > 0, F.network_fast == False, F.state_fits_node == False, F.has_plan == True),  # noqa: E712
        guidance=("G1e.3",),
        thresholds=("sw-slow-inter",),
        because="With {network_gbps} per GPU between nodes, pipeline and tensor parallelism with ZeRO-1 move less than full sharding.",
        decides=("software.first_strategy", "pipeline and tensor parallelism with ZeRO-1"),
    ),
    Rule(
        id="software.toolkit_dropped",
        stage=Stage.SOFTWARE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.toolkit_status == "dropped",),
        guidance=("G1e.1",),
        because="{stack} has dropped {gpu}: {toolkit_fact} {framework} {framework_version}.",
        fix=(_GPU,),
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
            ask="Which share of dense peak does a model like this sustain over a day on {gpus} GPUs?",
            good_answer="at least {utilization}, which the design counts on",
        ),
    ),
)
