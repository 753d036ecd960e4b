"""TOML in and out: nothing is lost, nothing is half written, the same input gives the same bytes."""

from __future__ import annotations

import os
import re
import threading
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.answer_fields import FIELDS
from rules.answers import Answers
from tests.wizard.calls import call
from tests.wizard.valid import answers, raw_value
from wizard import files, schemas
from wizard.files import FileError, answers_text, interpret, load, parse_toml, write_atomically
from wizard.versions import meta_of


class TestRoundTrip:
    @given(answers())
    def test_answers_come_back_as_they_were(self, given_answers):
        text = answers_text(given_answers, {"name": "a", "created": "2026-12-01"})
        loaded = interpret(parse_toml(text.encode(), "a.toml"), "a.toml")
        assert loaded.answers == given_answers
        assert loaded.meta == {"name": "a", "created": "2026-12-01"}
        assert not loaded.is_design

    @given(answers())
    def test_sections_at_the_top_level_and_under_answers_say_the_same(self, given_answers):
        assert interpret(given_answers.nested(), "a.toml").answers.values == given_answers.values
        assert interpret({"answers": given_answers.nested()}, "a.toml").answers.values == given_answers.values

    @given(answers())
    def test_what_is_written_is_valid_by_the_schema(self, given_answers):
        document = tomllib.loads(answers_text(given_answers))
        assert list(schemas.validator("answers").iter_errors(document)) == []

    @given(answers(), st.randoms(use_true_random=False))
    def test_the_order_of_answering_does_not_show(self, given_answers, pick):
        keys = list(given_answers.values)
        pick.shuffle(keys)
        again = Answers({key: given_answers.values[key] for key in keys}, {key: given_answers.provenance[key] for key in keys})
        assert answers_text(again) == answers_text(given_answers)

    @pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.key)
    @given(data=st.data())
    def test_a_value_is_read_back_from_its_stored_form(self, field, data):
        once = Answers().with_value(field.key, data.draw(raw_value(field)))
        assert once.with_value(field.key, once.values[field.key]) == once

    @pytest.mark.parametrize(
        ("key", "written", "number"),
        [("training.tokens", "15.6T tokens", 15.6e12), ("facility.total_power", "4 MW", 4000), ("budget.purchase", "$1.5M", 1.5e6)],
    )
    def test_a_value_stays_as_it_was_written_and_means_what_it_says(self, key, written, number):
        text = answers_text(Answers().with_value(key, written))
        assert f'"{written}"' in text
        assert interpret(parse_toml(text.encode(), "a.toml"), "a.toml").answers.number(key) == pytest.approx(number)

    def test_a_design_keeps_its_answers_and_their_origin(self, small_design):
        loaded = load(small_design)
        assert loaded.is_design
        assert loaded.answers.text("model.preset") == "llama-3.1-8b"
        assert loaded.answers.count("training.global_batch") == 64
        assert set(loaded.answers.provenance.values()) == {"you"}


class TestDesignFile:
    def test_the_same_answers_give_the_same_bytes(self, small_answers, tmp_path, monkeypatch):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764547200")
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            assert call("design", small_answers, "-o", tmp_path / name / "a.toml").code in (0, 1)
        assert (tmp_path / "one" / "a.toml").read_bytes() == (tmp_path / "two" / "a.toml").read_bytes()
        assert 'created = "2025-12-01"' in (tmp_path / "one" / "a.toml").read_text("utf-8")

    def test_the_date_of_creation_is_kept(self, small_answers, small_design, tmp_path):
        path = tmp_path / "a.toml"
        old = small_design.read_text("utf-8").replace(load(small_design).meta["created"], "2020-02-02")
        path.write_text(old, "utf-8")
        call("design", path, "-o", tmp_path / "b.toml")
        assert load(tmp_path / "b.toml").meta["created"] == "2020-02-02"
        call("design", small_answers, "-o", path)
        assert load(path).meta["created"] == "2020-02-02"
        call("replay", "--update", path)
        assert load(path).meta["created"] == "2020-02-02"

    @pytest.mark.parametrize("epoch", ["99999999999999999999", "²", "-1", "soon", ""])
    def test_an_odd_source_date_is_no_date(self, epoch, monkeypatch):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)

        class Catalog:
            version = "v"

        assert meta_of("a", Catalog())["created"] > "2026"


class TestMessages:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[scale]\nnodez = 8\n", "a.toml: scale.nodez: no such answer; did you mean 'scale.nodes'?"),
            (
                '[workload]\nkind = "pretrain"\n',
                "a.toml: workload.kind: 'pretrain' is not one of pretraining, fine_tuning_full, fine_tuning_lora, fine_tuning_qlora, "
                "vision, recommendation; did you mean 'pretraining'?",
            ),
            (
                '[facility]\nrack_power = "9 MW"\n',
                "a.toml: facility.rack_power: 9,000 kW is outside what can be: from 0.1 to 5,000 kW, such as '40 kW'",
            ),
            ("schema = 1\n[mta]\n", "a.toml: mta: no such table in a design file; did you mean 'meta'?"),
            ("[scale\n", "a.toml: is not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 7)"),
        ],
    )
    def test_name_the_file_the_key_and_the_nearest(self, text, message):
        with pytest.raises(FileError) as caught:
            interpret(parse_toml(text.encode(), "a.toml"), "a.toml")
        assert str(caught.value) == message

    @pytest.mark.parametrize("field", [each for each in FIELDS if "%" in each.units_ignored], ids=lambda field: field.key)
    def test_a_bare_number_up_to_one_is_neither_a_share_nor_a_percentage(self, field):
        """0.19 may mean 19 % or 0.19 %, 1 may be all or a hundredth: typed or in a file, quoted or not, it is asked, not guessed."""
        section, _, name = field.key.partition(".")
        for bare, told in (("0.19", "'0.19 %' or '19 %'"), ('"0.19"', "'0.19 %' or '19 %'"), ("1.0", "'1 %' or '100 %'")):
            with pytest.raises(FileError, match=re.escape(f"can be a share or a percentage; write {told}")):
                interpret(parse_toml(f"[{section}]\n{name} = {bare}\n".encode(), "a.toml"), "a.toml")
        assert all(list(schemas.validator("answers").iter_errors({section: {name: bare}})) for bare in (0.19, 1))
        for plain, number in ((19, 19), ("0.19 %", 0.19), ("1 %", 1), (0, 0)):
            assert Answers.of({field.key: plain}).number(field.key) == number
            assert not list(schemas.validator("answers").iter_errors({section: {name: plain}}))


class TestAtomicWriting:
    def test_the_old_file_stays_when_writing_fails(self, tmp_path, monkeypatch):
        path = tmp_path / "a.toml"
        path.write_text("old")

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(FileError, match="No space left on device"):
            write_atomically(path, "new")
        assert path.read_text() == "old"
        assert [each.name for each in tmp_path.iterdir()] == ["a.toml"]

    def test_an_interrupt_leaves_the_old_file_alone(self, tmp_path, monkeypatch):
        path = tmp_path / "a.toml"
        path.write_text("old")

        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(path, "new")
        assert path.read_text() == "old"
        assert [each.name for each in tmp_path.iterdir()] == ["a.toml"]

    def test_the_text_is_on_disk_before_the_name_is(self, tmp_path, monkeypatch):
        steps = []
        path, sync, replace = tmp_path / "a.toml", os.fsync, Path.replace
        monkeypatch.setattr(os, "fsync", lambda descriptor: (steps.append("fsync"), sync(descriptor)))
        monkeypatch.setattr(Path, "replace", lambda self, target: (steps.append("replace"), replace(self, target))[1])
        write_atomically(path, "new")
        assert steps == ["fsync", "replace"]
        assert path.read_bytes() == b"new"

    def test_line_ends_are_those_of_the_text(self, tmp_path):
        write_atomically(tmp_path / "a.toml", "a = 1\nb = 'ü'\n")
        assert (tmp_path / "a.toml").read_bytes() == "a = 1\nb = 'ü'\n".encode()

    def test_a_file_keeps_its_mode_and_a_new_one_follows_the_umask(self, tmp_path):
        private = tmp_path / "private.toml"
        private.touch(mode=0o600)
        write_atomically(private, "new")
        assert private.stat().st_mode & 0o777 == 0o600
        before = os.umask(0o077)
        try:
            write_atomically(tmp_path / "new.toml", "new")
        finally:
            os.umask(before)
        assert (tmp_path / "new.toml").stat().st_mode & 0o777 == 0o600

    def test_a_link_keeps_pointing_to_its_file(self, tmp_path):
        (tmp_path / "real.toml").write_text("old")
        (tmp_path / "link.toml").symlink_to("real.toml")
        write_atomically(tmp_path / "link.toml", "new")
        assert (tmp_path / "link.toml").is_symlink()
        assert (tmp_path / "real.toml").read_text() == "new"

    def test_a_pipe_is_written_to_and_not_replaced(self, tmp_path):
        pipe, read = tmp_path / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        write_atomically(pipe, "new")
        reader.join(10)
        assert read == ["new"]
        assert pipe.is_fifo()

    def test_a_name_as_long_as_names_may_be(self, tmp_path):
        write_atomically(tmp_path / ("a" * 250 + ".toml"), "new")
        assert len(list(tmp_path.iterdir())) == 1

    @pytest.mark.parametrize("name", [".", "", "missing/a.toml", "a\0b", "x" * 5000])
    def test_places_that_cannot_be_written(self, name, tmp_path):
        with pytest.raises(FileError, match="cannot be written"):
            write_atomically(tmp_path / name if name else "", "new")
        assert list(tmp_path.iterdir()) == []

    def test_a_round_of_links(self, tmp_path):
        (tmp_path / "a.toml").symlink_to("b.toml")
        (tmp_path / "b.toml").symlink_to("a.toml")
        with pytest.raises(FileError, match="cannot be written"):
            write_atomically(tmp_path / "a.toml", "new")


def test_the_largest_file_is_larger_than_the_largest_design(small_design):
    assert small_design.stat().st_size * 10 < files.LARGEST_FILE_BYTES
