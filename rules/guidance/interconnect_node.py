"""Rules on the inside of a node: slots that are too narrow, paths over and between processors, slots that two networks share."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

_OTHER = Fix("preferences.nodes", "choose a server whose GPUs have their adapters beside them")

NODE_RULES: tuple[Rule, ...] = (
    Rule(
        id="interconnect.adapter_across",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.across_gpus > 0, F.across_known == True),  # noqa: E712
        guidance=("G5.3", "G2f.2"),
        thresholds=("ic-gpu-nic-local",),
        because=(
            "{across_gpus} of {gpus_in_node} GPUs of {node} use an adapter on another processor: each gets {across_gb_per_s} between the "
            "processors and loses {across_loss_gb_per_s} of what an adapter beside it carries."
        ),
        fix=(_OTHER,),
        sources=("nccl-topology",),
    ),
    Rule(
        id="interconnect.adapter_across_unknown",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.across_gpus > 0, F.across_known == False),  # noqa: E712
        guidance=("G5.3", "G2f.2"),
        thresholds=("ic-gpu-nic-local",),
        because=(
            "GPUs of {node} reach their adapter as SYS, between the processors, where all that cross share 10 GB/s on older and 40 GB/s on "
            "newer processors, as NCCL models them; an adapter of {one_adapter_gbps} beside each GPU shares nothing."
        ),
        fix=(Fix("own_server.nic_path", "put an adapter behind the PCIe switch of the GPUs that use it", "pix"),),
        sources=("nccl-topology",),
    ),
    Rule(
        id="interconnect.adapter_far",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.far_gpus > 0),  # noqa: E712
        guidance=("G5.3", "G1c.2"),
        thresholds=("ic-gpu-nic-local", "ic-gdr-required"),
        because=(
            "{far_gpus} of {gpus_in_node} GPUs of {node} have no adapter behind their PCIe switch, the farthest reaches one as "
            "{nearest_path}: NCCL then copies through host memory, since by default GPUDirect RDMA goes no farther than PXB."
        ),
        fix=(_OTHER, Fix("own_server.nic_path", "put an adapter behind the PCIe switch of the GPUs that use it", "pix")),
    ),
    Rule(
        id="interconnect.adapter_near",
        stage=Stage.INTERCONNECT,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.map_known == True, F.far_gpus == 0, F.shared_slots == 0),  # noqa: E712
        guidance=("G5.3", "G1c.2"),
        thresholds=("ic-gpu-nic-local",),
        because=(
            "Each of the {gpus_in_node} GPUs of {node} has an adapter behind its own PCIe switch, at worst as {nearest_path}; the "
            "narrowest slot is {slot_words}, {narrowest_slot_gbps}."
        ),
        decides=("compute.adapter_path", "{nearest_path}"),
    ),
    Rule(
        id="interconnect.slot_too_narrow",
        stage=Stage.INTERCONNECT,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.multi_node == True, F.slot_told == True, F.one_adapter_gbps > F.narrowest_slot_gbps),  # noqa: E712
        guidance=("G2f.2", "G2f.1"),
        thresholds=("ic-nic-slot",),
        because=(
            "An adapter of {one_adapter_gbps} in a slot of {slot_words}, which carries {narrowest_slot_gbps}, loses {slot_loss_gb_per_s}; "
            "400 Gb/s need PCIe 5 x16, 800 Gb/s PCIe 6 x16 or two slots of PCIe 5 x16."
        ),
        fix=(
            Fix("own_server.nic_lanes", "put the adapters into slots of 16 lanes", "16"),
            Fix("own_server.nic_speed", "use adapters that the slot can feed", "{slot_port_gbps}", lower=True),
            Fix("preferences.nodes", "choose a server with wider slots"),
        ),
    ),
    Rule(
        id="interconnect.slot_of_two_networks",
        stage=Stage.INTERCONNECT,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.shared_slots > 0),  # noqa: E712
        guidance=("G2f.1", "G2f.2"),
        thresholds=("ic-nic-slot",),
        because=(
            "On {node} the network among GPUs and the one to storage share {shared_slots} slot(s): reading data and writing "
            "checkpoints take from what collectives have, and both networks fail with one adapter."
        ),
        fix=(Fix("own_server.nic_networks", "give storage an adapter of its own", "separate"), _OTHER),
    ),
    Rule(
        id="interconnect.uplink_shared",
        stage=Stage.INTERCONNECT,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.gpus_per_uplink > 1,),
        guidance=("G2f.1", "G5.3"),
        because=(
            "{gpus_per_uplink} GPUs of {node} share a port of their processor of {uplink_gb_per_s}: loading data, offloading and "
            "checkpoints run at {uplink_share_gb_per_s} for each when all do it at once. Traffic to an adapter below the same "
            "switch is not touched."
        ),
        ask=Ask(
            to="server vendor",
            ask="For {node}: which GPUs, adapters and drives share which port of which processor, at which PCIe generation and width?",
            good_answer="a block diagram; {uplink_share_gb_per_s} or more per GPU from host memory with all GPUs at once, measured",
        ),
    ),
)
