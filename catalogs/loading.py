"""Read the catalog folders into records; each kind is read when first asked for."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import BaseModel, ValidationError

    from catalogs import schema

OWN_FOLDER = Path(__file__).parent
LARGEST_FILE_BYTES = 8_000_000
"""Bound of a catalog file, assumed: ten times the largest of the project's own."""
RecordType = TypeVar("RecordType", bound="BaseModel")


class CatalogError(ValueError):
    """A catalog file that cannot be used; the message names the file, the key and what was expected."""


class Shelf(Generic[RecordType]):
    """The records of one kind, found by id or alias (letter case and blanks do not matter)."""

    def __init__(self, kind: str, records: Mapping[str, RecordType], files: Mapping[str, Path] | None = None) -> None:
        self.kind = kind
        self._records = dict(sorted(records.items()))
        self._files = dict(files or {})
        self._by_name: dict[str, str] = {}
        for id_, record in self._records.items():
            for name in (id_, getattr(record, "name", id_), *getattr(record, "aliases", ())):
                self._by_name.setdefault(plain(str(name)), id_)

    def __iter__(self) -> Iterator[RecordType]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and plain(name) in self._by_name

    def __getitem__(self, name: str) -> RecordType:
        found = self.get(name)
        if found is None:
            near = self.nearest(name)
            raise CatalogError(f"no {self.kind} is called {name!r}" + (f"; the nearest is {near!r}" if near else ""))
        return found

    def get(self, name: str) -> RecordType | None:
        """Return the record called `name` (id or alias), or None."""
        found = self._records.get(name)
        if found is not None:
            return found
        id_ = self._by_name.get(plain(name))
        return None if id_ is None else self._records[id_]

    def replaced(self, record: RecordType, id_: str) -> Shelf[RecordType]:
        """Return a shelf with another record in place of that with this id."""
        return Shelf(self.kind, {**self._records, id_: record}, self._files)

    def file(self, id_: str) -> Path | None:
        """Return the file that the record with this id was read from, or None for a record made in memory."""
        return self._files.get(id_)

    def nearest(self, name: str) -> str | None:
        """Return the id whose id or alias is spelled most like `name`, or None where nothing is near."""
        near = self.near(name, 1, 0.4)
        return near[0] if near else None

    def near(self, name: str, most: int, likeness: float) -> list[str]:
        """Return up to `most` ids whose id or alias is spelled like `name`, at least so alike (0 to 1), the most alike first."""
        import difflib

        found = difflib.get_close_matches(plain(name), self._by_name, n=4 * most, cutoff=likeness)
        return list(dict.fromkeys(self._by_name[each] for each in found))[:most]


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return a name as it is compared: lower case, only letters, digits, dots and plus signs."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter in ".+")


@dataclass(frozen=True)
class Catalog:
    """All records of one or more folders; a later folder's record replaces an earlier one of the same id."""

    folders: tuple[Path, ...] = field(default=(OWN_FOLDER,))
    trial: str = ""
    """What is tried in it that no folder says, "" for nothing: a catalog with a trial is another one."""

    def with_trial(self, trial: str, **shelves: Shelf[Any]) -> Catalog:
        """Return a catalog with other shelves by name, to see what would follow; it shares the rest, and its version is the files'."""
        other = Catalog(self.folders, trial)
        other.__dict__.update({**self.__dict__, **shelves, "trial": trial})
        return other

    @cached_property
    def gpus(self) -> Shelf[schema.Gpu]:
        return self._shelf("gpus", "Gpu")

    @cached_property
    def nodes(self) -> Shelf[schema.Node]:
        return self._shelf("nodes", "Node")

    @cached_property
    def cpus(self) -> Shelf[schema.Cpu]:
        return self._shelf("cpus", "Cpu")

    @cached_property
    def nics(self) -> Shelf[schema.Nic]:
        return self._shelf("nics", "Nic")

    @cached_property
    def switches(self) -> Shelf[schema.Switch]:
        return self._shelf("switches", "Switch")

    @cached_property
    def cables(self) -> Shelf[schema.Cable]:
        return self._shelf("cables", "Cable")

    @cached_property
    def storage(self) -> Shelf[schema.Storage]:
        return self._shelf("storage", "Storage")

    @cached_property
    def racks(self) -> Shelf[schema.Rack]:
        return self._shelf("facilities/racks", "Rack")

    @cached_property
    def pdus(self) -> Shelf[schema.Pdu]:
        return self._shelf("facilities/pdus", "Pdu")

    @cached_property
    def cooling(self) -> Shelf[schema.Cooling]:
        return self._shelf("facilities/cooling", "Cooling")

    @cached_property
    def software(self) -> Shelf[schema.SoftwareSupport]:
        return self._shelf("software", "SoftwareSupport", table="support")

    @cached_property
    def models(self) -> Shelf[schema.ModelPreset]:
        return self._shelf("models", "ModelPreset")

    @cached_property
    def prices(self) -> Shelf[schema.Price]:
        return self._shelf("prices", "Price", table="price")

    @cached_property
    def facts(self) -> Shelf[schema.Fact]:
        return self._shelf("facts", "Fact", table="fact")

    @cached_property
    def collectives(self) -> Shelf[schema.Collective]:
        return self._shelf("collectives", "Collective", table="collective")

    @cached_property
    def measurements(self) -> Shelf[schema.Measurement]:
        return self._shelf("measurements", "Measurement", table="run")

    @cached_property
    def measured_models(self) -> Shelf[schema.MeasuredModel]:
        return self._shelf("measurements/models", "MeasuredModel", table="model")

    @cached_property
    def recipes(self) -> Shelf[schema.Recipe]:
        return self._shelf("measurements/recipes", "Recipe", table="recipe")

    @cached_property
    def validation(self) -> Shelf[schema.ValidatedRegime]:
        return self._shelf("validation", "ValidatedRegime", table="regime")

    @cached_property
    def thresholds(self) -> Shelf[schema.Threshold]:
        return self._shelf("thresholds", "Threshold", table="threshold")

    @cached_property
    def sources(self) -> Shelf[schema.Source]:
        return self._shelf(".", "Source", table="source", names=("sources.toml",))

    @cached_property
    def version(self) -> str:
        """Return the content hash of every TOML file in the folders, independent of where the folders are."""
        digest = hashlib.sha256()
        for folder in self.folders:
            for path in sorted(folder.rglob("*.toml")):
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
                digest.update(_read(path) + b"\0")
        return digest.hexdigest()[:16]

    def _shelf(self, folder: str, record: str, table: str | None = None, names: tuple[str, ...] = ()) -> Shelf[Any]:
        """Read one kind. With `table`, each file holds an array of tables of that name, else one record."""
        from catalogs import schema

        model: type[BaseModel] = getattr(schema, record)
        records: dict[str, BaseModel] = {}
        files: dict[str, Path] = {}
        for root in self.folders:
            here: dict[str, Path] = {}
            for path in _files(root / folder, names):
                for number, row in enumerate(_rows(path, table)):
                    made = _record(model, row, path, number if table else None)
                    id_: str = made.id  # type: ignore[attr-defined]
                    if id_ in here:
                        raise CatalogError(f"{path}: id {id_!r} is already used in {here[id_]}; give one of them another id")
                    records[id_], files[id_], here[id_] = made, path, path
        return Shelf(record.lower(), records, files)


def _files(folder: Path, names: tuple[str, ...]) -> Iterable[Path]:
    if names:
        return [folder / name for name in names if (folder / name).exists()]
    return sorted(folder.glob("*.toml"))


def _read(path: Path) -> bytes:
    """Return the bytes of a catalog file; raises CatalogError where it is none of sane size: a pipe or device would never end."""
    try:
        if not path.is_file():
            raise CatalogError(f"{path}: is not a regular file; a catalog file is a text of TOML")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read ({error.strerror or error}); check its permissions") from error
    if len(data) > LARGEST_FILE_BYTES:
        raise CatalogError(f"{path}: is larger than {LARGEST_FILE_BYTES // 1_000_000} MB, which no catalog file is; split it")
    return data


def _rows(path: Path, table: str | None) -> list[Any]:
    data = _read(path)
    try:
        # Editors on Windows begin UTF-8 text with a byte order mark; utf-8-sig leaves it out.
        document = tomllib.loads(data.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{path}: not valid TOML: {error}; correct the file at that place") from error
    except UnicodeDecodeError as error:
        raise CatalogError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except RecursionError:
        raise CatalogError(f"{path}: nests lists or tables too deeply; no record does") from None
    except ValueError:  # the only other one that Python's reader lets through
        raise CatalogError(f"{path}: holds a number of thousands of digits; write a shorter one") from None
    if table is None:
        return [document]
    rows = document.get(table, [])
    unknown = sorted(set(document) - {table})
    if unknown or not isinstance(rows, list):
        raise CatalogError(f"{path}: {unknown[0] if unknown else table}: expected only [[{table}]] tables; move it into one or remove it")
    return rows


def _record(model: type[BaseModel], row: Any, path: Path, number: int | None) -> BaseModel:
    from pydantic import ValidationError

    try:
        return model.model_validate(row)
    except ValidationError as error:
        place = "" if number is None else f" (table {number + 1})"
        raise CatalogError(f"{path}{place}: {_explain(error, model)}") from error


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Say in one line which key is wrong, what was expected, and what to do."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the whole record"
    if first["type"] == "extra_forbidden":
        return f"{where}: unknown key{_suggestion(str(first['loc'][-1]), _fields_at(model, first['loc'][:-1]))}"
    if first["type"] == "missing":
        return f"{where}: missing; a {model.__name__} needs it"
    said = first["msg"].removeprefix("Value error, ")
    return f"{where}: {said}" + ("" if "got " in said else f", got {_shown(first['input'])}")


def _shown(value: object) -> str:
    if isinstance(value, dict) and "value" in value:
        value = value["value"]
    try:
        return repr(str(value)[:80])
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        return "a number of thousands of digits"


def _fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the keys allowed at `path`, as far as plain nesting of records goes."""
    current: Any = model
    for part in path:
        found = getattr(current, "model_fields", {}).get(part)
        if found is None:
            return []
        arguments = [kind for kind in (found.annotation, *getattr(found.annotation, "__args__", ())) if hasattr(kind, "model_fields")]
        current = arguments[0] if arguments else None
    return sorted(getattr(current, "model_fields", {}))


def _suggestion(key: str, allowed: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(key, allowed, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; allowed are {', '.join(allowed)}" if allowed else "; remove it"


def load_catalog(folders: Iterable[Path | str] = ()) -> Catalog:
    """Return the project's own catalog, with the records of further `folders` added or replacing it in order.

    Raises CatalogError where a folder does not exist.
    """
    extra = tuple(Path(folder) for folder in folders)
    for folder in extra:
        if not folder.is_dir():
            raise CatalogError(f"{folder}: no such catalog folder")
    return Catalog((OWN_FOLDER, *extra))
