"""What was measured on site in place of what the model assumes: collectives of one server and between servers, and a whole step.

A measured all-reduce replaces the bandwidth of the links that it ran over: the model's floor and ramp stay, the rate becomes the one with
which the model meets the measurement. A measured step replaces the model's error: all step times of that server are scaled by measured
over modelled, at the size at which it was measured.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from rules.own_server import OWN_SERVER_ID
from rules.sizing.collectives import Group, all_reduce_seconds, overhead_seconds
from rules.sizing.hardware import hardware_of
from rules.sizing.plans import search
from rules.sizing.power_cap import capped_hardware

if TYPE_CHECKING:
    from catalogs.schema import Gpu, Node
    from rules.answers import Answers
    from rules.candidate import Context
    from rules.sizing.hardware import Hardware

GB = 1e9
MESSAGE_BYTES = 8 * 2.0**30
"""The message that is assumed where none is stated: the largest of the usual sweep of nccl-tests, -e 8G."""
NOT_USED = "measured on site, but not used"
"""How a sentence begins about what was measured and replaces nothing."""
RESULTS = {
    "measured.all_reduce_inside": (),
    "measured.all_reduce_between": ("measured.all_reduce_nodes",),
    "measured.step_time": ("measured.gpus",),
}
"""What can be measured, and what must be known beside it."""
LEAST, MOST = 0.02, 5.0
"""Factors beyond these are no property of a fabric but of another test: a bandwidth in Gb/s, a message of another size (assumed)."""


def site_hardware(node: Node, gpu: Gpu, context: Context, network_gbps: float | None = None) -> Hardware:
    """Return the hardware of a node as the answers leave it: with capped power, measured links and measured steps."""
    answers = context.answers
    hardware = capped_hardware(hardware_of(node, gpu, context.catalog, network_gbps), node, gpu, answers)
    if not holds_for(node, answers):
        return hardware
    return _with_step(_with_links(hardware, answers), context)


def holds_for(node: Node, answers: Answers) -> bool:
    """Return whether what was measured holds for a node: that it was measured on, else the own server or the only preferred one."""
    if answers.given("measured.node"):
        return node.id == answers.text("measured.node")
    if answers.given("own_server.gpu"):
        return node.id == OWN_SERVER_ID
    return answers.names("preferences.nodes") == (node.id,)


def left_aside(node: Node, answers: Answers) -> tuple[str, ...]:
    """Return in sentences what was measured but does not count for a node, and which answer is missing for it."""
    measured = [key for key in RESULTS if answers.given(key)]
    if not measured:
        return ()
    if answers.given("measured.node") and not holds_for(node, answers):
        return (f"{NOT_USED}: it holds for {answers.text('measured.node')}, and {node.id} is chosen",)
    if not holds_for(node, answers):
        return (f"{NOT_USED}: it is not said on which server; measured.node = {node.id} if it was this one",)
    lacking = [(key, other) for key in measured for other in RESULTS[key] if not answers.given(other)]
    return tuple(f"{NOT_USED}: {key} = {answers.text(key)} says nothing without {other}" for key, other in lacking)


def measured_on(answers: Answers) -> str:
    """Return "measured on site", with the date where one is given."""
    return f"measured on site {answers.text('measured.date')}" if answers.given("measured.date") else "measured on site"


def implausible(node: Node, gpu: Gpu, context: Context) -> tuple[str, ...]:
    """Return in sentences what was measured on a node but cannot be, and so is not used, with what to check."""
    answers = context.answers
    if not holds_for(node, answers):
        return ()
    hardware = capped_hardware(hardware_of(node, gpu, context.catalog), node, gpu, answers)
    rows = []
    for key, who, size, measured in _all_reduces(hardware, answers):
        if _factor(hardware, who, size, measured) is None:
            expected = _bus(hardware, who, size)
            times = f"{measured / GB:,.10g} GB/s is {measured / expected:,.3g} times the {expected / GB:,.4g} GB/s"
            rows.append(
                f"{NOT_USED}: {key} = {times} that these links are expected to reach; check its unit, GB/s of bus bandwidth and not Gb/s, "
                "and measured.message_size"
            )
    least, seconds = _least_step(hardware, context), answers.number("measured.step_time")
    if seconds and least > seconds:
        rows.append(
            f"{NOT_USED}: measured.step_time = {seconds:,.4g} s is shorter than the {least:,.4g} s that the arithmetic of the step takes "
            f"at the dense peak of {answers.count('measured.gpus'):,} GPUs; check its unit, measured.gpus and measured.global_batch"
        )
    return tuple(rows)


def _all_reduces(hardware: Hardware, answers: Answers) -> list[tuple[str, Group, float, float]]:
    """Return the measured all-reduces: their answer, their ranks, bytes per rank, bus bandwidth in bytes per second.

    Servers of a rack may share a scale-up domain: what was measured among them says what its links carry, not the network.
    """
    inside, between = answers.number("measured.all_reduce_inside"), answers.number("measured.all_reduce_between")
    size = (answers.number("measured.message_size") or MESSAGE_BYTES / GB) * GB
    each = min(answers.count("measured.ranks_per_node") or hardware.gpus_per_node, hardware.gpus_per_node)
    local, nodes = min(hardware.domain, each), answers.count("measured.all_reduce_nodes")
    found = []
    if inside and local > 1:
        found.append(("measured.all_reduce_inside", Group(local, local), size, inside * GB))
    if between and nodes:
        joined = local * max(1, hardware.domain // hardware.gpus_per_node)
        found.append(("measured.all_reduce_between", Group(local * nodes, min(joined, local * nodes)), size, between * GB))
    return found


def _with_links(hardware: Hardware, answers: Answers) -> Hardware:
    for key, who, size, measured in _all_reduces(hardware, answers):
        factor = _factor(hardware, who, size, measured)
        if factor is None:
            continue
        where = "in a server" if key == "measured.all_reduce_inside" else f"over {answers.count('measured.all_reduce_nodes'):,} servers"
        told = (*hardware.measured, _told(where, measured / GB, _bus(hardware, who, size), answers))
        if who.domains == 1:
            hardware = replace(hardware, inside_factor=factor, measured=told)
        else:
            hardware = replace(hardware, between_factor=factor, measured=told)
    return hardware


def _told(where: str, measured: float, modelled: float, answers: Answers) -> str:
    return f"all-reduce {where}: {measured:g} GB/s, {measured_on(answers)}, in place of {modelled / GB:.4g} GB/s"


def _bus(hardware: Hardware, who: Group, size: float) -> float:
    """Return the bus bandwidth that the model expects, in bytes per second."""
    return 2 * (who.ranks - 1) / who.ranks * size / all_reduce_seconds(hardware, who, size)


def _factor(hardware: Hardware, who: Group, size: float, bus: float) -> float | None:
    """Return by what the link's rate must be multiplied for an all-reduce of `size` bytes to reach a bus bandwidth; None: it cannot be."""
    overhead = overhead_seconds(hardware, who, size)
    wanted = 2 * (who.ranks - 1) / who.ranks * size / bus - overhead
    moved = all_reduce_seconds(hardware, who, size) - overhead
    factor = moved / wanted if wanted > 0 else math.inf
    return factor if LEAST <= factor <= MOST else None


def _least_step(hardware: Hardware, context: Context) -> float:
    """Return the seconds of the measured step's arithmetic at the dense peak of its GPUs, 0 where their number is not said."""
    answers, work = context.answers, context.workload
    gpus, batch = answers.count("measured.gpus"), answers.count("measured.global_batch") or work.global_batch
    units = batch * (work.sequence_length if work.unit == "token" else 1)
    return units * work.flops_per_unit / (hardware.rate(work.precision).peak * hardware.devices * gpus) if gpus else 0.0


def _with_step(hardware: Hardware, context: Context) -> Hardware:
    answers = context.answers
    seconds, gpus = answers.number("measured.step_time"), answers.count("measured.gpus")
    if not seconds or not gpus or seconds < _least_step(hardware, context):
        return hardware
    modelled = _modelled(hardware, context, gpus)
    if not modelled:
        return hardware
    told = f"step on {gpus:,} GPUs: {seconds:g} s, {measured_on(answers)}, in place of {modelled:.4g} s; all steps are scaled alike"
    return replace(hardware, time_factor=seconds / modelled, measured=(*hardware.measured, told))


def _modelled(hardware: Hardware, context: Context, gpus: int) -> float:
    """Return the seconds that the model expects of the measured step, 0 where it finds no plan for it."""
    batch = context.answers.count("measured.global_batch")
    workload = replace(context.workload, global_batch=batch) if batch else context.workload
    found = search(workload, hardware, gpus, context.answers).found
    return found[0].seconds if found else 0.0
