"""What can be said of the answers as a whole: those that contradict each other, names that do not exist, and those without effect."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import number_in_words
from rules.answers import AnswerError, check_range, field_of, foreign_currency
from rules.own_server import OWN_SERVER_ID
from rules.scale import size_given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalogs import Catalog
    from catalogs.loading import Shelf
    from rules.answers import Answers
    from rules.sizing.results import Workload

EITHER = {"scale.nodes": ("scale.gpus",), "scale.gpus": ("scale.nodes",)}
"""Answers that say the same thing in two ways, so that only one of them can be given."""
SIZES = ("scale.nodes", "scale.gpus")
DATE = "measured.date"
DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""The most days of each month."""
_DATE = re.compile(r"([0-9]{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12][0-9]|3[01]))?)?")
FIRST_YEAR = 2000
"""Nothing that this project designs was measured before."""
MOST_NAMED = 5
"""Names that a message lists."""
LEAST_LIKENESS = 0.6
"""How alike two spellings must be for the one to be meant by the other, as Python's difflib measures it and proposes by default."""
SLOT_LANES = (1, 2, 4, 8, 12, 16, 32)
"""Widths of a link of PCI Express [PCI-SIG, PCI Express Base Specification]; two slots of one adapter count together."""
_TRANSFORMER_SIZES = (
    "model.layers", "model.hidden_size", "model.ffn_size", "model.attention_heads", "model.key_value_heads", "model.vocabulary_size",
    "model.experts", "model.experts_per_token", "model.expert_ffn_size",
)  # fmt: skip
_PARTS_OF_A_PLAN = (
    "tensor", "pipeline", "context", "expert", "zero_stage", "micro_batch", "recompute", "recompute_modules", "recompute_layers",
    "schedule", "offload",
)  # fmt: skip
_OWN_SERVER = (
    "gpus", "topology", "scale_up_domain", "nics", "nic_speed", "nic_generation", "nic_lanes", "nic_path", "nic_networks", "cpu_cores",
    "memory", "power", "supplies", "supply_rating", "height", "weight", "price",
)  # fmt: skip
STAFF = "budget.staff"
LEAST_STAFF_USD = 1000.0
"""Less a year is no wage anywhere, assumed: a bare 2 is two people, where money is asked."""


def overruled(answers: Answers, key: str) -> tuple[str, ...]:
    """Return the answers that cannot hold beside a new one of `key`: its other form, or a size where something else decides the size."""
    if key == "scale.mode" and answers.given(key) and answers.text(key) != "fixed":
        return tuple(size for size in SIZES if answers.given(size))
    return EITHER.get(key, ()) if answers.given(key) else ()


def check_answers(answers: Answers, catalog: Catalog) -> None:
    """Raise AnswerError where answers contradict each other or name a GPU, server or vendor that the catalog does not have."""
    for key, others in EITHER.items():
        for other in others:
            if answers.given(key) and answers.given(other):
                raise AnswerError(other, f"{answers.text(other)}, and {key} = {answers.text(key)} is given too; give one of the two")
    for key, shelf in (
        ("preferences.gpus", catalog.gpus),
        ("preferences.nodes", catalog.nodes),
        ("measured.node", catalog.nodes),
        ("facility.immersion_released", catalog.nodes),
    ):
        for name in answers.names(key):
            if name not in shelf and not (key == "facility.immersion_released" and name == OWN_SERVER_ID):
                raise AnswerError(key, _no_such(name, shelf, "GPU" if key == "preferences.gpus" else "server"))
    _check_adapters(answers)
    if answers.given("preferences.vendors"):
        _check_vendors(answers, catalog)
    if answers.given("budget.own_prices") or answers.given("budget.exchange_rates"):
        from rules.sizing.own_prices import check_own_prices  # reads answers itself

        check_own_prices(answers, catalog)
    if answers.given(DATE) and not _is_date(answers.text(DATE)):
        raise AnswerError(DATE, f"{answers.text(DATE)!r} is no date; write a day, month or year such as {field_of(DATE).example!r}")
    for key, value in answers.values.items():
        declared = field_of(key)
        if declared.kind == "quantity" and foreign_currency(declared, str(value)):
            amount = answers.number(key) or 0.0
            check_range(declared, amount, amount)


def _check_adapters(answers: Answers) -> None:
    """Raise AnswerError for adapters of the own server in a slot as wide as none is; their rate may be what a node really gets."""
    lanes = answers.count("own_server.nic_lanes")
    if lanes is not None and lanes not in SLOT_LANES:
        widths = ", ".join(map(str, SLOT_LANES[:-1]))
        raise AnswerError("own_server.nic_lanes", f"no slot has {lanes} lanes; they have {widths}, or {SLOT_LANES[-1]} as two of 16")


def _is_date(text: str) -> bool:
    """Return whether a text is a day, a month or a year, as the catalog writes them."""
    found = _DATE.fullmatch(text)
    return found is not None and int(found[1]) >= FIRST_YEAR and int(found[3] or 1) <= DAYS[int(found[2] or 1) - 1]


def _check_vendors(answers: Answers, catalog: Catalog) -> None:
    shelves = (catalog.gpus, catalog.nodes, catalog.storage, catalog.switches, catalog.nics, catalog.cpus)
    known = {each.vendor.lower(): each.vendor for shelf in shelves for each in shelf}
    for name in answers.names("preferences.vendors"):
        if name.lower() not in known:
            near = difflib.get_close_matches(name.lower(), known, n=MOST_NAMED, cutoff=LEAST_LIKENESS)
            shown = ", ".join(known[each] for each in near) if near else ", ".join(sorted({each.vendor for each in catalog.gpus}))
            raise AnswerError("preferences.vendors", f"no vendor is called {name!r}; {'the nearest' if near else 'those of GPUs'}: {shown}")


def _no_such(name: str, shelf: Shelf, kind: str) -> str:  # type: ignore[type-arg]
    near = shelf.near(name, MOST_NAMED, LEAST_LIKENESS)
    list_ = "gpus" if kind == "GPU" else "nodes"
    told = f"the nearest: {', '.join(near)}" if near else f"'cluster-wizard catalog list {list_}' prints all"
    return f"no {kind} is called {name!r}; {told}"


@dataclass(frozen=True)
class Unused:
    """An answer that has no effect on a design, and why."""

    key: str
    value: str
    because: str

    def __str__(self) -> str:
        return f"not used: {self.key} = {self.value}: {self.because}"


def unused_answers(answers: Answers, workload: Workload) -> tuple[Unused, ...]:
    """Return the given answers that have no effect on the design of this workload, in the order of the fields."""
    rows = {}
    for keys, because in (*_of_the_model(answers, workload), *_of_the_training(workload), *_of_the_cluster(answers)):
        for key in keys:
            if answers.given(key) and key not in rows:
                rows[key] = Unused(key, answers.text(key), because)
    return tuple(rows[key] for key in answers.values if key in rows)


def doubtful_answers(answers: Answers, workload: Workload) -> tuple[str, ...]:
    """Return what is possible but can hardly be meant: a batch that is more than the whole run, people counted where money is asked."""
    return (*_doubtful_batch(answers, workload), *_doubtful_staff(answers))


def _doubtful_staff(answers: Answers) -> tuple[str, ...]:
    staff = answers.number(STAFF) if answers.given(STAFF) else None
    if staff is None or not 0.0 < staff < LEAST_STAFF_USD:
        return ()
    return (f"{staff:g} USD a year pay nobody: {STAFF} is what all the people who run the cluster cost in a year, not how many they are",)


def _doubtful_batch(answers: Answers, workload: Workload) -> tuple[str, ...]:
    per_batch = workload.global_batch * (workload.sequence_length if workload.unit == "token" else 1)
    given = answers.given("training.global_batch") and answers.given("training.tokens" if workload.unit == "token" else "training.samples")
    if given and 0 < workload.units_total < per_batch:
        return (
            f"one batch of {number_in_words(per_batch)} {workload.unit}s is more than the whole run of "
            f"{number_in_words(workload.units_total)}: the weights would change less than once; look at training.global_batch",
        )
    return ()


def _of_the_model(answers: Answers, workload: Workload) -> Iterator[tuple[tuple[str, ...], str]]:
    shape = workload.model
    if shape.kind != "recommendation":
        yield ("model.embedding_parameters",), "only recommendation models have embedding tables of their own size"
    if shape.kind not in ("cnn", "recommendation"):
        yield ("model.gmacs_per_sample",), f"the operations of {shape.name} are counted from its shape"
    if shape.kind in ("cnn", "recommendation"):
        yield _TRANSFORMER_SIZES, f"{shape.name} is no transformer"
    elif not shape.experts:
        yield ("model.experts_per_token", "model.expert_ffn_size"), f"{shape.name} has no experts; give model.experts for some"
    elif not shape.dense_layers:
        yield ("model.ffn_size",), f"every layer of {shape.name} has experts; model.expert_ffn_size is their width"
    if shape.attention == "mla":
        yield ("model.key_value_heads",), f"{shape.name} keeps a latent instead of keys and values"
    mixture_by_size = answers.given("model.parameters") and not answers.given("model.preset") and shape.kind == "moe"
    explicit = answers.given("model.layers") and answers.given("model.hidden_size")
    if not mixture_by_size or explicit:
        given = "a preset" if answers.given("model.preset") else "layers and hidden size" if explicit else ""
        because = f"the active parameters follow from {given}" if given else "it needs model.parameters, the total that it is part of"
        yield ("model.active_parameters",), because


def _of_the_training(workload: Workload) -> Iterator[tuple[tuple[str, ...], str]]:
    unit = workload.unit
    if unit == "token":
        yield ("training.samples",), "language models are trained on tokens; give training.tokens"
    else:
        yield ("training.tokens",), f"this workload is counted in {unit}s; give training.samples"
        yield ("training.sequence_length",), f"the length of {'an image' if unit == 'image' else 'a sample'} follows from the model"
    if workload.kind not in ("fine_tuning_lora", "fine_tuning_qlora"):
        yield ("training.lora_rank",), f"{workload.kind} trains no adapters"
    if workload.kind != "recommendation":
        yield ("training.embedding_sharding", "training.embedding_optimizer"), "only recommendation models have embedding tables to place"
    if workload.model.tower is None:
        yield ("training.image_tokens",), f"{workload.model.name} reads no images, or how its tower is built is not known"
    if workload.post_training not in ("grpo", "ppo"):
        yield ("training.rollout",), "nothing samples answers; give training.post_training grpo or ppo"
    if not workload.model.experts:
        yield ("parallelism.expert", "training.expert_kernels"), f"{workload.model.name} has no experts"


def _of_the_cluster(answers: Answers) -> Iterator[tuple[tuple[str, ...], str]]:
    if size_given(answers) and answers.text("scale.mode") != "fixed" and answers.given("scale.mode"):
        key = "scale.nodes" if answers.given("scale.nodes") else "scale.gpus"
        yield ("scale.mode",), f"{key} = {answers.text(key)} fixes the size"
    if answers.given("parallelism.mode") and answers.text("parallelism.mode") == "automatic":
        yield tuple(f"parallelism.{part}" for part in _PARTS_OF_A_PLAN), "the plan is searched, as parallelism.mode says"
    if answers.given("parallelism.recompute_layers") and answers.text("parallelism.recompute") != "full":
        yield ("parallelism.recompute",), "parallelism.recompute_layers says in how many layers all activations are computed again"
    if answers.given("own_server.gpu"):
        yield ("preferences.gpus", "preferences.nodes"), "the server is your own"
    else:
        yield tuple(f"own_server.{name}" for name in _OWN_SERVER), "own_server.gpu is not given, so no server of your own is designed with"
