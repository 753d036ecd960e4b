"""How a fabric grows and what it carries after a loss, as small sections of the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.failures import losses
from rules.sizing.fabric.growth import grow, without_recabling

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.growth import Growth
    from rules.sizing.fabric.switching import Counted

FACTORS = {"doubled": 2, "fourfold": 4}
"""Sizes that every design looks at, beside the one that the answers name."""


def outlook_sections(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections fabric.growth and fabric.failures; none without a network among GPUs."""
    if candidate.fabric is None or candidate.fabric.compute is None:
        return {}
    sized = design_fabric(candidate, context)
    chosen = sized.choice.chosen
    if chosen is None:
        return {}
    return {"fabric.growth": _growth(chosen, candidate, context, sized.gpus_per_node), "fabric.failures": _failures(chosen)}


def _growth(counted: Counted, candidate: Candidate, context: Context, gpus_per_node: int) -> dict[str, object]:
    spec, counts = counted.spec, counted.counts
    free = max(spec.nodes, without_recabling(spec, counts))
    section: dict[str, object] = {
        "no_link_moves_up_to": f"{free:,} nodes ({free * gpus_per_node:,} GPUs)",
        "two_tiers_up_to": f"{counts.two_tier_nodes:,} nodes ({counts.two_tier_nodes * gpus_per_node:,} GPUs)",
        "free_ports": {tier: ports for tier, ports in counts.free.items() if ports},
    }
    later = context.answers.count("scale.later_nodes")
    if later is not None:
        larger = later > candidate.nodes
        section["target"] = growth_words(grow(spec, counts, later)) if larger else f"{later:,} nodes: this design has {candidate.nodes:,}"
    for name, factor in FACTORS.items():
        section[name] = growth_words(grow(spec, counts, factor * candidate.nodes))
    return section


def growth_words(growth: Growth) -> str:
    """Return what a larger size takes, in words."""
    if growth.refused:
        return f"{growth.nodes:,} nodes: cannot be built with this switch: {growth.refused}"
    tiers = ((growth.leaf, "leaf"), (growth.spine, "spine"), (growth.core, "core"))
    switches = " + ".join(f"{number:,} {tier}" for number, tier in tiers if number)
    if growth.least_spines < growth.spine:
        switches += f" ({growth.least_spines:,} spines would do for these nodes alone)"
    moved = f"{growth.moved:,} links move" if growth.moved else "no link moves"
    text = f"{growth.nodes:,} nodes: {switches}; {moved}, {growth.added_switches:,} switches and {growth.added_links:,} links are added"
    if growth.moved and growth.moved_prepared < growth.moved:
        text += f"; {growth.moved_prepared:,} move if wired on the first day with {growth.first_day}"
    return text


def _failures(counted: Counted) -> dict[str, object]:
    section: dict[str, object] = {}
    for loss in losses(counted.spec, counted.counts):
        nodes = f"{loss.hit:,} node keeps" if loss.hit == 1 else f"{loss.hit:,} nodes keep"
        where = (
            " of what passes between leaves"
            if loss.what in ("a spine", "a core")
            else " of its rate"
            if loss.hit == 1
            else " of their rate"
        )
        section[loss.what.removeprefix("a ").replace(" ", "_")] = (
            f"{nodes} {100 * loss.left:.3g} %{where}, all nodes together {100 * loss.whole:.4g} %"
        )
    return section
