"""Values that no formula can count with are refused where they are read, with file, key and what was expected."""

from __future__ import annotations

import os

import pytest

from catalogs.lint import check
from catalogs.loading import OWN_FOLDER, Catalog, CatalogError
from tests.wizard.calls import call, run

NIC = 'id = "card"\nname = "{name}"\nvendor = "v"\nprotocols = ["ethernet"]\nspeed = {{ {speed} }}\n{more}\n'
SPEED = 'value = "400 Gb/s", source = "s"'


def folder_with(tmp_path, **files):
    for name, text in files.items():
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "card.toml").write_text(text, "utf-8")
    return tmp_path


def refused(tmp_path, shelf, text):
    folder_with(tmp_path, **{shelf: text})
    with pytest.raises(CatalogError) as caught:
        getattr(Catalog((tmp_path,)), shelf)
    assert "card.toml" in str(caught.value)
    return str(caught.value)


def nic(name="A card", speed=SPEED, more=""):
    return NIC.format(name=name, speed=speed, more=more)


@pytest.mark.parametrize(
    ("speed", "said"),
    [
        ('value = "0 Gb/s", source = "s"', "expected more than 0 Gb/s"),
        ('value = "-400 Gb/s", source = "s"', "expected more than 0 Gb/s"),
        ('value = "1e300 GB/s", source = "s"', "larger than any quantity"),
        ('value = "1e20 GB/s", source = "s"', "larger than anything that exists"),
        ('value = "400 Gb/s", range = ["0 Gb/s", "400 Gb/s"], source = "s"', "expected more than 0 Gb/s"),
        ('value = "400 Gb/s", range = ["500 Gb/s", "600 Gb/s"], source = "s"', "outside its range"),
        ("value = nan, source = 's'", "finite"),
    ],
)
def test_a_rate_is_finite_and_above_zero(speed, said, tmp_path):
    message = refused(tmp_path, "nics", nic(speed=speed))
    assert "speed" in message
    assert said in message


@pytest.mark.parametrize("value", ["0", "-1", "inf", "1e300", "true", "'8'"])
def test_a_count_is_a_number_above_zero(value, tmp_path):
    text = f'id = "card"\nname = "c"\nvendor = "v"\ncores = {{ value = {value}, source = "s" }}\n'
    assert "cores" in refused(tmp_path, "cpus", text)


@pytest.mark.parametrize("key", ["gpu_count", "trays", "scale_up_domain"])
@pytest.mark.parametrize("value", [0, -8, 10**12])
def test_plain_numbers_of_pieces_too(key, value, tmp_path):
    pieces = {"gpu_count": 8, "trays": 1, "scale_up_domain": 8} | {key: value}
    rows = "".join(f"{name} = {number}\n" for name, number in pieces.items())
    text = f'id = "card"\nname = "c"\nvendor = "v"\ngpu = "g"\ntopology = "pcie"\ncooling = "air"\n{rows}'
    assert f"{key}: " in refused(tmp_path, "nodes", text)


def test_what_may_be_nothing_may_be_zero(tmp_path):
    """A passive copper cable draws no power; a server without liquid cooling has a share of 0 of it."""
    cable = 'id = "card"\nname = "c"\nvendor = "v"\nmedium = "dac"\nspeed = { value = "400 Gb/s", source = "s" }\n'
    folder_with(tmp_path, cables=cable + 'power_per_end = { value = "0 W", source = "s" }\n')
    assert Catalog((tmp_path,)).cables["card"].power_per_end.to("W") == 0
    assert "zero or more" in refused(tmp_path, "cables", cable + 'power_per_end = { value = "-1 W", source = "s" }\n')


@pytest.mark.parametrize("name", ["", "two\\nlines", "x" * 5000, "\\u0007"])
def test_a_name_fits_on_a_line(name, tmp_path):
    assert "name: " in refused(tmp_path, "nics", nic(name=name))


FACT = '[[fact]]\nid = "f"\ntopic = "t"\n[fact.values]\nrate = {{ value = {value}, source = "s" }}\n'


@pytest.mark.parametrize("value", ["0", "-1.5", "inf", '"0 kW"', '"-3 USD"', '"1e25 kW"'])
def test_a_fact_is_above_zero(value, tmp_path):
    assert "rate" in refused(tmp_path, "facts", FACT.format(value=value))


@pytest.mark.parametrize("value", ['"-5 degC"', '"allocation only"', '"3.5 to 4"', "true", "0.5"])
def test_temperatures_and_texts_are_facts_as_well(value, tmp_path):
    folder_with(tmp_path, facts=FACT.format(value=value))
    assert "rate" in Catalog((tmp_path,)).facts["f"].values


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"layers": 0}, "shape.layers: expected a whole number, 1 or more"),
        ({"layers": -32}, "shape.layers"),
        ({"hidden_size": "'4096'"}, "shape.hidden_size: expected a whole number"),
        ({"attention_heads": "nan"}, "shape.attention_heads"),
        ({"vocabulary_size": 10**20}, "shape.vocabulary_size"),
        ({"gated_ffn": 1}, "shape.gated_ffn: expected true or false"),
        ({"experts": 2, "experts_per_token": 4, "expert_ffn_size": 8}, "cannot visit 4 of 2 experts"),
    ],
)
def test_a_model_can_be_counted(shape, said, tmp_path):
    good = {"layers": 32, "hidden_size": 4096, "attention_heads": 32, "vocabulary_size": 32000, "ffn_size": 11008}
    rows = "".join(f"{key} = {value}\n" for key, value in (good | shape).items())
    text = f'id = "card"\nname = "m"\nfamily = "f"\nkind = "dense"\nsource = "s"\n[shape]\n{rows}'
    assert said in refused(tmp_path, "models", text)


def test_a_model_without_what_its_kind_needs(tmp_path):
    text = 'id = "card"\nname = "m"\nfamily = "f"\nkind = "dense"\nsource = "s"\n[shape]\nlayers = 32\n'
    assert "shape.hidden_size: a model of kind dense needs it" in refused(tmp_path, "models", text)


def test_the_check_reports_it_and_goes_on(tmp_path):
    folder_with(tmp_path, nics=nic(speed='value = "0 Gb/s", source = "s"'))
    found = [str(problem) for problem in check(Catalog((OWN_FOLDER, tmp_path))) if problem.check == "files_load"]
    assert len(found) == 1
    assert "speed: '0 Gb/s' cannot be; expected more than 0 Gb/s" in found[0]
    called = call("catalog", "check", "--catalog", tmp_path)
    assert called.code == 1
    assert "expected more than 0 Gb/s" in called.out
    assert "without 1 kind that could not be read" in called.err


@pytest.mark.parametrize("key", ["gpu.memory.capacity", "gpu.memory.bandwidth", "gpu.scale_up.domain", "node.gpu_count", "nic.speed"])
def test_an_own_record_of_zero_is_one_message_and_no_fault(key, tmp_path):
    """The records of a real server with one value set to zero: refused at once, not a division by zero in a formula."""
    shelf, path = {"gpu": ("gpus", "nvidia-h100-sxm-80gb"), "node": ("nodes", "nvidia-dgx-h100"), "nic": ("nics", "nvidia-connectx-7-400")}[
        key.split(".")[0]
    ]
    import tomllib

    import tomli_w

    record = tomllib.loads((OWN_FOLDER / shelf / f"{path}.toml").read_text("utf-8"))
    *outer, last = key.split(".")[1:]
    place = record
    for part in outer:
        place = place[part]
    if isinstance(place[last], dict):
        whole = isinstance(place[last]["value"], int)
        place[last]["value"] = 0 if whole else "0 " + place[last]["value"].split(" ", 1)[1]
    else:
        place[last] = 0
    (tmp_path / shelf).mkdir()
    (tmp_path / shelf / f"{path}.toml").write_text(tomli_w.dumps(record), "utf-8")
    answers = tmp_path / "answers.toml"
    answers.write_text('[scale]\nnodes = 2\n[preferences]\nnodes = ["nvidia-dgx-h100"]\n', "utf-8")
    called = call("design", answers, "--catalog", tmp_path)
    called.assert_one_message()
    assert f"{path}.toml: {'.'.join([*outer, last])}: " in called.err


class TestFilesThatAreNone:
    def test_a_pipe_is_not_waited_for(self, tmp_path):
        (tmp_path / "gpus").mkdir()
        os.mkfifo(tmp_path / "gpus" / "mine.toml")
        called = run("catalog", "list", "gpus", "--catalog", tmp_path)
        called.assert_one_message()
        assert "not a regular file" in called.err

    @pytest.mark.parametrize("name", ["gpus/zero.toml", "sources.toml", "elsewhere/zero.toml"])
    def test_a_device_without_an_end(self, name, tmp_path):
        link = tmp_path / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to("/dev/zero")
        words = ("catalog", "list") if "elsewhere" not in name else ("design", "--set", "scale.nodes=1")
        called = run(*words, "--catalog", tmp_path)
        called.assert_one_message()
        assert "not a regular file" in called.err

    def test_a_large_file(self, tmp_path):
        folder_with(tmp_path, nics="# " + "x" * 9_000_000)
        with pytest.raises(CatalogError, match="larger than 8 MB"):
            _ = Catalog((tmp_path,)).nics

    def test_a_byte_order_mark(self, tmp_path):
        folder_with(tmp_path, nics="\ufeff" + nic())
        assert Catalog((tmp_path,)).nics["card"].speed.to("Gb/s") == 400
