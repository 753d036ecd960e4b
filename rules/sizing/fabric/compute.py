"""The network among GPUs: InfiniBand and Ethernet are both counted, and the traffic decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.findings import Kind, Stage
from rules.sizing.fabric.counts import two_tier_nodes
from rules.sizing.fabric.inputs import HALF_UNIT, PORT_SPEEDS_GBPS, FabricInput
from rules.sizing.fabric.switching import Counted, SwitchOption, count_with, switch_options
from rules.sizing.placement import expert_domains, most_domains

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.fabric.adapters import Adapters
    from rules.sizing.fabric.traffic import StepAtRate

TECHNOLOGIES = ("infiniband", "ethernet")
MANAGER_LINKS = 4
"""Links of the fabric managers at every size of NVIDIA's DGX SuperPOD with UFM (two appliances) [RA-11333-001, table 4]."""
SENSITIVE_SHARE = 0.05
"""The step depends on the network where half of the rate makes it longer by this share: about the error of a step estimate on tuned
published runs. A proposal, not measured."""

INFINIBAND_NAMES = {200.0: "HDR", 400.0: "NDR", 800.0: "XDR"}
"""Names of InfiniBand by the rate of a four-lane port in Gb/s [InfiniBand Trade Association]."""
SLOWER_FLOOR = 2.0
"""Latency floor of a collective that a design is tried against, relative to that of measured clusters. A proposal: what an empty message
takes over a busy or badly tuned network."""


@dataclass(frozen=True)
class ComputeChoice:
    """The chosen network among GPUs and why: `reason` is asked, only, policy, platform, heavy, latency, fastest, light or none.

    `other` is what the other technology would have needed, None where it cannot be built. `managers_missing` says that the
    fabric managers found no port, `spares_wired` how many spare nodes have ports, `policies` which policies of the site refuse the other
    technology. `refused` is why nothing could be built, "" where something was; `asked_refused` why what was asked for could not, where the
    adapters would do. `half_rate_longer` is by which share half of the rate would lengthen the step, `floor_longer` twice the latency
    floor.
    """

    technology: str
    reason: str
    chosen: Counted | None
    other: Counted | None
    managers_missing: bool = False
    refused: str = ""
    asked_for_missing: bool = False
    half_rate_longer: float = 0.0
    floor_longer: float = 0.0
    spares_wired: int = 0
    policies: tuple[str, ...] = ()
    asked_refused: str = ""


def needs_compute_fabric(candidate: Candidate) -> bool:
    """Return whether GPUs must talk between nodes: more than one node, and more GPUs than share one scale-up domain."""
    return candidate.nodes > 1 and candidate.gpus > candidate.node.scale_up_domain


def choose_compute(candidate: Candidate, context: Context, adapters: Adapters, step: StepAtRate, share_gbps: float) -> ComputeChoice:
    """Count the network with both technologies and choose; `share_gbps` is the adapters' rate per GPU."""
    if not needs_compute_fabric(candidate):
        return ComputeChoice("none", "none", None, None)
    if adapters.count < 1:
        return ComputeChoice("none", "none", None, None, refused="the servers have no adapter for a network between them")
    built = {technology: _count(candidate, context, adapters, technology) for technology in TECHNOLOGIES}
    possible = [technology for technology in TECHNOLOGIES if built[technology] is not None]
    if not possible:
        return ComputeChoice("none", "none", None, None, refused=_refusal(candidate, context, adapters))
    asked = context.answers.text("preferences.fabric")
    longer = step.longer(share_gbps / 2)
    refusing = _refusing(built, candidate, context)
    technology, reason = _decide(asked, possible, refusing, candidate, context, longer)
    chosen, missing = _with_managers(built[technology], technology, adapters)
    other = next((built[each] for each in TECHNOLOGIES if each != technology), None)
    unmet = asked in TECHNOLOGIES and asked not in possible
    floor = step.longer_at_floor(SLOWER_FLOOR)
    why = _refusal(candidate, context, adapters, (asked,)) if unmet and asked in adapters.protocols else ""
    others = _others(refusing, reason)
    return ComputeChoice(technology, reason, chosen, other, missing, "", unmet, longer, floor, policies=others, asked_refused=why)


def with_spares(choice: ComputeChoice, spares: int, adapters: Adapters) -> ComputeChoice:
    """Return the choice with ports and links for spare nodes, where the switches have them free; else as it is.

    A spare without a port takes the cables of the node that it replaces.
    """
    counted = choice.chosen
    if counted is None or spares < 1:
        return choice
    made = count_with([counted.option], replace(counted.spec, nodes=counted.spec.nodes + spares), adapters.per_cage)
    if made is None or made.counts.switches != counted.counts.switches:
        return choice
    return replace(choice, chosen=made, spares_wired=spares)


def technology_name(technology: str, link_gbps: float) -> str:
    """Return the technology as people say it: InfiniBand NDR, RoCEv2 over 400 GbE; a rate that no port has is what a node really gets."""
    if technology == "infiniband":
        return f"InfiniBand {INFINIBAND_NAMES.get(link_gbps, f'{link_gbps:g} Gb/s')}"
    if link_gbps not in PORT_SPEEDS_GBPS:
        return f"RoCEv2 at {link_gbps:g} Gb/s, as no port runs"
    return f"RoCEv2 over {link_gbps:g} GbE"


def _refusing(built: Mapping[str, Counted | None], candidate: Candidate, context: Context) -> dict[str, list[str]]:
    """Return by technology the policies of the site that refuse it by what is known before the choice."""
    rejecting = [each for each in context.answers.policies if each.stage is Stage.FABRIC and each.rule.kind is Kind.REJECT]
    cluster: dict[str, Scalar] = {"nodes": candidate.nodes, "gpus": candidate.gpus, "gpu": candidate.gpu.name, "node": candidate.node.name}
    found = {}
    for technology, counted in built.items() if rejecting else ():
        name = technology_name(technology, counted.spec.link_speed_gbps) if counted else ""
        known = cluster | {"technology": technology, "technology_name": name}
        speaks = [each.id for each in rejecting if all(set(one.reads) <= known.keys() and one.holds(known) for one in each.rule.when)]
        found[technology] = speaks
    return found


def _others(refusing: Mapping[str, list[str]], reason: str) -> tuple[str, ...]:
    """Return the policies that decided, where one did."""
    return tuple(id_ for ids in refusing.values() for id_ in ids) if reason == "policy" else ()


def _decide(
    asked: str,
    possible: list[str],
    refusing: Mapping[str, list[str]],
    candidate: Candidate,
    context: Context,
    half_rate_longer: float,
) -> tuple[str, str]:
    """Return (technology, reason); InfiniBand has the lower latency, Ethernet the wider choice and the lower price per port."""
    if asked in possible:
        return asked, "asked"
    if len(possible) == 1:
        return possible[0], "only"
    allowed = [technology for technology in possible if not refusing.get(technology)]
    if len(allowed) == 1:
        return allowed[0], "policy"
    if candidate.gpu.stack != "CUDA":
        return "ethernet", "platform"
    if domains_spanned(candidate) > 1:
        return "infiniband", "latency"
    if half_rate_longer >= SENSITIVE_SHARE:
        return "infiniband", "heavy"
    if context.answers.text("budget.objective") == "fastest":
        return "infiniband", "fastest"
    return "ethernet", "light"


def domains_spanned(candidate: Candidate) -> int:
    """Return over how many scale-up domains the plan's tensor, expert or context groups reach; 1 where all stay inside."""
    return most_domains(candidate.choice.plan, _domain_gpus(candidate)) if candidate.choice else 1


def experts_spanned(candidate: Candidate) -> int:
    """Return over how many scale-up domains an expert group of the plan lies; 1 where it stays inside."""
    return expert_domains(candidate.choice.plan, _domain_gpus(candidate)) if candidate.choice else 1


def _domain_gpus(candidate: Candidate) -> int:
    domain = max(1, candidate.node.scale_up_domain)
    if domain == 1:  # without fast links the GPUs of one server share its host
        domain = max(1, candidate.node.gpu_count // candidate.node.trays)
    return domain * candidate.gpu.devices


def _count(candidate: Candidate, context: Context, adapters: Adapters, technology: str) -> Counted | None:
    """Return the network in one technology with the switch that needs the fewest boxes, None where it cannot be built."""
    if technology not in adapters.protocols:
        return None
    planes = adapters.planes(technology)
    options = switch_options(context.catalog, context.answers, technology, adapters.speed_gbps / planes)
    best: Counted | None = None
    for option in options:
        made = count_with([option], _spec(candidate, context, adapters, planes, option), adapters.per_cage)
        if made is not None and (best is None or made.rank < best.rank):
            best = made
    return best


def _spec(candidate: Candidate, context: Context, adapters: Adapters, planes: int, option: SwitchOption) -> FabricInput:
    spec = FabricInput(
        nodes=candidate.nodes,
        nics_per_node=adapters.count,
        nic_speed_gbps=adapters.speed_gbps,
        switch_ports=option.ports,
        port_speed_gbps=option.port_gbps,
        uplink_speed_gbps=option.uplink_gbps,
        planes=planes,
        down_to_up=context.answers.number("preferences.oversubscription") or 1.0,
        wired_for="nodes",
        rack_nodes=candidate.node.trays if candidate.node.is_rack else 1,
    )
    return replace(spec, layout=_layout(candidate, spec))


def _layout(candidate: Candidate, spec: FabricInput) -> str:
    """One switch where all fit; rails where the GPUs of a node can hand traffic to each other and a unit is more than half full."""
    if spec.nodes * spec.nics_per_node <= spec.switch_ports:
        return "single"
    linked = candidate.node.topology in ("nvswitch", "full_mesh", "ethernet_mesh")
    enough = spec.nodes > HALF_UNIT * spec.switch_ports / 2
    return "rail" if linked and spec.nics_per_node > 1 and enough else "tree"


def _with_managers(counted: Counted | None, technology: str, adapters: Adapters) -> tuple[Counted | None, bool]:
    """Attach fabric managers where the ports for them are free; return also whether they are missing.

    A switch with a port for them needs none of its own, one switch runs its own subnet manager, Ethernet has no such role.
    """
    if counted is None or technology != "infiniband" or counted.counts.tiers < 2 or counted.option.switch.manager_port:
        return counted, False
    managed = count_with([counted.option], replace(counted.spec, manager_ports=MANAGER_LINKS), adapters.per_cage)
    if managed is not None and managed.counts.switches == counted.counts.switches:
        return managed, False
    return counted, True


def _refusal(candidate: Candidate, context: Context, adapters: Adapters, technologies: Sequence[str] = TECHNOLOGIES) -> str:
    """Return why no technology works: no switch of that speed, or too many endpoints, with the largest size that can be built."""
    limits = []
    for technology in technologies:
        if technology not in adapters.protocols:
            continue
        planes = adapters.planes(technology)
        for option in switch_options(context.catalog, context.answers, technology, adapters.speed_gbps / planes):
            spec = _spec(candidate, context, adapters, planes, option)
            limits.append(two_tier_nodes(spec) * spec.spine_ports // 2)
    if not limits:
        return f"no switch in the catalog has ports for adapters of {adapters.speed_gbps:g} Gb/s"
    return f"three tiers of the largest switches carry {max(limits):,} nodes of {adapters.count} adapters"
