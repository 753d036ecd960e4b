"""Every registered picture, of real designs: it fits its width, survives without colour and in ASCII, and is well-formed SVG."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from catalogs import load_catalog
from rules.advisor import Considered, consider
from rules.answers import Answers
from wizard.files import load
from wizard.pictures import PICTURES, svg, text

DESIGNS = Path(__file__).parents[2] / "designs"
PICTURE_IDS = [each.id for each in PICTURES]


@lru_cache
def considered(name: str) -> Considered:
    answers = Answers({}) if name == "nothing answered" else load(DESIGNS / f"{name}.toml").answers
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


def test_ids_are_unique_and_titles_are_said():
    assert len(set(PICTURE_IDS)) == len(PICTURE_IDS)
    assert all(each.title and each.shows for each in PICTURES)
