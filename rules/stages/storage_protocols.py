"""The facts on how clients reach shared storage: the ways that are asked for and offered, and whether data goes to GPUs directly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.facts import FactField
from rules.findings import Stage
from rules.sizing.storage_systems import GPUDIRECT, offered_protocols

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.storage_systems import StorageSystem

DIRECT_VENDOR = "NVIDIA"
"""The maker of GPUs that GPUDirect Storage is for."""

PROTOCOL_FACTS: tuple[FactField, ...] = (
    FactField("protocols_asked", "whether it was answered in which ways data must be reached"),
    FactField("protocols_wanted", "the ways that are asked for"),
    FactField("protocols_known", "whether it is stated in which ways the chosen system is reached"),
    FactField("protocols_offered", "the ways that the chosen systems are known to offer"),
    FactField("protocols_short", "whether a way that is asked for is not among them"),
    FactField("protocols_unserved", "the ways that are asked for and not known to be offered"),
    FactField("s3_unserved", "whether S3 is among those"),
    FactField("direct_offered", "whether the chosen system is listed for GPUDirect Storage"),
    FactField("direct_gpu", "whether the GPUs are of the maker whose GPUs GPUDirect Storage serves"),
    FactField("direct_rdma", "whether the adapters do RDMA, which a direct path over a network needs"),
    FactField("direct_missing", "what a direct path lacks, in words"),
    FactField("direct_open", "whether anything is lacking"),
)


def protocol_facts(system: StorageSystem | None, store: StorageSystem | None, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State how the chosen systems are reached, beside what is asked for, and what a direct path to the GPUs lacks."""
    shelf, answers = context.catalog.storage, context.answers
    wanted = answers.names("data.protocols") if answers.given("data.protocols") else ()
    bought = [each for each in (system, store) if each is not None]
    known = [ways for each in bought if (ways := offered_protocols(shelf[each.product]))]
    offered = sorted({way for each in known for way in each} - {GPUDIRECT})
    unserved = [way for way in wanted if way not in offered]
    return {
        "protocols_asked": bool(wanted),
        "protocols_wanted": ", ".join(wanted) or "nothing in particular",
        "protocols_known": bool(known),
        "protocols_offered": ", ".join(offered) or "no way that was read",
        "protocols_short": bool(unserved) and bool(bought),
        "protocols_unserved": ", ".join(unserved) or "nothing",
        "s3_unserved": "s3" in unserved,
        **_direct(system, candidate, context),
    }


def _direct(system: StorageSystem | None, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    listed = system is not None and GPUDIRECT in offered_protocols(context.catalog.storage[system.product])
    gpu = candidate.gpu.vendor == DIRECT_VENDOR
    rdma = bool(candidate.facts.get(Stage.FABRIC, {}).get("rdma", False))
    lacks = {
        f"{system.name if system else 'the storage'} is not on NVIDIA's list of it": not listed,
        f"{candidate.gpu.name} is no GPU of NVIDIA's": not gpu,
        "the adapters do no RDMA": not rdma,
    }
    missing = [words for words, lacking in lacks.items() if lacking]
    return {
        "direct_offered": listed,
        "direct_gpu": gpu,
        "direct_rdma": rdma,
        "direct_missing": " and ".join(missing) or "nothing",
        "direct_open": bool(missing),
    }
