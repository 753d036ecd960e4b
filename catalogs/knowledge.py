"""The records that are no products: models, prices, facts, measured collectives, thresholds and sources."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from catalogs.values import Count, Kind, Record, Sourced


class ModelPreset(Record):
    """A published model by its shape, in the field's own terms; `shape` keys are those of `rules.sizing.model.ModelShape`."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    family: str
    kind: str = Field(pattern=r"^(dense|moe|vision_transformer|cnn|recommendation|encoder|encoder_decoder|hybrid|multimodal)$")
    shape: dict[str, Any]
    published_parameters: Count | None = None
    published_active_parameters: Count | None = None
    config: dict[str, Any] = {}
    source: str | tuple[str, ...]
    verified: bool = True
    notes: str = ""


class Price(Record):
    """A dated price range of an item (a product id, or a service such as a cloud GPU-hour). Unknown prices are absent."""

    id: str
    item: str
    what: str
    unit: str
    low: float | None = None
    high: float | None = None
    date: str
    source: str | tuple[str, ...]
    confidence: str = Field(pattern=r"^(high|medium|low|none)$")
    note: str = ""


class Fact(Record):
    """A dated number that belongs to no product: failure rates, electricity, carbon, lead times, benchmark results, rules of thumb."""

    id: str
    topic: str
    values: dict[str, Sourced]
    applies_to: str = ""
    note: str = ""
    verified: bool = True


class Collective(Record):
    """A measured collective: bus bandwidth (as nccl-tests defines it, GB/s) over message sizes, points in the same order.

    `message_bytes` is empty where the source names no size (the value is then the asymptote), `time_us` where it prints no time.
    """

    id: str
    operation: str = Field(pattern=r"^(all_reduce|all_gather|reduce_scatter|all_to_all|send_receive|peer_to_peer)$")
    gpu: str
    gpus: int = Field(gt=0)
    nodes: int = Field(gt=0)
    racks: int | None = None
    nics_per_node: int | None = None
    fabric: str
    algorithm: str = ""
    source: str
    kind: Kind = Kind.MEASURED
    message_bytes: tuple[int, ...] = ()
    bus_bandwidth_gbyte_s: tuple[float, ...] = ()
    range_gbyte_s: tuple[float, float] | None = None
    time_us: tuple[float, ...] = ()
    verified: bool = True
    note: str = ""

    @model_validator(mode="after")
    def _same_length(self) -> Collective:
        points = len(self.message_bytes) or 1
        if any(len(values) not in (0, points) for values in (self.bus_bandwidth_gbyte_s, self.time_us)):
            raise ValueError("message_bytes, bus_bandwidth_gbyte_s and time_us must have the same number of points")
        return self


class Threshold(Record):
    """A rule of thumb of the field as data: condition, conclusion, number with unit, scope, source, strength, dissent."""

    id: str
    stage: str
    condition: str
    conclusion: str
    value: float | str | None = None
    unit: str = ""
    values: dict[str, float | str] = {}
    scope: str = ""
    source: str
    strength: str = Field(pattern=r"^(hard|strong|advice)$")
    verified: bool = True
    note: str = ""
    dissents_from: tuple[str, ...] = ()


class Source(Record):
    """Where a value was read."""

    id: str
    title: str
    url: str = ""
    kind: str
    date: str = ""
    licence: str = ""
    note: str = ""
