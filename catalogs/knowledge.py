"""The records that are no products: models, prices, facts, measured collectives, thresholds and sources."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from catalogs.quantities import QuantityError
from catalogs.values import Count, Kind, Name, Pieces, Record, Sourced, check_size

LARGEST_SIZE = 1e15
"""Largest number in a model's shape, assumed: a hundred times the parameters of any model."""
_TEXTS = ("kind", "name", "attention")
_FLAGS = ("gated_ffn", "tied_embeddings", "attention_bias", "ffn_bias", "ffn_clamped", "qk_norm")
_FRACTIONS = ("forward_gmacs", "forward_activations", "parameters", "embedding_parameters", "dense_parameters")
_OPTIONAL = ("dense_layers", "mtp_layers", "experts", "shared_expert_ffn_size", "full_attention_layers", "sliding_window")
"""Sizes that may be 0, which says that the model has none of it."""
_TRANSFORMER = ("layers", "hidden_size", "attention_heads")
_NEEDED = {
    "cnn": ("forward_gmacs", "parameters"),
    "recommendation": ("embedding_parameters", "embedding_dim", "tables"),
    "vision_transformer": (*_TRANSFORMER, "image_size", "patch_size"),
    "moe": (*_TRANSFORMER, "vocabulary_size", "experts", "experts_per_token", "expert_ffn_size"),
}
"""Sizes without which a kind of model cannot be counted; the other kinds are decoders or like them."""
_STARTS_WITH_NUMBER = re.compile(r"^[+\-.]?\d")
_TEMPERATURES = ("degree", "kelvin")
DEAREST_USD, DEAREST = 1e9, 1e14
"""No single item costs more: a hundred times the dearest rack, in USD, and in the weakest currency (the Lebanese pound, 1e-5 USD)."""
RATES_PER_USD = (1e-7, 1e6)
"""What one unit of a currency is worth in USD: a hundredth of the weakest, and far above any coin or ounce."""
_PRICE_UNIT = re.compile(r"[A-Z]{3}(,.*| per GPU-hour| per kW and month)?")
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ModelPreset(Record):
    """A published model by its shape, in the field's own terms; `shape` keys are those of `rules.sizing.model.ModelShape`."""

    id: Name
    name: Name
    aliases: tuple[Name, ...] = ()
    family: str
    kind: str = Field(pattern=r"^(dense|moe|vision_transformer|cnn|recommendation|encoder|encoder_decoder|hybrid|multimodal)$")
    shape: dict[str, Any]
    published_parameters: Count | None = None
    published_active_parameters: Count | None = None
    config: dict[str, Any] = {}
    source: str | tuple[str, ...]
    verified: bool = True
    notes: str = ""

    @model_validator(mode="after")
    def _countable(self) -> ModelPreset:
        for key, value in self.shape.items():
            _check_part(key, value)
        for key in _NEEDED.get(self.kind, (*_TRANSFORMER, "vocabulary_size")):
            if not self.shape.get(key):
                raise ValueError(f"shape.{key}: a model of kind {self.kind} needs it, got {self.shape.get(key)!r}")
        visited, experts = self.shape.get("experts_per_token", 0), self.shape.get("experts", 0)
        if experts and not 0 < visited <= experts:
            raise ValueError(f"shape.experts_per_token: a token cannot visit {visited} of {experts} experts, got {visited}")
        return self


def _check_part(key: str, value: object) -> None:
    """Raise ValueError where a part of a model's shape has a value that no formula can count with; unknown keys are not judged here."""
    if key in _TEXTS or key in _FLAGS:
        expected = str if key in _TEXTS else bool
        if not isinstance(value, expected):
            raise ValueError(f"shape.{key}: expected {'a text' if key in _TEXTS else 'true or false'}, got {value!r}")
        return
    low = 0 if key in _OPTIONAL else 1 if key not in _FRACTIONS else math.ulp(0.0)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not (whole or (key in _FRACTIONS and isinstance(value, float))) or not low <= value <= LARGEST_SIZE:  # type: ignore[operator]
        what = "a number above 0" if key in _FRACTIONS else f"a whole number, {low} or more"
        raise ValueError(f"shape.{key}: expected {what} (up to {LARGEST_SIZE:,.0f}), got {value!r}")


class Price(Record):
    """A dated price range of an item (a product id, or a service such as a cloud GPU-hour). Unknown prices are absent.

    `usd_rate` is what one unit of the row's currency is worth in USD, for prices that are not in USD; where it is absent, the answer
    `budget.exchange_rates` says it, or the row is not used.
    """

    id: Name
    item: Name
    what: str
    unit: str
    low: Amount | None = None
    high: Amount | None = None
    usd_rate: Amount | None = None
    date: str
    source: str | tuple[str, ...]
    confidence: str = Field(pattern=r"^(high|medium|low|none)$")
    note: str = ""

    @field_validator("unit")
    @classmethod
    def _currency(cls, unit: str) -> str:
        if not _PRICE_UNIT.fullmatch(unit):
            raise ValueError("expected a currency of three capital letters, such as USD, 'USD per GPU-hour' or 'USD per kW and month'")
        return unit

    @field_validator("low", "high")
    @classmethod
    def _possible(cls, amount: float | None) -> float | None:
        if amount == 0:
            raise ValueError("nothing costs nothing; leave low and high away where the price is unknown")
        if amount is not None and amount > DEAREST:
            raise ValueError(f"nothing costs over {DEAREST:,.0f} in any currency; check the amount")
        return amount

    @field_validator("usd_rate")
    @classmethod
    def _worth(cls, rate: float | None) -> float | None:
        if rate is not None and not RATES_PER_USD[0] <= rate <= RATES_PER_USD[1]:
            raise ValueError("no currency is worth so many USD; write what one unit is worth in USD, such as 1.08")
        return rate

    @model_validator(mode="after")
    def _in_order(self) -> Price:
        if (self.low is None) != (self.high is None):
            raise ValueError("got one of low and high; write the figure as both where the price is one")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"got low {self.low:g} above high {self.high:g}; swap or correct them")
        rate = 1.0 if self.unit.startswith("USD") else self.usd_rate or 0.0
        if self.high is not None and self.high * rate > DEAREST_USD:
            raise ValueError(f"nothing on a bill costs over {DEAREST_USD:,.0f} USD apiece; check amount and currency, got {self.high:g}")
        return self


class Fact(Record):
    """A dated number that belongs to no product: failure rates, electricity, carbon, lead times, benchmark results, rules of thumb."""

    id: Name
    topic: str
    values: dict[str, Sourced]
    applies_to: str = ""
    note: str = ""
    verified: bool = True

    @field_validator("values")
    @classmethod
    def _sizes(cls, values: dict[str, Sourced]) -> dict[str, Sourced]:
        for key, sourced in values.items():
            for value in (sourced.value, *(sourced.range or ())):
                try:
                    _check_amount(value)
                except ValueError as error:
                    raise ValueError(f"{key}: {error}, got {value!r}") from error
        return values


def _check_amount(value: str | float) -> None:
    """Raise ValueError where a number or quantity is not above zero and of sane size; truths and other texts pass."""
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        check_size(float(value))
    elif _STARTS_WITH_NUMBER.match(value):
        try:
            amount = Sourced(value=value, source="").quantity
        except QuantityError:
            return  # a text that starts with a digit; the catalog check judges it
        check_size(float(amount.magnitude), signed=any(word in str(amount.units) for word in _TEMPERATURES))


class Collective(Record):
    """A measured collective: bus bandwidth (as nccl-tests defines it, GB/s) over message sizes, points in the same order.

    `message_bytes` is empty where the source names no size (the value is then the asymptote), `time_us` where it prints no time.
    """

    id: str
    operation: str = Field(pattern=r"^(all_reduce|all_gather|reduce_scatter|all_to_all|send_receive|peer_to_peer)$")
    gpu: str
    gpus: Pieces
    nodes: Pieces
    racks: Pieces | None = None
    nics_per_node: Pieces | None = None
    fabric: str
    algorithm: str = ""
    source: str
    kind: Kind = Kind.MEASURED
    message_bytes: tuple[Annotated[int, Field(gt=0)], ...] = ()
    bus_bandwidth_gbyte_s: tuple[Amount, ...] = ()
    range_gbyte_s: tuple[Positive, Positive] | None = None
    time_us: tuple[Positive, ...] = ()
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
    value: Amount | str | None = None
    unit: str = ""
    values: dict[str, Positive | str] = {}
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
