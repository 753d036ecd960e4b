"""Rules on the transport: buffers and marks of lossless Ethernet, how flows are spread, and the limits of InfiniBand."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

_ETHERNET = F.technology == "ethernet"
_INFINIBAND = F.technology == "infiniband"

TRANSPORT_RULES: tuple[Rule, ...] = (
    Rule(
        id="fabric.buffer_unstated",
        stage=Stage.FABRIC,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(_ETHERNET, F.buffer_known == False),  # noqa: E712
        guidance=("G2c.1",),
        because=(
            "A port that asks for a pause still receives up to {headroom_kb} on a lossless queue over {longest_run_m} of cable; the "
            "buffer of {switch_name} is not stated."
        ),
        ask=Ask(
            to="network vendor",
            ask="How large is the shared buffer of {switch_name}, and how much headroom does a lossless queue of {link_gbps} get per port?",
            good_answer="headroom of at least {headroom_kb} on each of {headroom_ports} ports, at most half of the buffer",
        ),
    ),
    Rule(
        id="fabric.flows_balanced",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_ETHERNET, F.tiers >= 2, F.reorders_packets == False),  # noqa: E712
        guidance=("G2c.1",),
        thresholds=("fab-no-plain-ecmp",),
        because=(
            "{nic_name} takes packets in order only, so flows stay whole: switches move flowlets to idle links, and more queue pairs per "
            "connection give them more flows to move."
        ),
        decides=(
            "fabric.compute.load_balancing",
            "dynamic load balancing of flowlets; NCCL_IB_QPS_PER_CONNECTION above 1 (of 128)",
        ),
    ),
    Rule(
        id="fabric.host_settings",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_ETHERNET, F.rdma == True),  # noqa: E712
        guidance=("G2d.1", "G2c.1"),
        because=(
            "Hosts must mark what switches keep lossless: traffic class 104 is DSCP 26 (four times the number), and the RoCEv2 GID makes "
            "RDMA travel over UDP 4791, which can be routed."
        ),
        decides=(
            "fabric.compute.hosts",
            "NCCL_IB_TC=104, NCCL_IB_GID_INDEX of the RoCEv2 GID, MTU of 9,000 or more, ACS off, iommu=pt",
        ),
    ),
    Rule(
        id="fabric.infiniband_subnet_full",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(_INFINIBAND, F.lids > limit("fab-ib-lids")),
        guidance=("G2e.1", "G2c.1"),
        thresholds=("fab-ib-lids",),
        because=(
            "Switches and adapters need {lids} LIDs, and one InfiniBand subnet has {limit_fab_ib_lids}: about {subnet_nodes} nodes fit, "
            "more need several subnets with routers between them."
        ),
        fix=(
            Fix("preferences.fabric", "Ethernet is routed and has no such limit", "ethernet"),
            Fix("scale.nodes", "as many nodes as one subnet takes", "{subnet_nodes}"),
        ),
        ask=Ask(
            to="network vendor",
            ask="How do you connect several InfiniBand subnets for {gpus} GPUs, and what does an all-reduce across them reach?",
            good_answer="named routers and a measured all-reduce across subnets within 10 % of one inside",
        ),
    ),
    Rule(
        id="fabric.lossless_buffers",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_ETHERNET, F.buffer_known == True),  # noqa: E712
        guidance=("G2c.1", "G2c.2"),
        thresholds=("fab-roce-ecn",),
        because=(
            "A port that asks for a pause still receives up to {headroom_kb}: what is on {longest_run_m} of cable both ways at "
            "{link_gbps}, two frames, and what the sender may send until it obeys. For {headroom_ports} port(s) of a leaf that is "
            "{headroom_mb} of the {buffer_mb} of {switch_name}."
        ),
        decides=(
            "fabric.compute.buffers",
            "headroom of {headroom_kb} per lossless queue and port; ECN marks from {limit_fab_roce_ecn_from_kb} to "
            "{limit_fab_roce_ecn_to_kb} of the RDMA queue to begin with; watchdog on",
        ),
    ),
    Rule(
        id="fabric.no_rdma",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.rdma == False),  # noqa: E712
        guidance=("G2d.1", "G2f.1"),
        because=(
            "{nic_name} does no RDMA: every message between nodes is copied by the processors, which costs cores and latency, and the "
            "adapters' rate of {node_gbps} per node is not reached."
        ),
        fix=(Fix("preferences.nodes", "name a server whose adapters do RDMA (InfiniBand, or RoCEv2 on Ethernet)"),),
        ask=Ask(
            to="server vendor",
            ask="Which adapters for {node} do RDMA straight from GPU memory, and at which rate?",
            good_answer="one with RoCEv2 or InfiniBand and GPUDirect RDMA or its equivalent",
        ),
    ),
    Rule(
        id="fabric.packets_sprayed",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_ETHERNET, F.tiers >= 2, F.reorders_packets == True),  # noqa: E712
        guidance=("G2c.1",),
        thresholds=("fab-no-plain-ecmp",),
        because=(
            "{nic_name} puts packets back in order, so switches may send each over the least filled of {spine_words}; hashing whole flows "
            "loses up to {limit_fab_no_plain_ecmp} % of an all-reduce."
        ),
        decides=("fabric.compute.load_balancing", "packet spraying (adaptive routing) on the RDMA queue, reordering on at the adapters"),
    ),
    Rule(
        id="fabric.sharp_limits",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(_INFINIBAND, F.sharp_known == True),  # noqa: E712
        guidance=("G2c.1", "G2b.2"),
        thresholds=("fab-sharp-trees",),
        because=(
            "Switches can add while they forward (SHARP): {sharp_trees} trees per switch, of which {sharp_streams}, messages of at most "
            "1 GiB. Jobs share the trees, and the aggregation manager must run, so the step is estimated without it."
        ),
        decides=(
            "fabric.compute.in_network_reduction",
            "available, not counted on: {sharp_trees} trees per switch; NCCL_COLLNET_ENABLE=1 with the aggregation manager",
        ),
    ),
    Rule(
        id="fabric.subnet_managers",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_INFINIBAND, F.switches > 0),
        guidance=("G2e.1",),
        because="Nothing moves before a subnet manager has given out {lids} LIDs and routes; a standby takes over when it fails.",
        decides=("fabric.compute.subnet_managers", "{manager_words}"),
    ),
)
