"""What was measured on site in place of what the model assumes: collectives of one server and between servers, and a whole step.

A measured all-reduce replaces the bandwidth of the links that it ran over: the model's floor and ramp stay, the rate becomes the one with
which the model meets the measurement. A measured step replaces the model's error: all step times of that server are scaled by measured
over modelled, at the size at which it was measured.
"""

from __future__ import annotations

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


def _with_links(hardware: Hardware, answers: Answers) -> Hardware:
    inside, between = answers.number("measured.all_reduce_inside"), answers.number("measured.all_reduce_between")
    size = (answers.number("measured.message_size") or MESSAGE_BYTES / GB) * GB
    local, nodes = min(hardware.domain, hardware.gpus_per_node), answers.count("measured.all_reduce_nodes")
    if inside and local > 1:
        who = Group(local, local)
        told = _told("in a server", inside, _bus(hardware, who, size), answers)
        hardware = replace(hardware, inside_factor=_factor(hardware, who, size, inside * GB), measured=(*hardware.measured, told))
    if between and nodes:
        who = Group(local * nodes, local)
        told = _told(f"over {nodes} servers", between, _bus(hardware, who, size), answers)
        hardware = replace(hardware, between_factor=_factor(hardware, who, size, between * GB), measured=(*hardware.measured, told))
    return hardware


def _told(where: str, measured: float, modelled: float, answers: Answers) -> str:
    return f"all-reduce {where}: {measured:g} GB/s, {measured_on(answers)}, in place of {modelled / GB:.4g} GB/s"


def _bus(hardware: Hardware, who: Group, size: float) -> float:
    """Return the bus bandwidth that the model expects, in bytes per second."""
    return 2 * (who.ranks - 1) / who.ranks * size / all_reduce_seconds(hardware, who, size)


def _factor(hardware: Hardware, who: Group, size: float, bus: float) -> float:
    """Return by what the link's rate must be multiplied for an all-reduce of `size` bytes to reach a bus bandwidth."""
    overhead = overhead_seconds(hardware, who, size)
    wanted = 2 * (who.ranks - 1) / who.ranks * size / bus - overhead
    moved = all_reduce_seconds(hardware, who, size) - overhead
    return min(MOST, max(LEAST, moved / wanted)) if wanted > 0 else MOST


def _with_step(hardware: Hardware, context: Context) -> Hardware:
    answers = context.answers
    seconds, gpus = answers.number("measured.step_time"), answers.count("measured.gpus")
    if not seconds or not gpus:
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
