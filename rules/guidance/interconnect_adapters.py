"""Rules on how GPUs reach their network adapters: number, slot, switch and path."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

ADAPTER_RULES: tuple[Rule, ...] = (
    Rule(
        id="interconnect.adapter_beside_gpu",
        stage=Stage.INTERCONNECT,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.adapter_path == "pcie", F.gpus_per_adapter <= 1.0),  # noqa: E712
        guidance=("G5.3", "G1c.2"),
        thresholds=("ic-gpu-nic-local", "ic-gdr-required", "ic-acs-off"),
        because="With {nodes} nodes every GPU needs an adapter behind its own PCIe switch; a path over the CPU is a design fault.",
        ask=Ask(
            to="server vendor",
            ask=(
                "For {node}: which GPU and which network adapter sit behind which PCIe switch (as {topology_command} prints it), "
                "and are access control services and IOMMU redirection off?"
            ),
            good_answer=(
                "every GPU reaches its adapter as {limit_ic_gpu_nic_local}, GPUDirect RDMA works, and redirection is off (left on, "
                "bandwidth falls by a factor of about {limit_ic_acs_off})"
            ),
        ),
    ),
    Rule(
        id="interconnect.adapter_over_processor",
        stage=Stage.INTERCONNECT,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.adapter_path == "processor"),  # noqa: E712
        guidance=("G5.3", "G1c.2"),
        thresholds=("ic-gdr-required",),
        because=(
            "On {node} a GPU reaches its adapter over the coherent link to its own processor or the adapter's own switch, by design; what "
            "counts is whether data move straight from GPU memory at the adapter's rate."
        ),
        ask=Ask(
            to="server vendor",
            ask="For {node}: over which links does each GPU reach its adapter, and what does a transfer between GPUs of two nodes reach?",
            good_answer="GPUDirect RDMA without a copy in host memory, and 90 % or more of {adapter_gbps} per adapter",
        ),
    ),
    Rule(
        id="interconnect.adapter_shared",
        stage=Stage.INTERCONNECT,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.adapter_path == "pcie", F.gpus_per_adapter > 1.0),  # noqa: E712
        guidance=("G5.3", "G1c.2"),
        thresholds=("ic-gpu-nic-local", "ic-acs-off"),
        because=(
            "{gpus_per_adapter} GPUs of {node} share an adapter, {network_per_gpu_gbps} each; those on another socket reach it over the "
            "processors."
        ),
        ask=Ask(
            to="server vendor",
            ask=(
                "For {node}: which GPUs and which adapters hang on which socket and PCIe switch (as {topology_command} prints it), and are "
                "access control services and IOMMU redirection off?"
            ),
            good_answer=(
                "an adapter on the socket of the GPUs that use it, {limit_ic_gpu_nic_local} where there is a switch, and redirection off "
                "(left on, bandwidth falls by a factor of about {limit_ic_acs_off})"
            ),
        ),
    ),
    Rule(
        id="interconnect.adapter_slot",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.HARD,
        when=(
            F.slot_told == False,  # noqa: E712
            F.adapter_gbps > limit("ic-nic-slot", "gen4_x16"),
            F.pcie_generation < limit("ic-nic-slot", "pcie_generation"),
        ),
        guidance=("G2f.2", "G1c.2"),
        thresholds=("ic-nic-slot",),
        because=(
            "An adapter of {adapter_gbps} needs PCIe {limit_ic_nic_slot_pcie_generation} x16; {node} with {gpu} offers generation "
            "{pcie_generation}, which caps it near {limit_ic_nic_slot_gen4_x16} Gb/s."
        ),
        fix=(Fix("preferences.nodes", "choose a server with PCIe 5 slots"),),
    ),
    Rule(
        id="interconnect.adapters_assumed",
        stage=Stage.INTERCONNECT,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.adapters_assumed == True),  # noqa: E712
        guidance=("G5.3",),
        because="How many adapters {node} gets, and how fast, is not stated; the step time counts with {network_per_gpu_gbps} per GPU.",
    ),
)
