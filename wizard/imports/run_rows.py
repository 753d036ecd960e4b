"""Tables of training runs as they are written: `[[run]]` or `[[memory]]` rows and `[models.*]`, with every value that is used checked.

Measured values and unknown keys of a row are ignored. A row or model with a value of the wrong type carries the problem, which names
the key: that row cannot be answered, the others can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wizard.files import FileError
from wizard.imports.run_words import misspelt, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

ROW_TABLES = ("run", "memory")
PROBLEM = "problem"
"""Key of a checked table of a model that says why it cannot be read."""
LARGEST = 10**12
_POSITIVE = (
    "seq_len", "gpus", "tp", "pp", "dp", "cp", "ep", "etp", "vpp", "micro_batch", "global_batch", "grad_accum", "batch_per_gpu",
    "batch_per_dp", "layers_override", "network_gbps",
)  # fmt: skip
_WHOLE = ("dense_layers_override", "zero_stage")
_FLAGS = ("sequence_parallel", "compile", "async_tp", "fused_experts")
_TEXTS = (
    "model", "gpu", "precision", "recompute", "kernel", "optimizer", "sharding", "mp_mode", "workload", "offload", "schedule", "release",
    "exchange",
)  # fmt: skip
_LABELS = ("table",)
"""Free texts of which something may be recognised; whatever else they are is no error."""
_NOT_READ = (
    "id", "source", "table", "note", "mode", "verified", "params", "gpu_mem_gib", "iteration_s", "tokens_per_s_per_gpu", "tokens_per_s",
    "images_per_s", "samples_per_s", "tflops_per_gpu", "hw_tflops_per_gpu", "mfu", "hfu", "peak_mem_gib", "peak_mem_gb", "fits",
)  # fmt: skip
"""Keys of what was measured, and of where a row comes from."""
_MODEL_POSITIVE = ("layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "head_dim", "moe_ffn")
_MODEL_WHOLE = (
    "experts", "topk", "shared_expert_ffn", "dense_layers", "mtp_layers", "sliding_window", "full_attention_layers", "q_lora_rank",
    "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "tables", "embedding_dim",
)  # fmt: skip
_MODEL_NUMBERS = ("params_b", "fwd_gmacs_per_image", "embedding_gib", "dense_params_b")
_MODEL_FLAGS = ("glu", "tied_embeddings")
_MODEL_TEXTS = ("attention", "embedding_precision", "optimizer", "hybrid")


@dataclass(frozen=True)
class RunRow:
    """One row: its id and the values that describe the run; what was measured is left out. `problem`: why it cannot be read, or "".

    `misspelt` are sentences about keys that are not read although they look like some that are.
    """

    id: str
    values: Mapping[str, Any]
    problem: str = ""
    misspelt: tuple[str, ...] = ()

    def count(self, key: str) -> int | None:
        """Return a whole number of the row, or None where it is not stated."""
        found = self.values.get(key)
        return None if found is None else int(found)

    def text(self, key: str) -> str:
        """Return a text of the row, "" where it is not stated."""
        return str(self.values.get(key, ""))


def read_rows(document: Mapping[str, Any], path: str) -> tuple[tuple[RunRow, ...], Mapping[str, Mapping[str, Any]]]:
    """Return the rows in order, and the tables of models by name; raises FileError where there are no rows, or one without a name."""
    present = [name for name in ROW_TABLES if name in document]
    if len(present) != 1:
        held = "both [[run]] and [[memory]] tables; split it" if present else "no [[run]] or [[memory]] tables; write one for each run"
        raise FileError(path, f"holds {held}")
    kind, rows = present[0], document[present[0]]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FileError(path, f"{kind}: expected [[{kind}]] tables")
    models = document.get("models", {})
    if not isinstance(models, dict) or not all(isinstance(table, dict) for table in models.values()):
        raise FileError(path, "models: expected a table [models.NAME] for each model")
    checked = {name: _model(table, name) for name, table in models.items()}
    return tuple(_row(row, f"{kind} {number}", path) for number, row in enumerate(rows, start=1)), checked


def problem_of(row: RunRow, models: Mapping[str, Mapping[str, Any]]) -> str:
    """Return why a row, or the table of its model, cannot be read, or ""."""
    return row.problem or str(models.get(row.text("model"), {}).get(PROBLEM, ""))


def _row(raw: Mapping[str, Any], place: str, path: str) -> RunRow:
    name = raw.get("id")
    if not isinstance(name, str) or not name:
        raise FileError(path, f"{place}: id: expected a text in quotes; give each row a name")
    raw = spelled(raw)
    checker = _Checker(raw)
    for key in _POSITIVE:
        checker.whole(key, 1)
    for key in _WHOLE:
        checker.whole(key, 0)
    checker.number("gpu_mem_gib")
    if "zero_stage" in raw:
        checker.whole("zero_stage", 0, 3)
    for key in _FLAGS:
        checker.flag(key)
    for key in _TEXTS:
        checker.text(key)
    checker.kept |= {key: raw[key] for key in _LABELS if isinstance(raw.get(key), str)}
    if "model" not in raw:
        checker.problems.append("model: expected the name of a [models.*] table or of a model in the catalog")
    known = (*_POSITIVE, *_WHOLE, *_FLAGS, *_TEXTS)
    unread = [key for key in raw if key not in known and key not in _NOT_READ]
    return RunRow(name, checker.kept, "; ".join(checker.problems), misspelt(unread, known))


def _model(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    checker = _Checker(raw)
    for key in _MODEL_POSITIVE:
        checker.whole(key, 1)
    for key in _MODEL_WHOLE:
        checker.whole(key, 0)
    for key in _MODEL_NUMBERS:
        checker.number(key)
    for key in _MODEL_FLAGS:
        checker.flag(key)
    for key in _MODEL_TEXTS:
        checker.text(key)
    experts, chosen = checker.kept.get("experts", 0), checker.kept.get("topk", 0)
    if chosen > experts:
        checker.problems.append(f"topk: a token cannot visit {chosen} of {experts} experts")
    heads, shared = checker.kept.get("heads", 0), checker.kept.get("kv_heads", 0)
    if shared > heads > 0:
        checker.problems.append(f"kv_heads: {heads} query heads cannot share {shared} heads of keys and values")
    if checker.problems:
        checker.kept[PROBLEM] = f"models.{name}: {'; '.join(checker.problems)}"
    return checker.kept


class _Checker:
    """Keeps the values of one table that have the right type, and a problem for each that has not."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.kept: dict[str, Any] = {}
        self.problems: list[str] = []

    def whole(self, key: str, least: int, most: int = LARGEST) -> None:
        """Keep a whole number of at least `least`."""
        value = self.raw.get(key)
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or not least <= value <= most or value % 1:
            self._fail(key, f"a whole number from {least} to {most:,}", value)
        else:
            self.kept[key] = int(value)

    def number(self, key: str) -> None:
        """Keep a number of at least 0."""
        value = self.raw.get(key)
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LARGEST:
            self._fail(key, "a number from 0", value)
        else:
            self.kept[key] = float(value)

    def flag(self, key: str) -> None:
        """Keep true or false."""
        value = self.raw.get(key)
        if value is None:
            return
        if not isinstance(value, bool):
            self._fail(key, "true or false", value)
        else:
            self.kept[key] = value

    def text(self, key: str) -> None:
        """Keep a text."""
        value = self.raw.get(key)
        if value is None:
            return
        if not isinstance(value, str) or not value:
            self._fail(key, "a text in quotes", value)
        else:
            self.kept[key] = value

    def _fail(self, key: str, expected: str, value: object) -> None:
        from rules.answers import shortened

        self.problems.append(f"{key}: expected {expected}, got {shortened(repr(value))}")
