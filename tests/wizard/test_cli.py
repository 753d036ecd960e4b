"""The commands as a person calls them: exit codes, help, messages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.wizard.calls import ROOT, call, options_of
from wizard import __version__
from wizard.cli import COMMANDS, build_parser

LATER = ("audit", "quote", "serve")
"""Commands of the plan that no one has asked for yet."""


class TestHelp:
    def test_version(self):
        called = call("--version")
        assert (called.code, called.out) == (0, f"cluster-wizard {__version__}\n")

    def test_of_all(self):
        called = call("--help")
        assert called.code == 0
        for command in COMMANDS:
            assert re.search(rf"^ +{command} +[a-z]", called.out, re.MULTILINE)
        assert "FILE" in called.out
        assert max(map(len, called.out.splitlines())) <= 100

    @pytest.mark.parametrize(
        "words",
        [[name] for name in COMMANDS]
        + [["catalog", each] for each in ("list", "show", "check")]
        + [["rules", each] for each in ("list", "show", "test")],
        ids=" ".join,
    )
    def test_of_each_command(self, words):
        called = call(*words, "--help")
        assert called.code == 0
        assert called.err == ""
        assert f"usage: cluster-wizard {' '.join(words)}" in called.out

    def test_of_the_wizard_with_a_file(self):
        called = call("mine.toml", "--help")
        assert called.code == 0
        assert "FILE" in called.out.upper()

    def test_every_option_says_what_it_does(self):
        """Looked up in the parsers, since Python's versions lay out the same help in different ways."""
        for name in COMMANDS:
            silent = [action.option_strings for action in options_of(build_parser(name)) if not action.help]
            assert silent == [], name


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "mine.toml", "--json", "why", "facility.pue"],
        ["explain", "--json", "mine.toml", "why", "facility.pue"],
        ["explain", "mine.toml", "why", "--json", "facility.pue"],
        ["explain", "mine.toml", "why", "facility.pue", "--json"],
    ],
    ids=" ".join,
)
def test_options_stand_anywhere_after_the_command(words):
    options = build_parser("explain").parse_args(words)
    assert (options.design, options.words, options.json) == ("mine.toml", ["why", "facility.pue"], True)


class TestWrongCalls:
    @pytest.mark.parametrize("name", [*LATER, "bogus", "desing", "Design"])
    def test_what_is_no_command(self, name):
        for arguments in ([name], [name, "a.toml"], [name, "--json"], [name, "--help"]):
            call(*arguments).assert_one_message()
        assert name in call(name).err

    def test_an_option_before_the_command(self):
        called = call("--config", "mine.toml", "replay", "a.toml")
        assert called.code == 2
        assert "mine.toml" not in called.out
        assert "the command comes first: cluster-wizard replay … --config …" in called.err

    def test_the_nearest_command_is_named(self):
        assert "did you mean 'design'" in call("desing", "a.toml").err
        assert "did you mean 'replay'" in call("reply").err

    @pytest.mark.parametrize(
        "words",
        [
            ["--bogus"], ["design", "--bogus"], ["design"], ["design", "a", "b"], ["replay"], ["questions"], ["questions", "a", "b"],
            ["catalog"], ["catalog", "bogus"], ["catalog", "list", "bogus"], ["catalog", "show"], ["rules"], ["rules", "bogus"],
            ["rules", "show"], ["--bogus", "design", "a.toml"], ["design", "a\nb", "c\x1b[31m"], ["mine.toml", "other.toml"],
            ["design", "-o"], ["design", "--set"],
        ],
        ids=lambda words: " ".join(words).encode("unicode_escape").decode(),
    )  # fmt: skip
    def test_one_message(self, words):
        call(*words).assert_one_message()

    @pytest.mark.parametrize("words", [[], ["mine.toml"], ["--catalog", "a", "mine.toml"]], ids=lambda words: " ".join(words) or "nothing")
    def test_the_wizard_without_a_terminal(self, words):
        called = call(*words)
        called.assert_one_message()
        assert "needs a terminal" in called.err
        assert all(name in called.err for name in COMMANDS)

    @pytest.mark.parametrize(("kind", "told"), [("dumb", "TERM is 'dumb'"), ("unknown", "TERM is 'unknown'"), ("", "TERM is not set")])
    def test_the_wizard_on_a_terminal_that_only_writes_lines(self, kind, told, monkeypatch):
        monkeypatch.setenv("TERM", kind)
        monkeypatch.setattr("wizard.cli._streams", lambda: ())
        called = call()
        called.assert_one_message()
        assert told in called.err
        assert "'cluster-wizard plain' asks by lines" in called.err

    def test_nothing_near_a_name(self):
        called = call("catalog", "show", "zzzzzzzzzz")
        called.assert_one_message()
        assert "catalog list" in called.err

    def test_a_name_with_a_slip(self):
        called = call("catalog", "show", "h100-smx-80gb")
        called.assert_one_message()
        assert "h100-sxm-80gb" in called.err

    def test_a_rule_with_a_slip(self):
        first = call("rules", "list", "--json").json[0]["id"]
        called = call("rules", "show", first[:-1])
        called.assert_one_message()
        assert f"did you mean {first!r}" in called.err

    def test_no_rule_matches(self):
        call("rules", "list", "--stage", "kitchen").assert_one_message()
        call("rules", "list", "--guidance", "G99").assert_one_message()


class TestDesign:
    def test_to_standard_output_and_to_a_file(self, small_answers, tmp_path):
        printed = call("design", small_answers)
        assert printed.code == 0
        assert tomllib.loads(printed.out)["design"]["summary"]["nodes"] == 1
        written = call("design", small_answers, "-o", tmp_path / "small.toml")
        assert (written.code, written.out) == (0, "")
        assert (tmp_path / "small.toml").read_text("utf-8") == printed.out
        assert f"wrote {tmp_path / 'small.toml'}" in written.err

    def test_from_standard_input(self, small_answers):
        called = call("design", "-", stdin=small_answers.read_bytes())
        assert called.code == 0
        assert tomllib.loads(called.out)["answers"] == tomllib.loads(small_answers.read_text("utf-8"))

    def test_as_json_it_says_the_same(self, small_answers):
        called = call("design", small_answers, "--json")
        document = tomllib.loads(call("design", small_answers).out)
        assert called.json == document

    def test_conflicts_exit_with_one_and_are_told_with_a_way_out(self, small_answers):
        called = call("design", small_answers, "--set", "budget.purchase=1000 USD")
        assert called.code == 1
        assert "CONFLICT" in called.err
        assert tomllib.loads(called.out)["conflict"]

    def test_no_answers_at_all_are_valid(self, monkeypatch):
        from rules.design import Design

        seen = []

        def advise(answers, catalog, **options):
            seen.append(answers)
            return Design(answers, catalog.version, "", "", "", False, None, {}, (), (), (), (), ())

        monkeypatch.setattr("rules.advisor.advise", advise)
        assert call("design", "-", stdin=b"").code == 1
        assert not seen[0].values

    def test_settings(self, monkeypatch, small_answers):
        from rules.design import Design

        seen = []

        def advise(answers, catalog, **options):
            seen.append(answers)
            return Design(answers, catalog.version, "", "", "", True, None, {}, (), (), (), (), ())

        monkeypatch.setattr("rules.advisor.advise", advise)
        words = [
            "scale.nodes=16",
            "budget.purchase = 1.5M USD",
            "facility.total_power=4 MW",
            "preferences.vendors=NVIDIA, AMD",
            "model.preset=",
        ]
        assert call("design", small_answers, *(part for word in words for part in ("--set", word))).code == 0
        answers = seen[0]
        assert answers.count("scale.nodes") == 16
        assert answers.number("budget.purchase") == 1_500_000
        assert answers.number("facility.total_power") == 4000
        assert answers.names("preferences.vendors") == ("NVIDIA", "AMD")
        assert not answers.given("model.preset")
        assert call("design", "--set", "model.preset=a=b").code == 0
        assert seen[1].text("model.preset") == "a=b"

    @pytest.mark.parametrize(
        ("setting", "said"),
        [
            ("scale.nodez=8", "did you mean 'scale.nodes'"),
            ("scale.nodes", "expected KEY=VALUE"),
            ("=8", "no such answer"),
            ("facility.rack_power=40 kg", "facility.rack_power"),
            ("facility.rack_power=nan", "facility.rack_power"),
            ("scale.nodes=0", "scale.nodes"),
            ("scale.nodes=-8", "scale.nodes"),
            ("model.preset=\udcff", "model.preset"),
            ("model.preset=no-such-model-at-all", "no-such-model-at-all"),
            ("preferences.gpus=h100-smx-80gb", "h100"),
            ("own_server.gpu=no-such-gpu", "no-such-gpu"),
        ],
    )
    def test_wrong_settings(self, setting, said):
        called = call("design", "--set", setting)
        called.assert_one_message()
        assert said in called.err

    @pytest.mark.parametrize("place", ["", "  "])
    def test_an_output_without_a_name(self, place, small_answers):
        called = call("design", small_answers, "-o", place)
        called.assert_one_message()
        assert "-o: expected the name of a file" in called.err

    def test_an_output_that_is_standard_output(self, small_answers):
        called = call("design", small_answers, "-o", "/dev/stdout")
        assert called.code == 0
        assert called.out == call("design", small_answers).out

    @pytest.mark.parametrize("place", ["missing/folder/a.toml", ".", "a.toml/b.toml"])
    def test_a_place_that_cannot_be_written(self, place, small_answers, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("a.toml").touch()
        called = call("design", small_answers, "-o", place)
        called.assert_one_message()
        assert "cannot be written" in called.err
        assert sorted(each.name for each in tmp_path.iterdir()) == ["a.toml"]

    def test_an_output_whose_name_is_no_text(self, small_answers, tmp_path):
        assert call("design", small_answers, "-o", f"{tmp_path}/\udcff.toml").code == 0


class TestQuestions:
    def test_of_a_design_and_of_answers_are_the_same(self, small_design, small_answers):
        assert call("questions", small_design).out == call("questions", small_answers).out

    def test_grouped_by_vendor(self, small_design):
        rows = call("questions", "--json", small_design).json
        text = call("questions", small_design).out
        assert [line for line in text.splitlines() if line.startswith("To the ")] == [
            f"To the {to}" for to in dict.fromkeys(row["to"] for row in rows)
        ]
        vendor = rows[0]["to"]
        only = call("questions", "--json", "--to", vendor.upper(), small_design).json
        assert only
        assert all(vendor in row["to"] for row in only)

    def test_to_nobody(self, small_design):
        called = call("questions", "--to", "florist", small_design)
        called.assert_one_message()
        assert "this design asks" in called.err


class TestCatalogAndRules:
    def test_a_person_adds_a_gpu_with_a_file(self, tmp_path, monkeypatch):
        gpu = (ROOT / "catalogs" / "gpus" / "nvidia-h100-sxm-80gb.toml").read_text("utf-8")
        text = gpu.replace('id = "nvidia-h100-sxm-80gb"', 'id = "my-gpu"')
        lines = [line for line in text.splitlines() if not line.startswith("aliases")]
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        folder = tmp_path / "cluster-wizard" / "catalogs" / "gpus"
        folder.mkdir(parents=True)
        (folder / "my-gpu.toml").write_text("\n".join(lines), "utf-8")
        assert "my-gpu" in call("catalog", "list", "gpus").out
        assert call("catalog", "show", "my-gpu", "--json").json["record"]["power"]["maximum"]["value"] == "700 W"

    def test_show_tells_the_source_of_a_value(self):
        out = call("catalog", "show", "nvidia-h100-sxm-80gb").out
        line = next(line for line in out.splitlines() if line.strip().startswith("power.maximum"))
        assert "700 W" in line
        assert "datasheet" in line

    def test_check_finds_nothing_in_the_own_catalog(self):
        called = call("catalog", "check")
        assert (called.code, called.out) == (0, "")
        assert called.err.endswith("0 problems\n")

    def test_rules_show_the_guidance_they_apply(self):
        rows = call("rules", "list", "--guidance", "G4.1", "--json").json
        assert rows
        assert all("G4.1" in row["guidance"] for row in rows)

    def test_a_failing_case_exits_with_one(self, tmp_path):
        row = next(row for row in call("rules", "list", "--json").json if row["when"])
        fields = sorted({part for line in row["when"] for part in line.split() if part.isidentifier()})
        path = tmp_path / "case.toml"
        facts = "\n".join(f"{field} = 1" for field in fields)
        codes = set()
        for fires in ("true", "false"):
            path.write_text(
                f"[[case]]\nrule = '{row['id']}'\nname = 'mine'\nsource = 'me'\nfires = {fires}\n[case.facts]\n{facts}\n", "utf-8"
            )
            codes.add(call("rules", "test", path).code)
        assert codes == {0, 1}
