"""Seeded mutations of a good file, for every reader: the same files on every run; each is accepted or refused with one message."""

from __future__ import annotations

import random

import pytest

from rules.cases import all_rules
from tests.wizard.calls import ROOT, call
from tests.wizard.conftest import SMALL

SEEDS = range(60)
GPU = (ROOT / "catalogs" / "gpus" / "nvidia-h100-sxm-80gb.toml").read_bytes()
HUGE = "0x" + "F" * 5000
ODD_VALUES = (
    "nan", "-inf", "0", "-1", "1000000", "1e308", "1e-308", "99999999999999999999", "true", "[]", "{}", "[[]]", '""', '"?"', '" "',
    '"8 kg"',     '"\\u0000"', "2026-12-01", "12:00:00", HUGE, '"💥"', '"\\u202E"', "[1, [2, [3]]]", '{ a = 1 }', '"1e999 kW"', '"٣ kW"',
)  # fmt: skip


def mutated(data: bytes, seed: int) -> bytes:
    """One to three random changes of a file: bytes, lines, values."""
    pick = random.Random(seed)
    for _ in range(pick.randint(1, 3)):
        lines = data.split(b"\n")
        number = pick.randrange(len(lines))
        line, place = lines[number], pick.randrange(len(data) + 1)
        match pick.randrange(8):
            case 0:
                data = data[:place] + bytes([pick.randrange(256)]) + data[place + 1 :]
            case 1:
                data = data[:place]
            case 2:
                data = b"\n".join(lines[:number] + lines[number + 1 :])
            case 3:
                data = b"\n".join([*lines[: number + 1], *lines[number:]])
            case 4:
                data = data[:place] + bytes(pick.randrange(256) for _ in range(8)) + data[place:]
            case 5:
                pick.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                key = line.partition(b"=")[0] if b"=" in line else b"a "
                data = b"\n".join([*lines[:number], key + b"= " + pick.choice(ODD_VALUES).encode(), *lines[number + 1 :]])
    return data


class TestMutatedFiles:
    @staticmethod
    def accepted_or_refused(called) -> None:
        if called.code == 2:
            called.assert_one_message()
        else:
            assert called.code in (0, 1)
            assert "Traceback" not in called.err

    @pytest.mark.parametrize("seed", SEEDS)
    def test_answers(self, seed, tmp_path, quick):
        data = mutated(SMALL.encode(), seed)
        path = tmp_path / "mine.toml"
        path.write_bytes(data)
        from_file = call("design", path)
        self.accepted_or_refused(from_file)
        from_stdin = call("design", "-", stdin=data)
        self.accepted_or_refused(from_stdin)
        assert from_file.code == from_stdin.code

    @pytest.mark.parametrize("seed", SEEDS)
    def test_designs(self, seed, small_design, tmp_path, quick):
        path = tmp_path / "mine.toml"
        path.write_bytes(mutated(small_design.read_bytes(), seed))
        for command in ("replay", "questions"):
            self.accepted_or_refused(call(command, path))

    @pytest.mark.parametrize("seed", SEEDS)
    def test_rule_cases(self, seed, tmp_path):
        rule = next(each for each in all_rules().values() if each.reads)
        facts = "\n".join(f"{name} = 1" for name in rule.reads)
        case = (
            f"[[case]]\nrule = '{rule.id}'\nname = 'a'\nsource = 'b'\nfires = false\nvalues = {{ a = '>= 1 GB' }}\n[case.facts]\n{facts}\n"
        )
        path = tmp_path / "mine.toml"
        path.write_bytes(mutated(case.encode(), seed))
        self.accepted_or_refused(call("rules", "test", path))

    @pytest.mark.parametrize("seed", SEEDS)
    def test_catalog_records(self, seed, tmp_path):
        (tmp_path / "gpus").mkdir()
        (tmp_path / "gpus" / "mine.toml").write_bytes(mutated(GPU, seed))
        self.accepted_or_refused(call("catalog", "list", "gpus", "--catalog", tmp_path))
