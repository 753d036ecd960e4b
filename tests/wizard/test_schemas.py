"""The schemas: valid, up to date, and true of every file and of every output."""

from __future__ import annotations

import copy
import tomllib
from dataclasses import fields

import pytest

from catalogs.lint import SHELVES
from catalogs.loading import OWN_FOLDER
from rules.answer_fields import FIELDS
from rules.answers import Answers, parse_answer
from rules.sizing.fabric import FabricInput
from tests.wizard.calls import ROOT, call
from wizard import schemas
from wizard.cli import COMMANDS
from wizard.files import FileError, interpret
from wizard.schemas.generated import KINDS, generated_schemas, text_of

WITHOUT_JSON = {"plain", "report"}
"""Commands that print what a person reads and write files that have their own form."""
FOLDERS = {
    "racks": "facilities/racks",
    "pdus": "facilities/pdus",
    "cooling": "facilities/cooling",
    "measured_models": "measurements/models",
    "recipes": "measurements/recipes",
}


def problems(name: str, value: object) -> list[str]:
    return [f"{error.json_path}: {error.message[:300]}" for error in schemas.validator(name).iter_errors(value)]


class TestTheSchemas:
    @pytest.mark.parametrize("name", schemas.names())
    def test_is_valid_names_itself_and_is_described(self, name):
        schema = schemas.schema(name)
        schemas.validator(name).check_schema(schema)
        assert schema["$id"] == f"{name}.schema.json"
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["title"]
        assert schema["description"].endswith(".")

    @pytest.mark.parametrize("name", schemas.names())
    def test_every_reference_is_found(self, name):
        def references(value):
            if isinstance(value, dict):
                if isinstance(value.get("$ref"), str):
                    yield value["$ref"]
                for inner in value.values():
                    yield from references(inner)
            elif isinstance(value, list):
                for inner in value:
                    yield from references(inner)

        for reference in references(schemas.schema(name)):
            file, _, pointer = reference.partition("#")
            found = schemas.schema(file.removesuffix(".schema.json") if file else name)
            for part in pointer.strip("/").split("/") if pointer else []:
                found = found[part]

    @pytest.mark.parametrize("name", sorted(generated_schemas()))
    def test_the_committed_one_is_what_the_declarations_give(self, name):
        committed = (schemas.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
        assert committed == text_of(generated_schemas()[name]), "run 'make schemas'"

    def test_there_is_one_for_every_kind_of_record_and_every_output(self):
        assert set(KINDS) == set(SHELVES)
        outputs = {
            "design",
            "replay",
            "questions",
            "catalog-list",
            "catalog-show",
            "catalog-check",
            "rules-list",
            "rules-show",
            "rules-test",
        }
        outputs |= {"comparison", "diff", "estimate", "explain", "export", "fabric", "fix", "params", "policies", "validate"}
        assert set(COMMANDS) - WITHOUT_JSON <= {name.partition("-")[0] for name in outputs}
        assert outputs <= set(schemas.names())


class TestAnswers:
    @pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.key)
    def test_the_example_of_every_field_is_read_and_valid(self, field):
        section, _, name = field.key.partition(".")
        for value in (field.example, "unknown"):
            for document in ({section: {name: value}}, {"answers": {section: {name: value}}}, {field.key: value}):
                assert problems("answers", document) == []
        assert parse_answer(field.key, field.example) != "unknown"
        assert problems("answers", Answers().with_value(field.key, field.example).nested()) == []

    @pytest.mark.parametrize(
        "document",
        [
            {"scale": {"nodez": 8}},
            {"scales": {"nodes": 8}},
            {"scale": 8},
            {"scale": {"nodes": 0}},
            {"scale": {"nodes": 2_000_000}},
            {"scale": {"nodes": 1.5}},
            {"scale": {"nodes": True}},
            {"scale": {"nodes": "many"}},
            {"workload": {"kind": "cooking"}},
            {"facility": {"pue": 0.9}},
            {"facility": {"cooling": []}},
            {"preferences": {"gpus": [1]}},
            {"answers": {"scale": {"nodes": 8}}, "scale": {"nodes": 8}},
            {"answers": {"bogus": {}}},
        ],
    )
    def test_schema_and_reader_refuse_the_same(self, document):
        assert problems("answers", document)
        with pytest.raises(FileError):
            interpret(document, "a.toml")


class TestCatalog:
    @pytest.mark.parametrize("kind", KINDS)
    def test_files_are_valid(self, kind):
        folder = OWN_FOLDER / FOLDERS.get(kind, kind)
        paths = [OWN_FOLDER / "sources.toml"] if kind == "sources" else sorted(folder.glob("*.toml"))[:6]
        assert paths
        validator = schemas.validator(f"catalog-{kind}")
        for path in paths:
            found = [
                f"{path.name}: {error.json_path}: {error.message[:200]}"
                for error in validator.iter_errors(tomllib.loads(path.read_text("utf-8")))
            ]
            assert found == []

    def test_an_unknown_key_and_a_missing_source_are_not(self):
        record = tomllib.loads((OWN_FOLDER / "gpus" / "nvidia-h100-sxm-80gb.toml").read_text("utf-8"))
        assert problems("catalog-gpus", {**record, "colour": "green"})
        without = copy.deepcopy(record)
        del without["power"]["maximum"]["source"]
        assert problems("catalog-gpus", without)


class TestOutputs:
    def test_catalog_list(self):
        counts = call("catalog", "list", "--json").json
        assert problems("catalog-list", counts) == []
        assert set(counts) == set(KINDS)

    @pytest.mark.parametrize("kind", KINDS)
    def test_catalog_list_and_show_of_a_kind(self, kind):
        rows = call("catalog", "list", kind, "--json").json
        assert problems("catalog-list", rows) == []
        shown = call("catalog", "show", rows[0]["id"], "--json").json
        assert shown["record"]["id"] == rows[0]["id"]
        assert problems("catalog-show", shown) == []

    def test_catalog_check(self, tmp_path):
        assert problems("catalog-check", call("catalog", "check", "--json").json) == []
        (tmp_path / "gpus").mkdir()
        text = (OWN_FOLDER / "gpus" / "nvidia-h100-sxm-80gb.toml").read_text("utf-8")
        (tmp_path / "gpus" / "mine.toml").write_text(text.replace('"nvidia-h100-datasheet"', '"hearsay"'), "utf-8")
        checked = call("catalog", "check", "--json", "--catalog", tmp_path)
        assert checked.code == 1
        assert checked.json
        assert problems("catalog-check", checked.json) == []

    def test_rules_list_and_show(self):
        rows = call("rules", "list", "--json").json
        assert problems("rules-list", rows) == []
        assert problems("rules-show", call("rules", "show", rows[0]["id"], "--json").json) == []

    def test_rules_test(self, tmp_path):
        name = call("rules", "list", "--json").json[0]
        fields = sorted({part for line in name["when"] for part in line.replace("×", " ").split() if part.isidentifier()})
        facts = ", ".join(f"{field} = 1" for field in fields)
        case = f'[[case]]\nrule = "{name["id"]}"\nname = "a case"\nsource = "none"\nfires = true\nfacts = {{ {facts} }}\n'
        path = tmp_path / "cases.toml"
        path.write_text(case, "utf-8")
        assert problems("rule-cases", tomllib.loads(case)) == []
        called = call("rules", "test", path, "--json")
        assert called.code in (0, 1), called.err
        assert len(called.json) == 1
        assert problems("rules-test", called.json) == []

    def test_design_as_json_and_as_file(self, small_answers, small_design):
        assert problems("design", call("design", small_answers, "--json").json) == []
        assert problems("design", tomllib.loads(small_design.read_text("utf-8"))) == []

    def test_a_design_where_nothing_fits(self, small_answers):
        called = call("design", small_answers, "--json", "--set", "budget.purchase=1000 USD")
        assert called.code == 1
        assert called.json["conflict"]
        assert problems("design", called.json) == []

    def test_replay_and_questions(self, small_design, tmp_path):
        edited = tmp_path / "edited.toml"
        edited.write_text(small_design.read_text("utf-8").replace("sequence_length = 4096", "sequence_length = 8192"), "utf-8")
        called = call("replay", "--json", small_design, edited)
        assert [row["same"] for row in called.json] == [True, False]
        assert problems("replay", called.json) == []
        questions = call("questions", "--json", small_design).json
        assert questions
        assert problems("questions", questions) == []

    @pytest.mark.parametrize("path", sorted((ROOT / "designs").glob("*.toml")), ids=lambda path: path.stem)
    def test_example_designs(self, path):
        assert problems("design", tomllib.loads(path.read_text("utf-8"))) == []

    @pytest.mark.parametrize("path", sorted((ROOT / "tests" / "rules").glob("*.toml")), ids=lambda path: path.stem)
    def test_rule_cases(self, path):
        assert problems("rule-cases", tomllib.loads(path.read_text("utf-8"))) == []


class TestTheSchemasOfTheContract:
    """The rows that the command table of the design promises."""

    ESTIMATE = {
        "id": "a", "iteration_s": 4.7, "tokens_per_s_per_gpu": 3500.0, "tflops_per_gpu": None, "mfu": 0.4,
        "memory_gib": {"low": 60.0, "expected": 62.0, "high": 70.0, "terms": {"parameters": 62.0}}, "verdict": "fits", "notes": [],
    }  # fmt: skip
    FABRIC = {
        "id": "a", "leaf": 32, "spine": 16, "core": 0, "tiers": 2, "links": {"node_leaf": 1024, "leaf_spine": 1024, "spine_core": 0},
        "manager_links": 4, "cages": {"leaf_spine": 512}, "modules": {}, "notes": ["cages hold two links"],
    }  # fmt: skip
    PARAMS = {
        "total": 8030261248, "active": 8030261248, "embedding": 1050673152, "mtp": 0, "flops_per_token": 4.8e10,
        "weights_bytes": 16060522496,
    }  # fmt: skip

    def test_rows_are_valid(self):
        assert (
            problems("estimate", [self.ESTIMATE, self.ESTIMATE | {"memory_gib": None, "verdict": "unknown", "notes": ["no such GPU"]}])
            == []
        )
        assert problems("fabric", [self.FABRIC]) == []
        assert problems("params", self.PARAMS) == []
        specs = {"fabric": [{"id": "a", "gpus": 64, "input": {"nodes": 8, "nics_per_node": 8, "layout": "rail"}}]}
        assert problems("fabric-specs", specs) == []

    def test_others_are_not(self):
        assert problems("estimate", [self.ESTIMATE | {"verdict": "maybe"}])
        assert problems("estimate", [{"id": "a"}])
        assert problems("fabric", [self.FABRIC | {"leaf": -1}])
        assert problems("fabric", [self.FABRIC | {"links": {}}])
        assert problems("params", {"total": 1})
        taken = schemas.schema("fabric-specs")["properties"]["fabric"]["items"]["properties"]["input"]["properties"]
        assert list(taken) == [each.name for each in fields(FabricInput)], "the schema knows every key of an input"
        assert problems("fabric-specs", {"fabric": [{"id": "a", "input": {"nodes": 8, "layout": "ring"}}]})
        assert problems("fabric-specs", {"fabric": [{"id": "a", "input": {"nodez": 8}}]})
