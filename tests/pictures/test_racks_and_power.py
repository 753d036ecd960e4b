"""Elevations, the one-line diagram and where the power goes, of designs that were worked out by hand."""

from __future__ import annotations

import csv
import io
import re
from functools import lru_cache

import pytest

from catalogs import load_catalog
from rules.advisor import Considered, consider
from rules.answers import Answers
from rules.sizing.placed import alike, placed_racks
from wizard.exports import write
from wizard.pictures import power, power_line, racks, racks_row
from wizard.summary import places_text

SIXTEEN = {
    "model.preset": "llama-3.1-8b", "scale.nodes": 16, "preferences.nodes": ["nvidia-dgx-h100"], "facility.feed": "415v_three_phase",
    "facility.ups": "2n", "facility.generator": "n", "facility.pue": 1.25, "facility.total_power": "300 kW",
}  # fmt: skip
DESK = {
    "model.preset": "gpt2-xl", "preferences.nodes": ["workstation-2x-rtx-5090"], "scale.nodes": 1, "facility.feed": "120v_single_phase",
}  # fmt: skip


@lru_cache
def considered(*pairs: tuple[str, object]) -> Considered:
    return consider(Answers.of({key: list(value) if isinstance(value, tuple) else value for key, value in pairs}), load_catalog())


def designed(answers: dict[str, object]) -> Considered:
    return considered(*((key, tuple(value) if isinstance(value, list) else value) for key, value in answers.items()))


def test_four_dgx_h100_stand_in_the_lower_32_units_of_a_rack():
    """NVIDIA DGX H100: 8U, 10.2 kW, 130.45 kg; four are 40.8 kW and 522 kg, and ten of 42 units are blank."""
    lines = racks.text(designed(SIXTEEN), 38)
    head = next(index for index, line in enumerate(lines) if line.startswith("compute: C1"))
    assert lines[head] == "compute: C1 to C4, 4 alike"
    assert lines[head + 1 : head + 4] == ["40.8 kW, 522 kg", "32 of 42 U, 10 blank", "bound by the cooling"]
    units = lines[head + 4 : head + 46]
    assert [line.split()[0] for line in units] == [str(unit) for unit in range(42, 0, -1)]
    assert all(line.endswith("·") for line in units[:10])
    assert units[10] == "32 ┌ node 4"
    assert units[41] == " 1 └"


def test_racks_alike_are_folded_and_all_are_counted():
    chosen = designed(SIXTEEN)
    candidate = chosen.ranking.chosen.candidate
    placed = placed_racks(candidate, chosen.context)
    kinds = alike(placed)
    assert sum(len(kind.names) for kind in kinds) == len(placed) == candidate.facility.rack_count
    assert kinds[0].title == "C1 to C4"
    assert racks.text(chosen, 120)[0] == f"Racks: {len(placed)} in {len(kinds)} kinds, the first of each kind drawn"


def test_the_line_from_the_utility_to_the_racks():
    """Four DGX H100 of 10.2 kW on two 415 V circuits of 60 A, 69 kW: 59 % loaded; one path carries 34.5 kW, less than the rack."""
    lines = power_line.text(designed(SIXTEEN), 100)
    assert lines[1].startswith("Utility: ")
    assert lines[1].endswith("of 300 kW that are there")
    assert any(line.startswith("UPS: 2N, 2 × ") for line in lines)
    at = next(index for index, line in enumerate(lines) if "compute C1 to C4: 4 × 40.8 kW" in line)
    assert lines[at + 1].strip(" │") == "on 2 × 415 V, three-phase, 60 A: 69 kW continuous, 59% loaded"
    assert lines[at + 2].strip(" │") == "2 paths; when one is lost, what hangs on it stops"


def test_a_machine_that_one_outlet_does_not_carry():
    """1.6 kW on an outlet of 120 V and 15 A, which carries 1,440 W continuously."""
    text = " ".join(power_line.text(designed(DESK), 60))
    assert "more than one 120 V, single-phase, 15 A outlet carries continuously, 1.44 kW" in " ".join(text.split())
    assert racks.text(designed(DESK), 60)[1].startswith("Nothing stands in racks")


@pytest.mark.parametrize("highest", [True, False])
def test_the_parts_of_the_power_are_the_total(highest):
    chosen = designed(SIXTEEN)
    candidate = chosen.ranking.chosen.candidate
    parts = power._parts(candidate, chosen.context, candidate.facility, highest=highest)
    it = candidate.facility.it_power_maximum if highest else candidate.facility.it_power_typical
    assert sum(parts.values()) == pytest.approx(it.to("kW").magnitude * 1.25)
    if highest:
        assert parts["GPUs"] == pytest.approx(16 * 8 * 0.7)
        assert parts["rest of the nodes"] == pytest.approx(16 * (10.2 - 5.6))


def test_a_cap_comes_off_the_gpus():
    """16 × 8 GPUs at 500 of 700 W: 64 kW, and the rest of the nodes stays 4.6 kW each."""
    chosen = designed({**SIXTEEN, "facility.gpu_power_cap": "500 W"})
    candidate = chosen.ranking.chosen.candidate
    parts = power._parts(candidate, chosen.context, candidate.facility, highest=True)
    assert parts["GPUs"] == pytest.approx(64.0)
    assert parts["rest of the nodes"] == pytest.approx(16 * 4.6)


def test_words_stay_in_their_boxes():
    """A box of the line is 420 pixels wide, a letter of 11 pixels about 6.5: 62 letters fit; the UPS of this hall takes 82."""
    drawn = power_line.svg(designed({**SIXTEEN, "scale.nodes": 1024, "facility.ups": "n_plus_1", "facility.total_power": "20 MW"}))
    lines = re.findall(r'<text[^>]*font-size="11"[^>]*>([^<]*)</text>', drawn)
    assert len(lines) >= 4
    assert "of equipment behind" in " ".join(lines)
    assert max(map(len, lines)) <= 62


TANKS = {
    "model.preset": "llama-3.1-8b", "scale.nodes": 12, "preferences.nodes": ["nvidia-dgx-h100"], "facility.cooling": ["immersion"],
    "facility.immersion_released": ["nvidia-dgx-h100"],
}  # fmt: skip


def test_a_cable_of_several_links_is_bought_once():
    """Sixteen DGX H100: adding up the schedule as a buyer does, a length for each label, and not one for each link."""
    design, stream = designed({**SIXTEEN, "preferences.fabric": "infiniband"}), io.StringIO()
    write("cables-csv", design, stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    bought = sum({row["label"]: float(row["length (m)"]) for row in rows}.values())
    assert sum(float(row["length (m)"]) for row in rows) > bought + 100, "twin cables between leaves and spines"
    assert f"; {bought / 1000:.1f} km bought in all" in " ".join(racks_row.text(design, 400))


def test_tanks_are_called_tanks():
    """Twelve DGX H100 of 8U and a spare in tanks of 48U: two tanks of six and one of one; network and storage share a rack."""
    chosen = designed(TANKS)
    candidate = chosen.ranking.chosen.candidate
    assert candidate.facility.rack_count == 3 + 1
    assert places_text(chosen.ranking.chosen.figures) == "3 tanks and 1 rack"
    lines = racks.text(chosen, 38)
    assert lines[0].startswith("Tanks and racks: 3 tanks and 1")
    assert "network and storage: N1" in lines
    assert [line for line in lines if line.startswith("compute")] == []
    assert "tank: C1 to C2, 2 alike" in lines
    assert "bound by the tank's height" in lines
    rows = racks_row.text(chosen, 120)
    assert rows[0].startswith("Rows of racks and their cables: 3 tanks and 1 rack in 1 row; t tanks, ")
    assert rows[1].split()[1:4] == ["t", "t", "N"] or rows[1].split().count("t") == 3
    assert any(line.strip().startswith("├─ tank C1 to C2: 2 ×") for line in power_line.text(chosen, 120))
    said = " ".join(found.because for found in candidate.findings if found.rule in ("power.rack_filled", "power.feed_decided"))
    assert "A full tank of 6 nodes" in said
    assert "3 tanks and 1 rack" in said
    notes = " ".join(chosen.ranking.chosen.candidate.fabric.out_of_band.notes)
    assert "metered power units in 3 tanks and 1 rack" in notes


def test_the_bus_reaches_every_breaker():
    """No path hangs in the air: the line down from the UPS ends at the last path of the last rack, within the width of a pen."""
    drawn = power_line.svg(designed(SIXTEEN))
    lines = [[float(each) for each in found] for found in re.findall(r'd="M([\d.]+),([\d.]+) L([\d.]+),([\d.]+)"', drawn)]
    down = max(y2 for x1, _, x2, y2 in lines if x1 == x2)
    across = max(y1 for _, y1, _, y2 in lines if y1 == y2)
    assert across <= down <= across + 3
