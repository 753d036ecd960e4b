"""What a person may ask about: a GPU, a server, a vendor, a fabric, a cooling, a plan, a kind of storage, a precision, any other answer.

Each is a change of answers that asks for it.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.answer_fields import COOLING, FIELDS
from rules.answers import field_of, shortened
from rules.findings import Stage
from rules.whatif import with_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalogs import Catalog
    from rules.advisor import Considered
    from rules.candidate import Candidate

FABRICS = {"infiniband": "infiniband", "ethernet": "ethernet", "roce": "ethernet"}
"""Words for fabrics, and the technology that they mean."""
_PLAN = re.compile(r"(?P<part>tp|pp|cp|ep|dp|mb|zero-?|recompute )(?P<value>\d+|none|selective|full)", re.IGNORECASE)
_PARTS = {"tp": "tensor", "pp": "pipeline", "cp": "context", "ep": "expert", "dp": "data", "mb": "micro_batch", "zero": "zero_stage"}
DATA = "data"
"""The part of a plan that is no answer: what the GPUs leave for data parallelism once the others are chosen."""
NEAR = 0.55
MOST_WORDS = 80
"""Characters of what was asked that a message repeats."""
DECIDED: dict[str, tuple[Stage, str]] = {
    "training.precision": (Stage.VRAM, "precision"),
    "training.optimizer": (Stage.VRAM, "optimizer"),
    "software.framework": (Stage.SOFTWARE, "framework"),
    "preferences.storage": (Stage.STORAGE_CPU, "shared_kind"),
    "preferences.checkpoints": (Stage.STORAGE_CPU, "checkpoint_mode"),
    "facility.hosting": (Stage.MONEY, ""),
    "facility.feed": (Stage.POWER, ""),
    "budget.objective": (Stage.MONEY, ""),
}
"""Answers whose values may be asked about by their names alone, and the fact that says what a candidate has, "" where the answer does."""
OTHER_WORDS = {
    "object_storage": "object_store", "s3": "object_store", "parallel_filesystem": "parallel_file_system",
    "pfs": "parallel_file_system", "colo": "colocation", "torch": "pytorch", "cheaper": "cheapest", "faster": "fastest",
}  # fmt: skip
OPEN = ("any", "automatic")
"""Values that leave a choice to the rules; nobody asks why not them."""
RENTING = ("cloud", "clouds", "rent", "renting", "rented", "the_cloud")
"""Words for renting instead of buying, which no answer asks for."""


class NoSuchWishError(ValueError):
    """A word that names no GPU, server, vendor, fabric, cooling or plan."""


@dataclass(frozen=True)
class Wish:
    """Something that the design could have been. `changes` are answers that ask for it; `met_by` says whether a candidate is it.

    `had` says whether the design has it, where that is no matter of the candidate: of answers of which every candidate is made.
    """

    kind: str
    name: str
    changes: Mapping[str, object]
    met_by: Callable[[Candidate], bool]
    had: bool | None = None
    data: int = 0
    """Data-parallel ranks of a plan, which are no answer; 0 where they were not named."""


def wish_of(what: str, considered: Considered) -> Wish:
    """Return what `what` means; raises NoSuchWishError, naming what is near."""
    catalog, words = considered.context.catalog, " ".join(what.split())
    plain = words.lower().replace("-", "_").replace(" ", "_")
    if plain in FABRICS:
        technology = FABRICS[plain]
        return Wish(
            "fabric", technology, {"preferences.fabric": technology}, lambda each: _fact(each, Stage.FABRIC, "technology") == technology
        )
    cooling = plain.removesuffix("_cooling").removesuffix("_cooled")
    if cooling in COOLING:
        have = considered.context.answers.names("facility.cooling")
        asked = have if cooling in have else (*have, cooling)
        return Wish("cooling", cooling, {"facility.cooling": asked}, lambda each: _fact(each, Stage.POWER, "cooling") == cooling)
    plan = _plan(words, considered)
    if plan is not None:
        return plan
    return _answer(words, plain, considered) or _product(words, catalog)


def is_renting(what: str) -> bool:
    """Return whether words ask about renting."""
    return "_".join(what.lower().replace("-", " ").split()) in RENTING


def _answer(words: str, plain: str, considered: Considered) -> Wish | None:
    """Return the wish for an answer: "KEY=VALUE" of any, or the value of one of those that are decided by name; None for neither."""
    key, equals, value = (part.strip() for part in words.partition("="))
    if equals and not key:
        return None
    if not equals:
        plain = OTHER_WORDS.get(plain, plain)
        key = next((each for each in DECIDED if plain in field_of(each).choices and plain not in OPEN), "")
        value = plain
    elif not any(each.key == key for each in FIELDS):
        field_of(key)  # says what is near
    if not key or not value:
        return None
    answers = considered.context.answers
    asked = with_changes(answers, {key: value}, "what-if")
    stage, fact = DECIDED.get(key, (Stage.VRAM, ""))
    chosen = considered.ranking.chosen
    has = _fact(chosen.candidate, stage, fact) if fact and chosen is not None else None
    had = str(has).lower() == value if has is not None else asked.value(key) == answers.value(key)
    return Wish("answer", f"{key} = {value}", {key: value}, lambda _: True, had)


def _fact(candidate: Candidate, stage: Stage, name: str) -> object:
    return candidate.facts.get(stage, {}).get(name)


def _product(words: str, catalog: Catalog) -> Wish:
    gpu = catalog.gpus.get(words)
    if gpu is not None:
        id_ = gpu.id
        return Wish("GPU", gpu.name, {"preferences.gpus": (id_,)}, lambda each: each.gpu.id == id_)
    node = catalog.nodes.get(words)
    if node is not None:
        id_ = node.id
        return Wish("server", node.name, {"preferences.nodes": (id_,)}, lambda each: each.node.id == id_)
    vendors = {each.vendor.lower(): each.vendor for each in (*catalog.gpus, *catalog.nodes)}
    vendor = vendors.get(words.lower())
    if vendor is not None:
        return Wish("vendor", vendor, {"preferences.vendors": (vendor,)}, lambda each: vendor in (each.gpu.vendor, each.node.vendor))
    answers = [choice for key in DECIDED for choice in field_of(key).choices if choice not in OPEN]
    names = [*FABRICS, *COOLING, *answers, *vendors, *(each.id for each in catalog.gpus), *(each.id for each in catalog.nodes)]
    near = difflib.get_close_matches(words.lower(), names, n=3, cutoff=NEAR)
    hint = f"the nearest: {', '.join(near)}" if near else "'cluster-wizard catalog list gpus' and 'nodes' print all"
    kinds = "GPU, server, vendor, fabric, cooling, plan such as 'TP8 PP2' or answer such as 'training.precision=fp8'"
    raise NoSuchWishError(f"{shortened(words, MOST_WORDS)!r} is no {kinds}; {hint}")


def _plan(words: str, considered: Considered) -> Wish | None:
    """Return the wish for a plan ("TP8 PP4 ZeRO-1") on the chosen servers, None where the words are no plan."""
    named = [(str(found["part"]).lower().strip().rstrip("-"), str(found["value"]).lower()) for found in _PLAN.finditer(words)]
    parts = dict(named)
    rest = _PLAN.sub("", words).strip()
    chosen = considered.ranking.chosen
    if not parts or rest or chosen is None:
        return None
    if len(parts) < len(named):
        raise NoSuchWishError(f"{shortened(words, MOST_WORDS)!r} names a part of the plan twice; a plan has one of each")
    fields = {_PARTS.get(part, part): value if part == "recompute" else int(value) for part, value in parts.items()}
    changes: dict[str, object] = {f"parallelism.{name}": value for name, value in fields.items() if name != DATA}
    candidate = chosen.candidate
    changes |= {"parallelism.mode": "given", "preferences.nodes": (candidate.node.id,), "scale.gpus": candidate.gpus}
    if considered.context.answers.given("own_server.gpu"):
        del changes["preferences.nodes"]

    def met(each: Candidate) -> bool:
        plan = each.choice.plan if each.choice else None
        return plan is None or all(getattr(plan, name) == value for name, value in fields.items())

    return Wish("plan", words, changes, met, data=int(fields.get(DATA, 0)))
