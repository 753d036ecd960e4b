"""Every registered picture, of real designs: it fits its width, survives without colour and in ASCII, and is well-formed SVG."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from catalogs import load_catalog
from rules.advisor import Considered, consider
from rules.answers import Answers
from wizard.files import load
from wizard.pictures import PICTURES, svg, text
from wizard.preferences import Preferences, use

DESIGNS = Path(__file__).parents[2] / "designs"
PICTURE_IDS = [each.id for each in PICTURES]


LARGE = {
    "workload.kind": "pretraining",
    "model.preset": "llama-3.1-405b",
    "scale.mode": "fixed",
    "scale.gpus": 16128,
    "preferences.nodes": ["nvidia-gb200-nvl72"],
}
GIVEN = {"nothing answered": {}, "sixteen thousand GPUs": LARGE}


@lru_cache
def considered(name: str) -> Considered:
    answers = Answers(GIVEN[name]) if name in GIVEN else load(DESIGNS / f"{name}.toml").answers
    return consider(answers, load_catalog())


def names() -> list[str]:
    found = sorted(path.stem for path in DESIGNS.glob("*.toml"))
    return ["nothing answered", *found[:: max(1, len(found) // 3)]]


@pytest.mark.parametrize("id_", PICTURE_IDS)
@pytest.mark.parametrize("name", names())
def test_text_fits_every_width_and_ascii_is_ascii(id_, name):
    for width in (40, 78, 160):
        lines = text(id_, considered(name), width)
        assert lines
        assert max(map(len, lines)) <= width
        assert not any("\x1b" in line or "\n" in line for line in lines)
    plain = "\n".join(text(id_, considered(name), 78, ascii=True))
    assert plain.isascii(), {letter for letter in plain if not letter.isascii()}


@pytest.mark.parametrize("id_", PICTURE_IDS)
@pytest.mark.parametrize("name", names())
def test_svg_is_well_formed_and_the_same_every_time(id_, name):
    document = svg(id_, considered(name))
    assert ElementTree.fromstring(document).tag == "{http://www.w3.org/2000/svg}svg"
    assert svg(id_, considered(name)) == document


NARROW, WIDE = "iljtfr.,:;'|()[]! -", "mwMWQO@%×—…"


def box_of(label: ElementTree.Element) -> tuple[float, float, float, float]:
    """Return left, right, top and bottom of a text, by letters that are taken a little narrower than those of DejaVu Sans are."""
    size, x, y = (float(label.attrib[name]) for name in ("font-size", "x", "y"))
    wide = size * sum(0.3 if letter in NARROW else 0.78 if letter in WIDE else 0.54 for letter in label.text or "")
    left = {"start": x, "middle": x - wide / 2, "end": x - wide}[label.attrib.get("text-anchor", "start")]
    return left, left + wide, y - 0.7 * size, y


@pytest.mark.parametrize("id_", PICTURE_IDS)
@pytest.mark.parametrize("name", [*names(), "sixteen thousand GPUs"])
def test_no_text_covers_another_leaves_its_sheet_or_is_too_small(id_, name):
    sheet = ElementTree.fromstring(svg(id_, considered(name)))
    words = [each for each in sheet.iter("{http://www.w3.org/2000/svg}text") if len(each.text or "") > 1]  # single letters are marks
    boxes = [(*box_of(each), each.text) for each in words]
    assert not [each.text for each in words if float(each.attrib["font-size"]) < 9]
    width, height = float(sheet.attrib["width"]), float(sheet.attrib["height"])
    assert not [box for box in boxes if box[0] < 0 or box[1] > width or box[2] < 0 or box[3] > height]
    boxes.sort()
    for index, (_, right, top, bottom, text_) in enumerate(boxes):
        for left2, _, top2, bottom2, other in boxes[index + 1 :]:
            if left2 >= right:
                break
            assert bottom <= top2 or bottom2 <= top, (text_, other)


def test_what_is_not_drawn_of_a_large_hall_is_named():
    """296 of 308 racks stand in the first eight kinds; both ways to draw them count all."""
    large = considered("sixteen thousand GPUs")
    drawn = svg("racks", large)
    title = text("racks", large, 80)[0]
    assert f">{title}</text>" in drawn
    assert text("racks", large, 80)[-1] == re.search(r">(and \d+ more kinds: [^<]*)<", drawn)[1]
    assert re.findall(r">(… rows \d+ to \d+)<", svg("racks_row", large)) == ["… rows 5 to 6", "… rows 11 to 12"]


def test_ids_are_unique_and_titles_are_said():
    assert len(set(PICTURE_IDS)) == len(PICTURE_IDS)
    assert all(each.title and each.shows for each in PICTURES)


OWN = (
    ("money", "eight-nodes-8b", r"purchase +\S+ ({})", 0.5),
    ("fabric", "eight-nodes-8b", r"up to ({}) (?:m|ft)\b", 3.281),
    ("racks", "one-node-70b", r"kW, ({}) (?:kg|lb)", 2.205),
)
"""By picture and design: the first figure that changes, and what it is times at 0.5 EUR a dollar, in feet and in pounds."""


@pytest.mark.parametrize(("id_", "name", "pattern", "times"), OWN)
def test_pictures_are_in_the_persons_own_currency_units_and_decimals(id_, name, pattern, times):
    plain = "\n".join(text(id_, considered(name), 100))
    use(Preferences(units="imperial", decimal="comma", currency="EUR", per_usd=0.5))
    try:
        own = "\n".join(text(id_, considered(name), 100))
    finally:
        use(Preferences())
    before = float(re.search(pattern.format(r"[\d.,]+"), plain)[1].replace(",", ""))
    after = float(re.search(pattern.format(r"[\d.,]+"), own)[1].replace(".", "").replace(",", "."))
    assert after == pytest.approx(before * times, rel=0.01)
    assert "USD" not in own
