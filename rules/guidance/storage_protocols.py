"""Judgement on how clients reach shared storage: files, objects, shares and volumes, and the direct path into GPU memory."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

_STORAGE = Stage.STORAGE_CPU

PROTOCOL_RULES: tuple[Rule, ...] = (
    Rule(
        id="storage_cpu.direct_path",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.system_found == True, F.direct_open == False),
        guidance=("G3s.3",),
        decides=("storage.direct_path", "{system} to GPU memory"),
        because=(
            "Data may go from {system} into GPU memory without a copy in host memory: it is on NVIDIA's list for GPUDirect Storage, the "
            "adapters do RDMA, and {gpu} is served. Loaders use it through cuFile alone (DALI, KvikIO); others read through the host."
        ),
    ),
    Rule(
        id="storage_cpu.protocols_served",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.system_found == True, F.protocols_asked == True, F.protocols_short == False),
        guidance=("G3s.2",),
        decides=("storage.protocols", "{protocols_wanted}"),
        because="Data is reached by {protocols_wanted}, as asked for: what is bought offers {protocols_offered}.",
    ),
    Rule(
        id="storage_cpu.protocols_unserved",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.protocols_asked == True, F.protocols_short == True),
        guidance=("G3s.2",),
        because=(
            "Asked for and not known to be offered: {protocols_unserved}. {system} is reached by {protocols_offered}; a gateway in front "
            "of it takes servers of its own, and their rate binds, not that of the system."
        ),
        fix=(
            Fix("preferences.storage", "keep an object store beside the file system", "both", when=(F.s3_unserved == True,)),
            Fix("data.protocols", "ask for what is offered alone"),
        ),
        ask=Ask(
            to="storage vendor",
            ask="Does {system} serve {protocols_unserved}, through how many gateways, and at which rate for all clients together?",
            good_answer="each of {protocols_wanted} on the same data, with the rate of the gateways and a reference of that size",
        ),
    ),
    Rule(
        id="storage_cpu.through_host",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.system_found == True, F.direct_open == True),
        guidance=("G3s.3", "G3c.1"),
        because=(
            "No direct path from storage into GPU memory (GPUDirect Storage): {direct_missing}. Each node's {read_per_node_gb_per_s} are "
            "copied through host memory, written and read once more there; processors and memory channels must carry it."
        ),
        ask=Ask(
            to="storage vendor",
            ask="What does one node read from {system} without GPUDirect Storage, and how many cores does the client take?",
            good_answer="at least {read_per_node_gb_per_s} with cores left for the data loaders",
        ),
    ),
)
