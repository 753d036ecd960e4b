"""Regimes of training, and which validated one is nearest to a design: kind of model, GPU, precision, parallelism and scale.

An estimate is as good as it was on published runs of its own kind. Where there is none, the nearest kind is named, and that the
estimate is an extrapolation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rules.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs.schema import ValidatedRegime
    from rules.sizing.results import Plan

SCALE_BANDS = ((1, 8), (9, 64), (65, 512), (513, 4_096), (4_097, 1_000_000))
"""GPUs of a run: one server, a few racks, a pod, a large cluster, beyond (the classes in which published runs come)."""
VISION_KINDS = ("cnn",)
VISION_TRANSFORMER = "vision transformer"
EIGHT_BITS = ("fp8", "mxfp8", "fp8_block")
SIXTEEN_BITS = ("bf16", "fp16")
FULLY_SHARDED = 3
"""ZeRO stage 3: parameters, gradients and optimizer state are sharded [arXiv:1910.02054]."""
PARTS = (("tensor", "tp"), ("pipeline", "pp"), ("context", "cp"), ("expert", "ep"))
FEW_RUNS = 3
"""An error over fewer runs says little."""


class Estimate(StrEnum):
    """What was validated."""

    TIME = "time"
    MEMORY = "memory"


@dataclass(frozen=True)
class Weights:
    """How much each difference counts when the nearest regime is looked for (judged by what the estimate hangs on; assumed)."""

    kind: float
    vendor: float
    architecture: float
    gpu: float
    precision: float
    part: float
    band: float
    few: float = 0.4


WEIGHTS = {
    # rates belong to a GPU and a precision; bytes hardly do, but to how the model is cut
    Estimate.TIME: Weights(kind=4, vendor=8, architecture=4, gpu=1, precision=3, part=1, band=1),
    Estimate.MEMORY: Weights(kind=4, vendor=1, architecture=0.5, gpu=0.25, precision=3, part=2, band=0.5),
}


@dataclass(frozen=True)
class Regime:
    """One kind of run; `gpu` is a catalog id, `parallelism` as `parallelism_of` writes it, `gpus` the size of the run."""

    model_kind: str
    gpu: str
    architecture: str
    vendor: str
    precision: str
    parallelism: str
    gpus: int

    @property
    def band(self) -> tuple[int, int]:
        """Return the scale band, from and to."""
        return band_of(self.gpus)


@dataclass(frozen=True)
class Nearest:
    """The nearest validated regime, and what of the one asked for it does not have, in words: empty where it is the same."""

    regime: ValidatedRegime
    differs: tuple[str, ...]


def model_kind_of(kind: str) -> str:
    """Return dense, moe, vision, vision transformer or recommendation for the kind of a model shape.

    Vision models are convolutional here: a vision transformer is estimated as other transformers are, and no run of one is published.
    """
    if kind == VISION_TRANSFORMER.replace(" ", "_"):
        return VISION_TRANSFORMER
    if kind in VISION_KINDS:
        return "vision"
    return kind if kind in ("moe", "recommendation") else "dense"


def parallelism_of(plan: Plan) -> str:
    """Return how the model is cut, besides over data-parallel ranks: "tp+pp", "fsdp", "" where it is whole on every GPU."""
    found = ["fsdp"] if plan.zero_stage == FULLY_SHARDED and plan.data * plan.context > 1 else []
    found += [short for name, short in PARTS if getattr(plan, name) > 1]
    return "+".join(found)


def parallelism_text(parallelism: str) -> str:
    """Return parallelism as people write it."""
    return parallelism.upper() or "DP"


def band_of(gpus: int) -> tuple[int, int]:
    """Return the scale band of a number of GPUs."""
    return next((band for band in SCALE_BANDS if gpus <= band[1]), SCALE_BANDS[-1])


def band_text(band: tuple[int, int]) -> str:
    """Return a scale band in words."""
    return f"over {band[0] - 1:,} GPUs" if band == SCALE_BANDS[-1] else f"{band[0]:,} to {band[1]:,} GPUs"


def nearest(regimes: Iterable[ValidatedRegime], wanted: Regime, what: Estimate) -> Nearest | None:
    """Return the validated regime that is nearest to `wanted` for time or memory; None where nothing is validated.

    Of equally near ones the one with the most runs.
    """
    usable = [each for each in regimes if _runs(each, what)]
    if not usable:
        return None
    weights = WEIGHTS[what]
    best = min(usable, key=lambda each: (_distance(each, wanted, weights, what), -_runs(each, what), each.id))
    return Nearest(best, _differences(best, wanted))


def _runs(regime: ValidatedRegime, what: Estimate) -> int:
    return regime.time_runs if what is Estimate.TIME else regime.memory_runs


def _distance(regime: ValidatedRegime, wanted: Regime, weights: Weights, what: Estimate) -> float:
    alike = wanted.model_kind == VISION_TRANSFORMER and regime.model_kind == "dense"
    found = weights.kind * (0.5 if alike else regime.model_kind != wanted.model_kind)
    if regime.gpu != wanted.gpu:
        same = regime.architecture == wanted.architecture
        found += weights.gpu if same else weights.architecture if regime.vendor == wanted.vendor else weights.vendor
    found += weights.precision * _precision_distance(regime.precision, wanted.precision)
    found += weights.part * len(_parts(regime.parallelism) ^ _parts(wanted.parallelism))
    bands = [low for low, _ in SCALE_BANDS]
    found += weights.band * abs(bands.index(band_of(regime.gpus_to)[0]) - bands.index(wanted.band[0]))
    return found + weights.few * (_runs(regime, what) < FEW_RUNS)


def _parts(parallelism: str) -> set[str]:
    return set(parallelism.split("+")) - {""}


def _precision_distance(one: str, other: str) -> float:
    """Return 0 for the same precision, a half for the same width, 1 else."""
    if one == other:
        return 0.0
    return 0.5 if any(one in group and other in group for group in (EIGHT_BITS, SIXTEEN_BITS)) else 1.0


def _differences(regime: ValidatedRegime, wanted: Regime) -> tuple[str, ...]:
    """Return what of `wanted` the regime does not have, in words."""
    pairs: tuple[tuple[str, object, object], ...] = (
        (f"model {wanted.model_kind}", regime.model_kind, wanted.model_kind),
        (f"GPU {wanted.gpu}", regime.gpu, wanted.gpu),
        (f"precision {wanted.precision}", regime.precision, wanted.precision),
        (f"parallelism {parallelism_text(wanted.parallelism)}", regime.parallelism, wanted.parallelism),
        (f"scale {band_text(wanted.band)}", band_of(regime.gpus_to), wanted.band),
    )
    return tuple(words for words, one, other in pairs if one != other)


def nearest_text(found: Nearest | None, what: Estimate, unlike: tuple[str, ...] = ()) -> str:
    """Return in one sentence which regime an estimate was validated in, how far it was off, and whether this is an extrapolation.

    `unlike` names further differences that no published run covers.
    """
    if found is None:
        return "no published run validates this"
    differs = (*found.differs, *unlike)
    regime = f"{regime_text(found.regime)}, {_error_text(found.regime, what)}"
    return f"extrapolated: no published run with {', '.join(differs)}; nearest is {regime}" if differs else regime


def regime_text(regime: ValidatedRegime) -> str:
    """Return a regime in words."""
    parts = (regime.model_kind, regime.gpu, regime.precision, parallelism_text(regime.parallelism))
    return f"{' · '.join(parts)} · {band_text(band_of(regime.gpus_to))}"


def _error_text(regime: ValidatedRegime, what: Estimate) -> str:
    runs = _runs(regime, what)
    sources = regime.time_source if what is Estimate.TIME else regime.memory_source
    seen = f"{counted(runs, 'run')} ({', '.join(sources)})"
    if what is Estimate.TIME:
        return f"{seen}: off by {regime.time_mean or 0:.0%} on average, 90% of them within {regime.time_p90 or 0:.0%}"
    return f"{seen}: off by {regime.memory_mean or 0:.0%} on average, {regime.memory_inside or 0:.0%} inside the range"
