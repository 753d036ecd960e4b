"""`export` as a person calls it: formats, exit codes, messages, and what the general formats hold."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from tests.wizard.calls import ROOT, call
from wizard import schemas
from wizard.exports import FORMATS, formats
from wizard.pictures import PICTURES


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


class TestTheCommand:
    def test_lists_every_format(self):
        listed = call("export", "--to", "list")
        assert listed.code == 0
        names = [line.split()[0] for line in listed.out.splitlines()]
        assert names == [each.id for each in formats()]
        assert {f"svg-{each.id}" for each in PICTURES} <= set(names)
        assert len(set(names)) == len(names)

    def test_every_format_is_in_the_docs(self):
        page = (ROOT / "docs" / "exports.md").read_text("utf-8")
        assert [each.id for each in FORMATS if f"`{each.id}`" not in page] == []

    def test_lists_them_as_json(self):
        document = call("export", "--to", "list", "--json").json
        assert [each["format"] for each in document] == [each.id for each in formats()]
        assert list(schemas.validator("export").iter_errors(document)) == []

    @pytest.mark.parametrize(
        "words",
        [
            [], ["x.toml"], ["--to"], ["--to", "bom-csv"], ["x.toml", "--to", "bom-csv"], ["x.toml", "--to", "bogus"],
            ["x.toml", "--to", "bom-csv", "--json"], ["x.toml", "--to", "bom-csv", "-o", " "], ["x.toml", "--to", "svg-bogus"],
        ],
        ids=" ".join,
    )  # fmt: skip
    def test_wrong_calls(self, words):
        call("export", *words).assert_one_message()

    def test_the_nearest_format_is_named(self):
        assert "did you mean 'bom-csv'" in call("export", "x.toml", "--to", "bom-cvs").err

    def test_to_a_file(self, small_answers, tmp_path):
        target = tmp_path / "bom.csv"
        written = call("export", small_answers, "--to", "bom-csv", "-o", target)
        assert (written.code, written.out, written.err) == (0, "", f"wrote {target}\n")
        assert target.read_text("utf-8") == call("export", small_answers, "--to", "bom-csv").out
        assert [each.name for each in tmp_path.iterdir()] == ["bom.csv"]

    def test_onto_the_design_itself(self, small_answers, tmp_path):
        design = tmp_path / "design.toml"
        design.write_bytes(small_answers.read_bytes())
        called = call("export", design, "--to", "bom-csv", "-o", tmp_path / "." / "design.toml")
        called.assert_one_message()
        assert "is the design itself" in called.err
        assert design.read_bytes() == small_answers.read_bytes()

    def test_to_a_place_that_is_none(self, small_answers, tmp_path):
        call("export", small_answers, "--to", "bom-csv", "-o", tmp_path / "no" / "bom.csv").assert_one_message()

    def test_a_design_with_conflicts_is_exported_and_said_to_have_them(self, small_answers, tmp_path):
        tight = tmp_path / "tight.toml"
        tight.write_text(small_answers.read_text("utf-8") + '[budget]\npurchase = "1000 USD"\n', "utf-8")
        called = call("export", tight, "--to", "bom-csv")
        assert called.code == 1
        assert "nvidia-dgx-h100" in {row["item"] for row in rows_of(called.out)}
        assert "has conflicts" in called.err

    @pytest.mark.parametrize("name", [each.id for each in FORMATS])
    def test_without_any_candidate_there_is_nothing(self, name, small_answers, tmp_path):
        none = tmp_path / "none.toml"
        none.write_text('[preferences]\ngpus = ["nvidia-l4"]\nnodes = ["nvidia-dgx-h100"]\n', "utf-8")
        called = call("export", none, "--to", name, "-o", tmp_path / "out")
        assert (called.code, called.out) == (1, "")
        assert len(called.err.splitlines()) == 1
        assert "nothing to export" in called.err
        assert not (tmp_path / "out").exists()

    def test_the_same_from_the_design_as_from_the_answers(self, small_answers, small_design):
        assert call("export", small_design, "--to", "bom-csv").out == call("export", small_answers, "--to", "bom-csv").out


class TestGeneralFormats:
    def test_bill_of_materials(self, small_answers):
        """One DGX H100 with its eight GPUs; what has no price has an empty cell."""
        rows = rows_of(call("export", small_answers, "--to", "bom-csv").out)
        (server,) = [row for row in rows if row["item"] == "nvidia-dgx-h100"]
        assert server["quantity"] == "1"
        for row in rows:
            priced = row["unit price low (USD)"] != ""
            assert (row["line low (USD)"] != "") is priced
            if priced:
                assert float(row["line low (USD)"]) == pytest.approx(float(row["unit price low (USD)"]) * int(row["quantity"]))

    def test_questions_are_those_of_the_command(self, small_answers):
        asked = call("questions", small_answers, "--json").json
        rows = rows_of(call("export", small_answers, "--to", "questions-csv").out)
        assert [row["question"] for row in rows] == [each["ask"] for each in asked]
        page = call("export", small_answers, "--to", "questions-markdown").out
        assert page.startswith("# Questions for vendors\n")
        for each in asked:
            assert each["ask"] in page
            assert f"## To the {each['to']}\n" in page

    @pytest.mark.parametrize("picture", [each.id for each in PICTURES])
    def test_pictures_are_svg(self, picture, small_answers):
        drawn = ET.fromstring(call("export", small_answers, "--to", f"svg-{picture}").out)
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
