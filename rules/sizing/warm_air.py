"""Clocks that GPUs hold in warm or thin air: the share of the speed that they have in air of the recommended range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.cooling import cooling_of

if TYPE_CHECKING:
    from catalogs.schema import Node
    from rules.answers import Answers

USUAL_CELSIUS = 27.0
"""Upper end of the range of inlet air that ASHRAE recommends, in which the readings behind sustained rates were taken."""
LOST_PER_KELVIN = 0.01
"""Most speed that a GPU loses per kelvin of warmer air, where its fans cannot make up for it: about 15 % at 85 °C against 70 °C
[WhaleFlux, safe GPU temperatures]. The training of Llama 3 lost 1 to 2 % in the warmer half of a day [arXiv:2407.21783, 3.3.4]."""
THIN_FROM_M, METRES_PER_KELVIN = 900.0, 300.0
"""Thin air cools like warmer air: one kelvin for each 300 m above 900 m, as ASHRAE lowers the inlet of classes A1 and A2."""
AIR_KINDS = ("air", "rear_door")


def counts_as_celsius(inlet_celsius: float, altitude_m: float) -> float:
    """Return the inlet temperature in °C at sea level that cools as poorly as air of `inlet_celsius` at `altitude_m`."""
    return inlet_celsius + max(0.0, altitude_m - THIN_FROM_M) / METRES_PER_KELVIN


def clock_shares(inlet_celsius: float, altitude_m: float = 0.0) -> tuple[float, float, float]:
    """Return (low, expected, high) of the clocks that GPUs hold in training, over those in air of USUAL_CELSIUS at sea level.

    An estimate: vendors publish no curve. High: fans make up for all of it; low: each kelvin is a kelvin at the GPU; expected: between.
    """
    above = max(0.0, counts_as_celsius(inlet_celsius, altitude_m) - USUAL_CELSIUS)
    low = max(0.0, 1.0 - LOST_PER_KELVIN * above)
    return low, (low + 1.0) / 2.0, 1.0


def shares_of(node: Node, answers: Answers) -> tuple[float, float, float]:
    """Return the shares of a node in this hall; (1, 1, 1) where no air reaches its GPUs' coolers."""
    if cooling_of(node, answers).kind not in AIR_KINDS:
        return 1.0, 1.0, 1.0
    return clock_shares(answers.number("facility.inlet_temperature") or USUAL_CELSIUS, answers.number("facility.altitude") or 0.0)
