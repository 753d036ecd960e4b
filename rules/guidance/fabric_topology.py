"""Rules on how the network is wired: adapters, tiers, ratio, rails, planes, congestion, managers."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule, limit

_MULTI_NODE = F.multi_node == True  # noqa: E712
_ETHERNET = F.technology == "ethernet"
_INFINIBAND = F.technology == "infiniband"
_LOSSLESS = (
    "UDP 4791; RDMA at DSCP 26 in priority 3, lossless, PFC there only and with a watchdog; CNP at DSCP 48 in priority 7; "
    "ECN on the RDMA queue"
)
"""Values of the RoCEv2 checklist on which Juniper's, NVIDIA's and AMD's guides agree."""

TOPOLOGY_RULES: tuple[Rule, ...] = (
    Rule(
        id="fabric.adapter_slot_narrow",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.slot_known == True, F.nic_speed_gbps > F.slot_gbps),  # noqa: E712
        guidance=("G2f.2",),
        because=(
            "An adapter of {nic_speed_gbps} sits in a slot that carries {slot_gbps} and loses {slot_short_gb_per_s}: 400 Gb/s needs PCIe "
            "Gen5 x16, 800 Gb/s Gen6 x16 or two Gen5 x16. The design counts with the slot's rate."
        ),
        fix=(Fix("preferences.nodes", "choose a server whose slots carry the adapter, or slower adapters"),),
        ask=Ask(
            to="server vendor",
            ask="In which slot, with which PCIe generation and how many lanes, does each {nic_speed_gbps} adapter of {node} run?",
            good_answer="each adapter under the same PCIe switch as its GPU, with at least {nic_speed_gbps} to the slot",
        ),
        sources=("imbue-cluster-health",),
    ),
    Rule(
        id="fabric.adapters_assumed",
        stage=Stage.FABRIC,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(_MULTI_NODE, F.nics_assumed == True),  # noqa: E712
        guidance=("G2f.1",),
        because="{nics_assumption}. Time and switches rest on it.",
    ),
    Rule(
        id="fabric.adapters_per_gpu_few",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(_MULTI_NODE, F.fast_scale_up == True, F.nics_per_gpu < limit("fab-nic-per-gpu")),  # noqa: E712
        guidance=("G2f.1",),
        thresholds=("fab-nic-per-gpu",),
        because=(
            "A node has {nics_per_node} adapter(s) for {gpus_per_node} GPUs; with fast links inside, the usual build is one per "
            "GPU, so the network is the narrow place: {offered_gbps} per GPU."
        ),
        fix=(Fix("own_server.nics", "give each GPU its own adapter", "{gpus_per_node}"),),
    ),
    Rule(
        id="fabric.adaptive_routing_infiniband",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(_INFINIBAND, F.tiers >= 2),
        guidance=("G2c.1", "G2b.2"),
        thresholds=("fab-ib-ar",),
        because=(
            "Static routes over {spine} spine(s) collide; the subnet manager must route adaptively. In-network reduction (SHARP) needs "
            "its aggregation manager and is shared by all jobs, so the design does not count on it."
        ),
        decides=("fabric.compute.routing", "adaptive routing (ar_updn or ar_ftree) in the subnet manager"),
    ),
    Rule(
        id="fabric.cannot_be_built",
        stage=Stage.FABRIC,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.buildable == False,),  # noqa: E712
        guidance=("G2e.1",),
        because="No network among {nodes} nodes can be built: {refused}.",
        fix=(
            Fix("scale.nodes", "fewer nodes"),
            Fix("preferences.announced_products", "allow announced switches", "allow", when=(F.nics_per_node >= 1,)),
            Fix("own_server.nics", "give the server an adapter", when=(F.nics_per_node < 1,)),
        ),
    ),
    Rule(
        id="fabric.direct_cabling",
        stage=Stage.FABRIC,
        kind=Kind.ASSUMPTION,
        strength=Strength.ADVICE,
        when=(_MULTI_NODE, F.switches > 0, F.nodes == limit("fab-switchless-2")),
        guidance=("G7.4", "G2e.1"),
        thresholds=("fab-switchless-2",),
        because=(
            "The two nodes are joined by {switch_words}; without it, adapter to adapter, an all-reduce works too, but no all-to-all "
            "across rails and no third node."
        ),
    ),
    Rule(
        id="fabric.front_end",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_front_end == True, F.front_ratio <= limit("fab-frontend-3to1")),  # noqa: E712
        guidance=("G2f.1", "G2e.1"),
        thresholds=("fab-frontend-3to1", "fab-three-networks"),
        because=(
            "Storage and in-band traffic have adapters and {front_switches} switches of their own at {front_ratio}:1, so they take "
            "nothing from the GPUs' network; {managed_ports} ports hang on {managed_switches} management switch(es)."
        ),
        decides=("fabric.storage.network", "{front_gbps} Ethernet, two links per node, shared by storage and in-band"),
    ),
    Rule(
        id="fabric.leaf_spine",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.layout == "tree",),
        guidance=("G2e.1", "G2e.2"),
        because=(
            "All adapters of a node hang on one leaf{in_each_plane}, at most {unit_nodes} nodes on each, so nodes of a leaf are one hop "
            "apart. Losing a leaf takes {leaf_loss_percent} of a node's rate, losing a spine {spine_loss_percent} of what passes between "
            "leaves."
        ),
        decides=("fabric.compute.topology", "leaf-spine, {tiers} tiers: {switch_words}, {oversubscription}:1"),
    ),
    Rule(
        id="fabric.managers_no_port",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.managers_missing == True,),  # noqa: E712
        guidance=("G2e.1",),
        thresholds=("fab-reserve-fm",),
        because=(
            "{nodes} nodes fill the leaves: no port is left for fabric managers, so the subnet manager runs on a switch. One node "
            "fewer leaves room for them."
        ),
        fix=(Fix("scale.nodes", "take one node fewer and attach the fabric managers", "{nodes_with_managers}"),),
    ),
    Rule(
        id="fabric.one_leaf_for_all",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.layout == "single",),
        guidance=("G7.4", "G2e.1"),
        because=(
            "All {nodes} nodes fit on one {switch_name}{in_each_plane} with {free_leaf_ports} ports to spare: one hop, no "
            "oversubscription; {switch_loss}."
        ),
        decides=("fabric.compute.topology", "one switch for all {nodes} nodes{in_each_plane}"),
    ),
    Rule(
        id="fabric.oversubscribed",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(_MULTI_NODE, F.oversubscription > limit("fab-backend-1to1")),
        guidance=("G2e.1", "G2c.1"),
        thresholds=("fab-backend-1to1",),
        because="The leaves are wired {oversubscription}:1; between leaves a GPU is left with {offered_gbps} when all of them talk.",
        fix=(Fix("preferences.oversubscription", "wire the GPUs' network without oversubscription", "1"),),
    ),
    Rule(
        id="fabric.placement",
        stage=Stage.FABRIC,
        kind=Kind.ASSUMPTION,
        strength=Strength.STRONG,
        when=(F.tiers >= 2,),
        guidance=("G2e.1", "G2c.1"),
        thresholds=("fab-proximity", "fab-shared-noise"),
        because=(
            "The job has the network to itself and its nodes are placed by unit of {unit_nodes}; two tiers of this switch carry up "
            "to {two_tier_nodes} nodes."
        ),
    ),
    Rule(
        id="fabric.rails",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.layout == "rail", F.nics_per_node <= limit("fab-rail")),
        guidance=("G2e.1", "G2e.2"),
        thresholds=("fab-rail",),
        because=(
            "Adapter i of every node goes to leaf i of its unit of {unit_nodes} nodes, so GPUs of one rail are one hop apart. Losing "
            "a leaf takes {leaf_loss_percent} of a node's rate, losing a spine {spine_loss_percent} of what passes between leaves."
        ),
        decides=("fabric.compute.topology", "rail-optimized, {tiers} tiers: {switch_words}, {oversubscription}:1"),
    ),
    Rule(
        id="fabric.rails_many",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.layout == "rail", F.nics_per_node > limit("fab-rail")),
        guidance=("G2e.1", "G2e.2"),
        thresholds=("fab-rail",),
        because=(
            "Adapter i of every node goes to leaf i of its unit of {unit_nodes} nodes: {nics_per_node} rails, where published designs have "
            "{limit_fab_rail}. Losing a leaf takes {leaf_loss_percent} of a node's rate, losing a spine {spine_loss_percent} of what "
            "passes between leaves."
        ),
        decides=("fabric.compute.topology", "rail-optimized, {tiers} tiers: {switch_words}, {oversubscription}:1"),
    ),
    Rule(
        id="fabric.roce_lossless",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.HARD,
        when=(_ETHERNET, F.rdma == True),  # noqa: E712
        guidance=("G2c.1", "G2c.2", "G2d.1"),
        thresholds=("fab-roce-lossless", "fab-dcqcn-not-hard"),
        because=(
            "RDMA over Ethernet falls to fractions of its rate where packets are lost, so flow control is part of the design; DCQCN "
            "may stay off where the collectives library admits traffic itself."
        ),
        decides=("fabric.compute.congestion_control", _LOSSLESS),
    ),
    Rule(
        id="fabric.scale_beyond_proven",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(_MULTI_NODE, F.gpus > limit("fab-ib-or-roce")),
        guidance=("G2c.1",),
        thresholds=("fab-ib-or-roce",),
        because="{gpus} GPUs exceed the {limit_fab_ib_or_roce} for which both InfiniBand and RoCE have been shown to train equally well.",
        ask=Ask(
            to="network vendor",
            ask="At which installation of at least {gpus} GPUs does {technology_name} run, and with which throughput per GPU?",
            good_answer="a named installation of that size with measured throughput per GPU",
        ),
    ),
    Rule(
        id="fabric.spines_few",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(_ETHERNET, F.tiers >= 2, F.spine < limit("fab-min-spines")),
        guidance=("G2e.1", "G2c.1"),
        thresholds=("fab-min-spines",),
        because=(
            "Enough ports are on {spine} spine(s), but losing one takes {spine_loss_percent} of what passes between leaves; with two, "
            "a double failure under load has led to storms of pause frames."
        ),
        ask=Ask(
            to="network vendor",
            ask="What does the same fabric cost with {limit_fab_min_spines} smaller spines instead of {spine}?",
            good_answer="{limit_fab_min_spines} spines with the same number of uplinks per leaf to each",
        ),
    ),
    Rule(
        id="fabric.spraying_without_reordering",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(_ETHERNET, F.tiers >= 2, F.reorders_packets == False),  # noqa: E712
        guidance=("G2c.1", "G2c.2"),
        thresholds=("fab-no-plain-ecmp",),
        because=(
            "{nic_name} does not put sprayed packets back in order, and hashing of flows alone leaves links idle: dynamic load "
            "balancing or several queue pairs per connection are needed, worth up to {limit_fab_no_plain_ecmp} % of an all-reduce."
        ),
        ask=Ask(
            to="network vendor",
            ask="How are the flows of {gpus} GPUs spread over {spine_words} with {nic_name}: hashing, dynamic balancing, or spraying?",
            good_answer=(
                "dynamic load balancing or spraying with adapters that reorder; measured all-reduce over all leaves at "
                "{bus_gb_per_s} or more"
            ),
        ),
    ),
    Rule(
        id="fabric.top_of_rack_single",
        stage=Stage.FABRIC,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(_ETHERNET, F.planes == 1, F.tiers >= 2, F.gpus >= limit("fab-dual-tor")),
        guidance=("G2c.1",),
        thresholds=("fab-dual-tor",),
        because=(
            "Each adapter hangs on one leaf: a failed leaf takes {leaf_loss_percent} of the rate of {unit_nodes} nodes until it is "
            "replaced."
        ),
        ask=Ask(
            to="network vendor",
            ask="Can each adapter be tied to two leaves (two ports, two planes), and what does that cost for {gpus} GPUs?",
            good_answer="two ports per adapter on two leaves without a stacking link between them",
        ),
    ),
    Rule(
        id="fabric.two_planes",
        stage=Stage.FABRIC,
        kind=Kind.DECISION,
        strength=Strength.HARD,
        when=(_ETHERNET, F.planes >= 2),
        guidance=("G2f.1", "G2c.1"),
        because=(
            "{nic_name} does not run {nic_speed_gbps} over one Ethernet port: {planes} ports of {link_gbps} go to {planes} separate "
            "planes, which share no switch, so a lost plane leaves the rest."
        ),
        decides=("fabric.compute.planes", "{planes} planes of {link_gbps}"),
    ),
)
