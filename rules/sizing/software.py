"""The software of a GPU: which rows of the support catalog apply, which versions it needs, what is missing, and which precisions train."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Gpu, SoftwareSupport

COLLECTIVES = {"CUDA": "NCCL", "ROCm": "RCCL", "Gaudi": "HCCL", "oneAPI": "oneCCL"}
"""The vendor's collectives library of each stack, as PyTorch's distributed backends name them."""
FRAMEWORKS = {"pytorch": "PyTorch", "jax": "JAX", "tensorflow": "TensorFlow"}
PROBLEMS = ("broken", "missing", "dropped", "frozen", "limitation", "rough_edge")
"""Statuses of a support row that cost work or rule something out, worst first."""
HARD_TO_USE = ("broken", "missing", "dropped", "frozen", "rough_edge")
"""Statuses that cost a team work; a limitation is a known bound that costs none."""
MXFP8_TARGETS = ("10.0", "10.3", "gfx950")
"""Targets with MXFP8 training kernels: data-centre Blackwell in Transformer Engine, CDNA 4 in torchao [transformer-engine-support]."""
NVFP4_TARGETS = ("10.0", "10.3")
"""Compute targets with complete NVFP4 training kernels: data-centre Blackwell [transformer-engine-support]."""
_HARDWARE_OF = {"mxfp8": "fp8", "nvfp4": "fp4"}
_PRECISION_SCOPES = {"fp8": "transformer_engine", "mxfp8": "transformer_engine", "nvfp4": "transformer_engine"}


@dataclass(frozen=True)
class Support:
    """What the catalog says about one part of the stack on one GPU; `status` is unknown where it says nothing.

    `fact` is the sentence of the worst row, `basis` that of the row with the highest version that it takes.
    """

    name: str
    status: str
    minimum: str
    maximum: str
    fact: str
    basis: str
    rows: tuple[str, ...]

    @property
    def version(self) -> str:
        """Return the versions in words: "2.7 or newer", "up to 2.14", "any current version"."""
        if self.status == "unknown":
            return "no version stated"
        parts = [f"{self.minimum} or newer"] if self.minimum else []
        parts += [f"up to {self.maximum}"] if self.maximum else []
        return ", ".join(parts) or "any current version"


@dataclass(frozen=True)
class SoftwareStack:
    """The software of one GPU for one framework and precision."""

    stack: str
    toolkit: Support
    framework: Support
    collectives: Support
    precision_in_gpu: bool
    precision_in_software: bool
    precision_fact: str
    problems: tuple[SoftwareSupport, ...]


def _plain(name: str) -> str:
    return name.lower().replace(" ", "-")


def matches(pattern: str, names: tuple[str, ...]) -> bool:
    """Return whether a support row's pattern (an id or alias, `*` at its end allowed) means a GPU of these names."""
    return any(fnmatchcase(name, _plain(pattern)) for name in names)


def support_rows(gpu: Gpu, catalog: Catalog) -> tuple[SoftwareSupport, ...]:
    """Return the rows of the support catalog that apply to a GPU, in catalog order."""
    return _rows_for(catalog.software, (gpu.id, *map(_plain, gpu.aliases)))


@lru_cache(maxsize=512)
def _rows_for(shelf: Shelf[SoftwareSupport], names: tuple[str, ...]) -> tuple[SoftwareSupport, ...]:
    return tuple(row for row in shelf if any(matches(pattern, names) for pattern in row.gpus))


def version_key(version: str) -> tuple[int, ...]:
    """Return a version as numbers for comparing: "2.25.1" is (2, 25, 1); parts without digits count as 0."""
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in version.split("."))


def support_of(scope: str, name: str, rows: tuple[SoftwareSupport, ...]) -> Support:
    """Return what `rows` say about one scope: the worst status, the highest minimum, the lowest maximum, and the sentence of the worst."""
    found = [row for row in rows if row.scope == scope and row.status != "advice"]
    if not found:
        return Support(name, "unknown", "", "", "", "", ())
    worst = min(found, key=lambda row: PROBLEMS.index(row.status) if row.status in PROBLEMS else len(PROBLEMS))
    newest = max(found, key=lambda row: version_key(row.minimum or ""))
    highest = min((row.maximum for row in found if row.maximum), key=version_key, default="")
    return Support(name, worst.status, newest.minimum or "", highest, worst.fact, newest.fact, tuple(row.id for row in found))


def precision_hardware(precision: str, gpu: Gpu) -> bool:
    """Return whether the GPU's matrix units compute in `precision` (block formats need the element format)."""
    return _HARDWARE_OF.get(precision, precision) in gpu.precisions


def precision_software(precision: str, gpu: Gpu, rows: tuple[SoftwareSupport, ...]) -> bool:
    """Return whether training software has kernels for `precision` on this GPU."""
    if precision == "mxfp8":
        return gpu.compute_capability in MXFP8_TARGETS
    if precision == "nvfp4":
        return gpu.compute_capability in NVFP4_TARGETS
    if precision == "fp8":
        return gpu.stack == "Gaudi" or support_of("transformer_engine", "", rows).status != "missing"
    return True


def software_stack(gpu: Gpu, framework: str, precision: str, catalog: Catalog) -> SoftwareStack:
    """Return the software that the GPU needs for `framework` (pytorch, jax, tensorflow) and `precision`."""
    rows = support_rows(gpu, catalog)
    library = COLLECTIVES[gpu.stack]
    scope = _PRECISION_SCOPES.get(precision, "")
    concerned = {gpu.stack.lower(), framework, library.lower(), scope}
    concerned |= {"flash_attention"} if framework == "pytorch" else set()
    return SoftwareStack(
        stack=gpu.stack,
        toolkit=support_of(gpu.stack.lower(), gpu.stack, rows),
        framework=support_of(framework, FRAMEWORKS[framework], rows),
        collectives=support_of(library.lower(), library, rows),
        precision_in_gpu=precision_hardware(precision, gpu),
        precision_in_software=precision_software(precision, gpu, rows),
        precision_fact=support_of(scope, "", rows).fact if scope else "",
        problems=tuple(row for row in rows if row.scope in concerned and row.status in PROBLEMS),
    )
