"""Odd input to every reader: one clear message and exit code 2, or a plain answer; never a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.wizard.calls import call, run
from tests.wizard.conftest import SMALL
from wizard.cli import COMMANDS

HUGE = "0x" + "F" * 5000
LONG = "x" * 100_000
COUNTING = [name for name in ("estimate", "fabric", "params") if name in COMMANDS]
DEEP = "[" * 5000 + "]" * 5000


WRONG_ANSWERS = {
    "broken": ("[scale\nnodes = 8\n", "not valid TOML"),
    "a sentence": ("eight nodes, please", "not valid TOML"),
    "JSON": ('{"scale": {"nodes": 8}}', "not valid TOML"),
    "duplicated key": ("[scale]\nnodes = 8\nnodes = 9\n", "not valid TOML"),
    "the same key twice, spelled differently": ('"scale.nodes" = 8\n[scale]\nnodes = 9\n', "scale.nodes: given twice"),
    "unknown section": ("[scales]\nnodes = 8\n", "did you mean 'scale'"),
    "unknown key": ("[scale]\nnodez = 8\n", "did you mean 'scale.nodes'"),
    "unknown key at the top": ("nodes = 8\n", "nodes: no such answer"),
    "section as a value": ("scale = 8\n", "expected a table [scale]"),
    "section as a list of tables": ("[[scale]]\nnodes = 8\n", "expected a table [scale]"),
    "table for a value": ("[scale.nodes]\nnumber = 8\n", "expected a value, got a table"),
    "list for a scalar": ("[scale]\nnodes = [8]\n", "scale.nodes: expected a number"),
    "truth for a number": ("[scale]\nnodes = true\n", "scale.nodes: expected a number"),
    "date for a number": ("[scale]\nnodes = 2026-12-01\n", "scale.nodes: expected a number"),
    "number for a name": ("[model]\npreset = 70\n", "model.preset: expected a name"),
    "numbers for names": ("[preferences]\ngpus = [1, 2]\n", "preferences.gpus: expected a list of names"),
    "unknown choice": ('[workload]\nkind = "pretrainin"\n', "did you mean 'pretraining'"),
    "wrong unit": ('[facility]\nrack_power = "40 kg"\n', "facility.rack_power"),
    "no unit known": ('[facility]\nrack_power = "40 blorb"\n', "unknown unit 'blorb'"),
    "a tower of powers": ('[facility]\nrack_power = "1 kW*9**9**9**9"\n', "unknown unit"),
    "a tower of powers with hats": ('[facility]\nrack_power = "1 kW^9^9^9^9"\n', "unknown unit"),
    "a large power": ('[facility]\nrack_power = "1 kW*9**999999999"\n', "unknown unit"),
    "a power of a bracket": ('[facility]\nrack_power = "1 (9*9)**(9*9*9*9*9*9*9*9*9*9)*kW"\n', "unknown unit"),
    "energy for power": ('[facility]\ntotal_power = "4 MWh"\n', "facility.total_power"),
    "bytes for bits": ('[own_server]\nnic_speed = "50 kg/s"\n', "own_server.nic_speed"),
    "unit on a count": ('[scale]\nnodes = "8 kW"\n', "got the unit 'kW'"),
    "decimal comma": ('[facility]\nrack_power = "40,5 kW"\n', "decimal point"),
    "not a number": ("[facility]\npue = nan\n", "facility.pue"),
    "infinite": ("[facility]\nrack_power = inf\n", "facility.rack_power"),
    "minus infinity": ("[budget]\npurchase = -inf\n", "budget.purchase"),
    "negative": ('[facility]\nrack_power = "-40 kW"\n', "from 0.1 to 5,000 kW"),
    "blanks inside a number": ('[scale]\nnodes = "1 2"\n', "groups of three"),
    "a line break inside a number": ('[scale]\nnodes = "4\\n000"\n', "scale.nodes: expected one line"),
    "a tab inside a quantity": ('[facility]\nrack_power = "4\\t000 kW"\n', "facility.rack_power: expected one line"),
    "underscores at random": ('[scale]\nnodes = "1__2"\n', "groups of three"),
    "a number beyond any quantity": ('[budget]\npurchase = "1e300 USD"\n', "larger than any quantity"),
    "a number just beyond the bounds": ('[data]\nsize = "1e9 TB"\n', "1 billion TB is outside what can be: from 0.000001 to 1,000,000 TB"),
    "zero nodes": ("[scale]\nnodes = 0\n", "from 1 to 1,000,000"),
    "half a node": ("[scale]\nnodes = 1.5\n", "whole number"),
    "a number beyond all bounds": ("[scale]\nnodes = 99999999999999999999\n", "64 bits"),
    "a number of thousands of digits": (f"[scale]\nnodes = {HUGE}\n", "64 bits"),
    "a decimal number of thousands of digits": (f"[scale]\nnodes = {'9' * 5000}\n", "digits"),
    "a very large exponent": ("[model]\nparameters = 1e400\n", "model.parameters"),
    "a very large exponent as text": ('[model]\nparameters = "1e400"\n', "model.parameters"),
    "huge schema version": (f"schema = {HUGE}\n", "64 bits"),
    "long key": (f"[scale]\n{LONG} = 8\n", "no such answer"),
    "long section": (f"[{LONG}]\nnodes = 8\n", "no such section"),
    "long name": (f'[model]\npreset = "{LONG}"\n', "model.preset"),
    "long choice": (f'[workload]\nkind = "{LONG}"\n', "workload.kind"),
    "long quantity": (f'[facility]\nrack_power = "{LONG}"\n', "facility.rack_power"),
    "long unit": ('[facility]\nrack_power = "1 ' + "k" * 190 + '"\n', "facility.rack_power"),
    "many names": (f"[preferences]\ngpus = {['a'] * 1000}\n", "preferences.gpus"),
    "deep list": (f"[scale]\nnodes = {DEEP}\n", "deep"),
    "deep tables": ("[" + ".".join("a" * 2000) + "]\n", "deep"),
    "control characters in a key": ('"a\\u001b[31m\\nb" = 1\n', "no such answer"),
    "control characters in a name": ('[model]\npreset = "a\\u001b[31m\\nb"\n', "model.preset"),
    "control characters in a list": ('[preferences]\ngpus = ["a\\u0007"]\n', "preferences.gpus"),
    "control characters in a choice": ('[workload]\nkind = "a\\nb"\n', "workload.kind"),
    "control characters in a quantity": ('[facility]\nrack_power = "a\\u001b[1m"\n', "facility.rack_power"),
    "an invisible direction mark": ('[model]\npreset = "\\u202Ea"\n', "model.preset"),
    "sections beside answers": ("[answers]\n[scale]\nnodes = 8\n", "scale: stands beside [answers]"),
    "answers as a value": ("answers = 8\n", "expected a table"),
    "provenance as a value": ("provenance = 8\n[answers]\n", "provenance: expected a table"),
    "provenance of nothing known": ('[answers]\n[provenance]\n"scale.nodez" = "you"\n', "provenance: scale.nodez: no such answer"),
    "provenance too deep": ("[answers]\n[provenance.scale.nodes]\na = 1\n", "provenance"),
    "meta as a value": ("meta = 8\n[answers]\n", "meta: expected a table"),
    "unknown meta key": ('[answers]\n[meta]\nnam = "a"\n', "did you mean 'name'"),
    "date as created": ("[answers]\n[meta]\ncreated = 2026-12-01\n", 'meta.created: expected a text in quotes'),
    "list as created": ('[answers]\n[meta]\ncreated = ["2026-12-01"]\n', "meta.created"),
}  # fmt: skip

WRONG_DESIGNS = {
    "schema as text": ('schema = "1"\n', "schema: expected the number 1, got '1'"),
    "schema zero": ("schema = 0\n", "schema: expected the number 1, got 0"),
    "newer schema": ("schema = 2\n", "newer version"),
    "unknown table": ("schema = 1\n[[questions]]\na = 1\n", "did you mean 'question'"),
    "questions as a value": ("schema = 1\nquestion = 5\n", "question"),
    "a question as a value": ("schema = 1\nquestion = [5]\n", "question"),
    "a question without text": ('schema = 1\n[[question]]\nto = "server vendor"\n', "question"),
    "a question with a number": ('schema = 1\n[[question]]\nto = 1\nask = "a"\ngood_answer = "b"\nwhy = "c"\n', "question"),
    "guidance as a number": ('schema = 1\n[[question]]\nto = "a"\nask = "a"\ngood_answer = "b"\nwhy = "c"\nguidance = 5\n', "guidance"),
    "a warning as a value": ("schema = 1\nwarning = 'a'\n", "warning"),
    "design as a value": ("schema = 1\ndesign = 5\n", "design"),
    "bill as one table": ("schema = 1\n[bom]\na = 1\n", "bom"),
    "unknown answer": ("schema = 1\n[answers.scale]\nnodez = 1\n", "did you mean 'scale.nodes'"),
}

WRONG_CASES = {
    "no cases": ("a = 1\n", "[[case]]"),
    "cases as a value": ("case = 5\n", "[[case]]"),
    "case as a value": ("case = [5]\n", "[[case]]"),
    "no rule": ("[[case]]\nfires = true\n", "rule"),
    "rule as a list": ("[[case]]\nrule = ['a']\nfires = true\n", "rule"),
    "unknown rule": ("[[case]]\nrule = 'a.b'\nfires = true\nanswers = {}\n", "no such rule"),
    "unknown key": ("[[case]]\nrule = 'RULE'\nfire = true\nanswers = {}\n", "unknown key 'fire'"),
    "both": ("[[case]]\nrule = 'RULE'\nfires = true\nanswers = {}\nfacts = {}\n", "either answers or facts"),
    "answers as a value": ("[[case]]\nrule = 'RULE'\nfires = true\nanswers = 5\n", "answers"),
    "facts as a value": ("[[case]]\nrule = 'RULE'\nfires = true\nfacts = 5\n", "facts"),
    "facts missing": ("[[case]]\nrule = 'RULE'\nfires = true\nfacts = {}\n", "lack"),
    "values as a value": ("[[case]]\nrule = 'RULE'\nfires = true\nvalues = 5\nfacts = {}\n", "values"),
    "unknown answer": ("[[case]]\nrule = 'RULE'\nfires = true\nanswers = { scale.nodez = 1 }\n", "did you mean 'scale.nodes'"),
}

GPU = (Path(__file__).parent.parent.parent / "catalogs" / "gpus" / "nvidia-h100-sxm-80gb.toml").read_text("utf-8")

WRONG_RECORDS = {
    "empty": ("", "missing"),
    "broken": ("id = \n", "not valid TOML"),
    "unknown key": (GPU + '\n[colours]\na = 1\n', "colours: unknown key"),
    "bad id": (GPU.replace('id = "nvidia-h100-sxm-80gb"', 'id = "Nvidia H100!"'), "id"),
    "wrong unit": (GPU.replace("700 W", "700 kg"), "power.maximum"),
    "bare number": (GPU.replace('"700 W"', "700"), "power.maximum"),
    "not a number": (GPU.replace('"700 W"', "nan"), "power.maximum"),
    "huge number": (f"id = {HUGE}\n", "id"),
    "huge decimal number": (f"id = {'9' * 5000}\n", "digits"),
    "deep": (f"id = {DEEP}\n", "deep"),
    "control characters": ('id = "a\\u001b[31m\\n"\n', "id"),
    "list for a table": (GPU.replace("[memory]", "[[memory]]"), "memory"),
}  # fmt: skip


class TestAnswers:
    @pytest.mark.parametrize("name", WRONG_ANSWERS)
    def test_wrong_answers_get_one_message(self, name, tmp_path, quick):
        text, said = WRONG_ANSWERS[name]
        path = tmp_path / "mine.toml"
        path.write_text(text, "utf-8")
        called = call("design", path)
        called.assert_one_message()
        assert "mine.toml" in called.err
        assert said in called.err

    @pytest.mark.parametrize("name", WRONG_ANSWERS)
    def test_on_standard_input_too(self, name, quick):
        called = call("design", "-", stdin=WRONG_ANSWERS[name][0].encode())
        called.assert_one_message()
        assert "standard input" in called.err

    @pytest.mark.parametrize(
        ("name", "data"),
        {
            "empty": b"",
            "comments": b"# nothing yet\n\n",
            "Windows line ends": SMALL.replace("\n", "\r\n").encode(),
            "byte order mark": b"\xef\xbb\xbf" + SMALL.encode(),
            "unknown": b'[scale]\nnodes = "unknown"\n[model]\npreset = "?"\n',
            "a million GPUs": b"[scale]\ngpus = 1000000\n",
            "smallest": b"[scale]\nnodes = 1\n",
            "wrapped": b"[answers.scale]\nnodes = 8\n",
            "dotted": b'"scale.nodes" = 8\n',
            "names as text": b'[preferences]\nvendors = "NVIDIA, AMD"\n',
            "letters of the world": '[facility]\nregion = "Île-de-France, 日本"\n'.encode(),
        }.items(),
    )
    def test_unusual_but_right_answers_are_read(self, name, data, tmp_path, quick):
        path = tmp_path / "mine.toml"
        path.write_bytes(data)
        assert call("design", path).code == 1
        assert call("design", "-", stdin=data).code == 1

    @pytest.mark.parametrize("data", [bytes(range(256)), b"\xff\xfe[\x00s\x00", b"\x00" * 1000, b"\x7fELF\x02\x01\x01"])
    def test_binary(self, data, tmp_path, quick):
        path = tmp_path / "mine.toml"
        path.write_bytes(data)
        call("design", path).assert_one_message()
        call("design", "-", stdin=data).assert_one_message()

    def test_ten_megabytes(self, tmp_path, quick):
        data = b"# " + b"x" * 10_000_000
        path = tmp_path / "mine.toml"
        path.write_bytes(data)
        for called in (call("design", path), call("design", "-", stdin=data)):
            called.assert_one_message()
            assert "larger than" in called.err


class TestEveryCommand:
    READERS = (["design"], ["replay"], ["questions"], ["rules", "test"])

    @pytest.mark.parametrize("command", READERS, ids=" ".join)
    def test_folder_missing_and_unreadable(self, command, tmp_path, quick, monkeypatch):
        called = call(*command, tmp_path / "missing.toml")
        called.assert_one_message()
        assert "no such file" in called.err
        called = call(*command, tmp_path / "missing.toml" / "a.toml")
        called.assert_one_message()
        path = tmp_path / "mine.toml"
        path.write_text("")

        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", refuse)
            called = call(*command, path)
        called.assert_one_message()
        assert "permissions" in called.err

    @pytest.mark.parametrize("command", COUNTING)
    @pytest.mark.parametrize(
        "data", [b"", b"[", b"{}", b"[[run]]\n", b"[[fabric]]\n", b"fabric = 5\n", b"run = [5]\n", bytes(range(256)), b"x" * 10_000_000]
    )
    def test_the_counting_commands(self, command, data, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_bytes(data)
        called = call(command, path)
        assert called.code in (0, 1, 2)
        if called.code == 2:
            called.assert_one_message()
        call(command, tmp_path).assert_one_message()
        call(command, tmp_path / "missing.toml").assert_one_message()

    @pytest.mark.parametrize("command", READERS[:3], ids=" ".join)
    def test_a_folder_for_a_file(self, command, tmp_path, quick):
        called = call(*command, tmp_path)
        called.assert_one_message()
        assert "is a folder" in called.err

    @pytest.mark.parametrize("command", READERS, ids=" ".join)
    def test_a_name_that_cannot_be(self, command, quick):
        call(*command, "a\0b.toml").assert_one_message()
        call(*command, "x" * 5000 + ".toml").assert_one_message()
        call(*command, "line\nbreak.toml").assert_one_message()

    @pytest.mark.parametrize("command", [["design"], ["questions"], ["catalog", "list"]], ids=" ".join)
    def test_a_catalog_folder_that_is_not_there(self, command, small_answers, tmp_path, quick):
        called = call(*command, *([] if command[0] == "catalog" else [small_answers]), "--catalog", tmp_path / "missing")
        called.assert_one_message()
        assert "no such catalog folder" in called.err


class TestDesigns:
    @pytest.mark.parametrize("command", ["replay", "questions", "design"])
    @pytest.mark.parametrize("name", WRONG_DESIGNS)
    def test_wrong_designs_get_one_message(self, command, name, tmp_path, quick):
        text, said = WRONG_DESIGNS[name]
        path = tmp_path / "mine.toml"
        path.write_text(text, "utf-8")
        called = call(command, path)
        called.assert_one_message()
        assert "mine.toml" in called.err
        assert said in called.err

    def test_answers_are_no_design_to_replay(self, small_answers, quick):
        called = call("replay", small_answers)
        called.assert_one_message()
        assert "no design yet" in called.err


class TestCases:
    @pytest.mark.parametrize("name", WRONG_CASES)
    def test_wrong_cases_get_one_message(self, name, tmp_path):
        from rules.cases import all_rules

        text, said = WRONG_CASES[name]
        rule = next(each.id for each in all_rules().values() if each.reads)
        path = tmp_path / "mine.toml"
        path.write_text(text.replace("RULE", rule), "utf-8")
        called = call("rules", "test", path)
        called.assert_one_message()
        assert "mine.toml" in called.err
        assert said in called.err

    def test_facts_of_another_type_fail_and_do_not_break(self, tmp_path):
        from rules.cases import all_rules

        rule = next(each for each in all_rules().values() if each.reads and any(c.operator in ("<", ">") for c in each.when))
        path = tmp_path / "mine.toml"
        facts = ", ".join(f'{field} = "many"' for field in rule.reads)
        path.write_text(f"[[case]]\nrule = '{rule.id}'\nname = 'a'\nfires = true\nfacts = {{ {facts} }}\n", "utf-8")
        called = call("rules", "test", path)
        assert called.code in (1, 2), called.err
        assert "Traceback" not in called.err

    def test_a_folder_without_cases(self, tmp_path):
        called = call("rules", "test", tmp_path)
        called.assert_one_message()
        assert "[[case]]" in called.err


class TestCatalogRecords:
    @pytest.mark.parametrize("name", WRONG_RECORDS)
    def test_wrong_records_get_one_message(self, name, tmp_path):
        text, said = WRONG_RECORDS[name]
        (tmp_path / "gpus").mkdir()
        (tmp_path / "gpus" / "mine.toml").write_text(text, "utf-8")
        called = call("catalog", "list", "gpus", "--catalog", tmp_path)
        called.assert_one_message()
        assert "mine.toml" in called.err
        assert said in called.err

    @pytest.mark.parametrize("text", ["price = 5\n", "prices = []\n", "[[price]]\nid = 'a'\n", "[price]\nid = 'a'\n", "price = [5]\n"])
    def test_wrong_tables_of_records(self, text, tmp_path):
        (tmp_path / "prices").mkdir()
        (tmp_path / "prices" / "mine.toml").write_text(text, "utf-8")
        called = call("catalog", "list", "prices", "--catalog", tmp_path)
        called.assert_one_message()
        assert "mine.toml" in called.err

    @pytest.mark.parametrize("data", [bytes(range(256)), b"\xff\xfe", b"\x00"])
    def test_binary(self, data, tmp_path):
        (tmp_path / "gpus").mkdir()
        (tmp_path / "gpus" / "mine.toml").write_bytes(data)
        call("catalog", "list", "gpus", "--catalog", tmp_path).assert_one_message()

    def test_a_folder_for_a_file_and_ten_megabytes(self, tmp_path):
        folder = tmp_path / "one" / "gpus" / "mine.toml"
        folder.mkdir(parents=True)
        call("catalog", "list", "gpus", "--catalog", tmp_path / "one").assert_one_message()
        large = tmp_path / "two" / "gpus"
        large.mkdir(parents=True)
        (large / "mine.toml").write_bytes(b"# " + b"x" * 10_000_000)
        called = call("catalog", "list", "gpus", "--catalog", tmp_path / "two")
        called.assert_one_message()


class TestInAProcessOfItsOwn:
    def test_odd_files(self, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text('[scale]\nnodez = 8\n"a\\nb" = 1\n', "utf-8")
        run("design", path).assert_one_message()
        run("design", "-", stdin=b"\xff").assert_one_message()

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything; the same is tested with a refusal in its place")
    def test_no_permission(self, tmp_path):
        path = tmp_path / "mine.toml"
        path.touch(mode=0)
        run("design", path).assert_one_message()
