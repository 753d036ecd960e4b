"""Rules on the links inside the node and on sustained arithmetic: which link a plan needs, and what peaks are worth."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit
from rules.guidance.interconnect_adapters import ADAPTER_RULES
from rules.guidance.interconnect_networks import NETWORK_RULES
from rules.guidance.interconnect_node import NODE_RULES

_TENSOR = Fix("parallelism.tensor", "keep tensor parallelism off this link", "1")
_GPU = Fix("preferences.gpus", "name a GPU whose servers join their GPUs by a link of their own")

_OWN_RULES: tuple[Rule, ...] = (
    Rule(
        id="interconnect.communication_exceeds_arithmetic",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.exposed_percent > F.arithmetic_percent),  # noqa: E712
        guidance=("G1c.3", "G6.3"),
        because=(
            "GPUs wait for communication {exposed_percent} of the step and compute {arithmetic_percent}: {scale_up_kind} and "
            "{network_per_gpu_gbps} per GPU cannot feed {gpus} {gpu} with {plan}."
        ),
        fix=(_GPU, Fix("scale.gpus", "use fewer GPUs"), Fix("training.global_batch", "train with a larger global batch")),
    ),
    Rule(
        id="interconnect.expert_beyond_domain",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.expert_domains > 1,),
        guidance=("G1c.1", "G2e.2"),
        because=(
            "Experts spread over {expert} GPUs, the fast links join {domain_gpus}, so an expert group lies in up to {expert_domains} "
            "domains: tokens cross the network, and the step waits {expert_percent} for it. Leaving the domain made the exchange over 64 "
            "GPUs about seven times slower where it was measured."
        ),
        fix=(
            Fix("parallelism.expert", "keep expert parallelism inside the domain", "{domain_gpus}"),
            Fix("preferences.gpus", "name a GPU sold in racks with one scale-up domain"),
        ),
        sources=("arxiv-2603.07685",),
    ),
    Rule(
        id="interconnect.fast_link",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.fast_scale_up == True,),  # noqa: E712
        guidance=("G4.2", "G1c.2"),
        thresholds=("ic-efficiency", "ic-bandwidth-table"),
        because=(
            "{domain_gpus} GPUs of {node} share {scale_up_kind} at {scale_up_gb_per_s} each, one way; an all-reduce of 1 GiB should reach "
            "{all_reduce_gb_per_s} of bus bandwidth (about {limit_ic_efficiency} of the line rate where no switch adds)."
        ),
        decides=("compute.scale_up", "{scale_up_kind}, {domain_gpus} GPUs, {topology}"),
    ),
    Rule(
        id="interconnect.gpus_left_idle",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.idle_gpus > 0,),
        guidance=("G1c.1",),
        because=(
            "{plan} uses all but {idle_gpus} of {gpus} GPUs ({idle_percent}): their number does not divide into the batch, the layers and "
            "the domain. They serve as spares, or are not needed."
        ),
        fix=(
            Fix("training.global_batch", "choose a global batch that the number of GPUs divides"),
            Fix("scale.gpus", "buy a number of GPUs that is a power of two"),
        ),
    ),
    Rule(
        id="interconnect.link_decides",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.fast_scale_up == True, F.link_decides == True),  # noqa: E712
        guidance=("G1c.3", "G1c.1"),
        because=(
            "Over PCIe alone the same plan would take {step_over_pcie_s} a step instead of {step_s}, {link_gain_percent} more: the link "
            "matters as much as the arithmetic."
        ),
        decides=("compute.scale_up_needed", "yes"),
        writes=("fast_link_needed",),
    ),
    Rule(
        id="interconnect.link_does_not_decide",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.has_plan == True, F.fast_scale_up == True, F.link_decides == False),  # noqa: E712
        guidance=("G1c.3",),
        because=(
            "Over PCIe the same plan would take {step_over_pcie_s} a step instead of {step_s}, {link_gain_percent} more, which is within "
            "the estimate's uncertainty: this plan does not live off {scale_up_kind}."
        ),
        decides=("compute.scale_up_needed", "no"),
    ),
    Rule(
        id="interconnect.link_printed_both_ways",
        stage=Stage.INTERCONNECT,
        kind=Kind.ASSUMPTION,
        strength=Strength.HARD,
        when=(F.fast_scale_up == True, F.nvlink == True),  # noqa: E712
        guidance=("G1c.1",),
        thresholds=("ic-duplex-trap",),
        because=(
            "Vendors print {scale_up_printed_gb_per_s} for both directions; transfers are timed with {limit_ic_duplex_trap} of it, "
            "{scale_up_gb_per_s} one way."
        ),
    ),
    Rule(
        id="interconnect.link_reduced",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(
            F.nvlink == True,  # noqa: E712
            F.tensor > limit("ic-crippled-nvlink"),
            F.scale_up_printed_gb_per_s <= limit("ic-crippled-nvlink", "printed_bandwidth_gbyte_s"),
        ),
        guidance=("G1c.1", "G1c.2"),
        thresholds=("ic-crippled-nvlink",),
        because=(
            "{gpu} has {scale_up_printed_gb_per_s} of NVLink both ways, a cut-down link; {tensor} tensor-parallel ranks on it wait "
            "{tensor_percent} of the step."
        ),
        fix=(_TENSOR, _GPU),
    ),
    Rule(
        id="interconnect.mesh_partly_used",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.full_mesh == True, F.tensor > 1, F.tensor < limit("ic-mi300x-full-node"), F.tensor < F.domain_gpus),  # noqa: E712
        guidance=("G1c.2",),
        thresholds=("ic-mi300x-full-node",),
        because=(
            "{tensor} of {domain_gpus} GPUs of a full mesh use only the links among them; only all {limit_ic_mi300x_full_node} together "
            "reach {scale_up_gb_per_s}."
        ),
        fix=(
            Fix("parallelism.tensor", "use the whole mesh, or none of it", "{domain_gpus}"),
            Fix("parallelism.tensor", "shard the states instead of the layers", "1"),
        ),
    ),
    Rule(
        id="interconnect.no_peer_to_peer",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.peer_to_peer == False, F.gpus > 1),  # noqa: E712
        guidance=("G1c.2",),
        thresholds=("ic-4090-no-p2p",),
        because=(
            "{gpu} has no peer-to-peer access: traffic between the GPUs of {node} goes through host memory, {scale_up_gb_per_s} one way."
        ),
        fix=(_GPU, _TENSOR),
        writes=("no_peer_access",),
    ),
    Rule(
        id="interconnect.no_peer_to_peer_tensor",
        stage=Stage.INTERCONNECT,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.tensor > 1,),
        premise="no_peer_access",
        guidance=("G1c.2", "G1c.1"),
        thresholds=("ic-4090-no-p2p",),
        because=(
            "{tensor} tensor-parallel ranks exchange activations several times per layer, through host memory: the step waits "
            "{tensor_percent} for it."
        ),
        fix=(_TENSOR, _GPU),
    ),
    Rule(
        id="interconnect.parallelism_question",
        stage=Stage.INTERCONNECT,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.gpus > 1),  # noqa: E712
        writes=("asked_parallelism",),
        guidance=("G5.2",),
        because="The plan is {plan}: {data} data-parallel and {tensor} tensor-parallel ranks on {gpus} GPUs.",
        ask=Ask(
            to="server vendor",
            ask=(
                "Is {node} built for data parallelism, tensor parallelism, or both, and what does an all-reduce of 1 GiB reach over the "
                "{domain_gpus} GPUs of one scale-up domain?"
            ),
            good_answer=("both, and at least {all_reduce_gb_per_s} of bus bandwidth, which {plan} counts with"),
        ),
    ),
    Rule(
        id="interconnect.pcie_accepted",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(
            F.has_plan == True,  # noqa: E712
            F.pcie_only == True,  # noqa: E712
            F.peer_to_peer == True,  # noqa: E712
            F.tensor == 1,
            F.busy_percent >= limit("ic-pcie-only-ok", "performance") * 100.0,
        ),
        guidance=("G1c.2",),
        thresholds=("ic-pcie-only-ok",),
        because=(
            "The plan needs no tensor parallelism and waits {exposed_percent} of the step for communication, so PCIe will do; a PCIe "
            "cluster reached {limit_ic_pcie_only_ok_performance} of an NVSwitch one's speed at {limit_ic_pcie_only_ok_cost} of its cost."
        ),
        decides=("compute.scale_up_needed", "no"),
    ),
    Rule(
        id="interconnect.pcie_tensor",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.pcie_only == True, F.tensor > 1),  # noqa: E712
        guidance=("G1c.2", "G1c.1"),
        thresholds=("ic-no-nvlink-pp",),
        because=(
            "{tensor} tensor-parallel ranks over PCIe at {scale_up_gb_per_s} wait {tensor_percent} of the step; without NVLink the order "
            "of preference is {limit_ic_no_nvlink_pp}."
        ),
        fix=(_TENSOR, _GPU),
    ),
    Rule(
        id="interconnect.precision_not_native",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.precision_native == False,),  # noqa: E712
        guidance=("G1b.1",),
        because="{gpu} has no matrix units for {precision}; it would compute in {native_precision} at {sustained_tflops} sustained.",
        fix=(Fix("training.precision", "train in a format that the GPU has", "{native_precision}"), _GPU),
    ),
    Rule(
        id="interconnect.single_node",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.has_plan == True, F.multi_node == False, F.gpus > 1),  # noqa: E712
        guidance=("G6.1",),
        because=(
            "All {gpus} GPUs are in one node, so memory and {scale_up_kind} decide; a network between nodes plays no part in the step of "
            "{step_s}."
        ),
        decides=("compute.nodes", "1"),
    ),
    Rule(
        id="interconnect.sustained_estimated",
        stage=Stage.INTERCONNECT,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.sustained_measured == False,),  # noqa: E712
        guidance=("G1b.3",),
        because=(
            "Nobody's measurement of {gpu} in {precision} is in the catalog; {sustained_tflops} ({sustained_percent} of peak) is what its "
            "kin sustain."
        ),
    ),
    Rule(
        id="interconnect.sustained_rate",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.sustained_measured == True),  # noqa: E712
        guidance=("G1b.3",),
        because=(
            "{gpu} prints {peak_tflops} dense in {native_precision}, sustains {sustained_tflops} ({sustained_percent}) in large products, "
            "and is expected to train at {model_tflops} ({utilization_percent} of peak): sizes follow from the last."
        ),
        decides=("performance.sustained", "{model_tflops} per GPU"),
    ),
    Rule(
        id="interconnect.tensor_beyond_domain",
        stage=Stage.INTERCONNECT,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.tensor > F.domain_gpus,),
        guidance=("G1c.1", "G2e.2"),
        thresholds=("ic-tp-in-node",),
        because=(
            "{tensor} tensor-parallel ranks do not fit into the {domain_gpus} GPUs that {scale_up_kind} joins, so every layer crosses the "
            "network; the step waits {tensor_percent} for it."
        ),
        fix=(Fix("parallelism.tensor", "keep tensor parallelism inside the domain", "{domain_gpus}"), _GPU),
    ),
    Rule(
        id="interconnect.tensor_cores",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.tensor_core_precision == True, F.precision_native == True),  # noqa: E712
        guidance=("G1b.1",),
        because="Training in {precision} runs on the matrix units of {gpu}: {sustained_tflops} sustained of {peak_tflops} dense.",
        decides=("performance.precision", "{precision} on {native_precision} matrix units"),
    ),
    Rule(
        id="interconnect.tensor_inside_domain",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.fast_scale_up == True, F.tensor > 1, F.tensor <= F.domain_gpus),  # noqa: E712
        guidance=("G1c.1", "G4.2"),
        thresholds=("ic-tp-in-node",),
        because=(
            "{tensor} tensor-parallel ranks stay among the {domain_gpus} GPUs that {scale_up_kind} joins; their communication costs "
            "{tensor_percent} of the step."
        ),
        decides=("parallelism.tensor", "{tensor}"),
    ),
    Rule(
        id="interconnect.topology_question",
        stage=Stage.INTERCONNECT,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.gpus > 1,),
        writes=("asked_topology",),
        guidance=("G5.3",),
        because="How the GPUs of a node are joined decides what sharding and tensor parallelism cost; the catalog says {topology}.",
        ask=Ask(
            to="server vendor",
            ask="How are the GPUs of {node} joined: switch, pairwise, bridges or PCIe, and at what rate one way between any two?",
            good_answer="{topology} over {domain_gpus} GPUs: {scale_up_gb_per_s} per GPU in all, {pair_gb_per_s} between any two, one way",
        ),
    ),
)

RULES: tuple[Rule, ...] = tuple(sorted((*_OWN_RULES, *ADAPTER_RULES, *NETWORK_RULES, *NODE_RULES), key=lambda rule: rule.id))
