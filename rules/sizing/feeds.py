"""Circuits of racks and desks: what one carries, how many a rack takes, and what happens when one, or one path, is lost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import quantity
from catalogs.schema import Kind, Pdu, Sourced
from rules.sizing.lookup import fact_value
from rules.sizing.regions import is_of_the_us

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from rules.answers import Answers

CIRCUITS_PER_RACK = 2
"""Feeds planned for a rack, together carrying its peak: NVIDIA's DGX B200 racks have two circuits of half the rack's power each."""
PLUG_AMPERES = 32.0
"""Circuits up to the 32 A plug (IEC 60309) are planned so that one carries the rack when the other is lost; above, two share the load,
as in NVIDIA's racks of four DGX B200 (57.2 kW on two circuits of 34.5 kW)."""
WYE_FROM_VOLTS = 346.0
"""Three-phase circuits of this voltage and more between lines feed outlets from line to neutral (200 V at 346 V, 231 V at 400 V); those
of 208 V feed them from line to line."""
CONTINUOUS_SHARE = 0.8
"""Share of a breaker's rating that carries continuous load, at which the catalog states its circuits [National Electrical Code]."""
SMALL_OUTLET_A, LARGE_OUTLET_A = 10.0, 16.0
"""Currents of IEC 60320 outlets: C13 carries 10 A, C19 16 A [IEC 60320-1]."""
TOLERANCE_KW = 1e-6
"""A load that equals what a circuit carries fits, although floats do not add up exactly."""
MAINS_100_V, MAINS_120_V, MAINS_ELSEWHERE = "mains-100-v", "mains-120-v", "mains-elsewhere"
"""Facts of the catalog on what reaches racks and desks, by the voltage of a country's outlets."""
PATHS_OF_2N = 2
"""Paths of a rack with two full feeds, A and B."""


@dataclass(frozen=True)
class FeedTerms:
    """How circuits are used: share of the rating for continuous load, power factor, and what was said of their size and number.

    `redundancy` is "" where nothing was said, else "n", "n_plus_1" or "2n".
    """

    continuous_share: float = CONTINUOUS_SHARE
    power_factor: float = 1.0
    current_a: float | None = None
    circuits: int | None = None
    redundancy: str = ""
    region: str = ""

    @classmethod
    def of(cls, answers: Answers) -> FeedTerms:
        """Return the terms that the answers give."""
        return cls(
            answers.number("facility.continuous_load") or CONTINUOUS_SHARE,
            answers.number("facility.power_factor") or 1.0,
            answers.number("facility.circuit_current"),
            answers.count("facility.circuits_per_rack"),
            answers.text("facility.feed_redundancy"),
            answers.text("facility.region"),
        )

    def each_kw(self, pdu: Pdu) -> float:
        """Return the continuous load in kW that one circuit carries, limited by its banks' breakers where these are stated."""
        circuit_kw = pdu.usable.to("kW") * self.continuous_share / CONTINUOUS_SHARE
        if pdu.banks is not None and pdu.bank_current is not None:
            per_bank = outlet_volts(pdu) * pdu.bank_current.to("A") * self.continuous_share / 1000.0
            circuit_kw = min(circuit_kw, pdu.banks.to("") * per_bank)
        return circuit_kw * self.power_factor

    def carrying(self, circuits: int) -> int:
        """Return how many of `circuits` carry the load when the spare ones are lost."""
        return {"2n": circuits // PATHS_OF_2N, "n_plus_1": circuits - 1}.get(self.redundancy, circuits)

    def in_all(self, carrying: int) -> int:
        """Return how many circuits a rack has of which `carrying` carry the load when the spare ones are lost."""
        return {"2n": PATHS_OF_2N * carrying, "n_plus_1": carrying + 1}.get(self.redundancy, carrying)

    def rack_kw(self, feed: str, catalog: Catalog) -> float | None:
        """Return what the circuits that were given carry into one rack in kW at most, None where their feed or number was not said.

        Where their current was not said it is that of the largest circuits of the feed, which are then planned.
        """
        if self.circuits is None or not feed:
            return None
        known = self.circuits_of(feed, catalog)
        return self.carrying(self.circuits) * self.each_kw(known[-1]) if known else None

    def circuits_of(self, feed: str, catalog: Catalog) -> tuple[Pdu, ...]:
        """Return the circuits of a feed that may be used, smallest first: of the current that was given, else the catalog's.

        Of a single-phase feed it is the smallest one, the usual outlet, unless a current says otherwise.
        """
        known = _circuits(feed, catalog)
        if self.current_a is None or not known:
            return known[:1] if known and known[0].phases == 1 else known
        return tuple(pdu for pdu in known if pdu.current.to("A") == self.current_a) or (_own_circuit(known[0], self.current_a),)


@dataclass(frozen=True)
class Feed:
    """The circuits of one rack (or of one desktop machine): `circuits` of the catalog's `pdu`; `assumed` where nobody named a feed."""

    pdu: Pdu
    circuits: int
    each_kw: float
    assumed: bool
    redundancy: str = ""

    @property
    def usable(self) -> Quantity:
        """Return what all circuits carry together."""
        return quantity(self.each_kw * self.circuits, "kW")

    @property
    def text(self) -> str:
        """Return the feed in words: "2 × 415 V, three-phase, 60 A"."""
        return f"{self.circuits} × {self.pdu.name}"

    @property
    def outlet_volts(self) -> float:
        """Return the voltage at an outlet behind the circuit in V: line to neutral of 346 V and more, else the circuit's own."""
        return outlet_volts(self.pdu)

    @property
    def paths(self) -> int:
        """Return the paths that the circuits make: two of 2N, else every circuit is one."""
        return min(PATHS_OF_2N, self.circuits) if self.redundancy == "2n" else self.circuits

    def outlets(self, *, large: bool) -> int | None:
        """Return the C19 outlets (`large`), or the outlets that take a C14 plug, of all circuits' units; None where not stated."""
        of_kind = self.pdu.outlets_c19 if large else self.pdu.outlets_c13
        return None if of_kind is None else self.circuits * int(of_kind.to(""))

    def survives(self, load_kw: float) -> bool:
        """Return whether the other circuits carry `load_kw` when one path is lost."""
        left = self.circuits - math.ceil(self.circuits / self.paths)
        return left * self.each_kw >= load_kw - TOLERANCE_KW

    def supplies_left(self, supplies: int) -> int:
        """Return how many of a unit's supplies still have power when one path is lost, with its cords spread evenly over the paths."""
        return supplies - math.ceil(supplies / self.paths)


def circuits_for(load_kw: float, each_kw: float) -> int:
    """Return how many circuits of `each_kw` a load takes."""
    return math.ceil((load_kw - TOLERANCE_KW) / each_kw)


def paths_needed(supplies: int, carrying: int) -> int:
    """Return over how many paths a unit's cords must be spread so that `carrying` of its `supplies` are left when one is lost.

    0 where no supply is spare. A DGX H100 (four of six) needs three paths: on two, the three that are left do not carry it.
    """
    if carrying >= supplies:
        return 0
    return next(paths for paths in range(2, supplies + 1) if supplies - math.ceil(supplies / paths) >= carrying)


def needs_large_outlet(rating_kw: float, pdu: Pdu) -> bool:
    """Return whether a supply of a rating has a C20 inlet, which needs a C19 outlet: more than 10 A at the outlet's voltage."""
    return 1000.0 * rating_kw / outlet_volts(pdu) > SMALL_OUTLET_A


def outlet_volts(pdu: Pdu) -> float:
    """Return the voltage at an outlet of a circuit in V: line to neutral of three-phase circuits of 346 V and more, else its own."""
    volts = pdu.voltage.to("V")
    return volts / math.sqrt(3.0) if pdu.phases == 3 and volts >= WYE_FROM_VOLTS else volts


def circuit_usable_kw(volts: float, phases: int, amperes: float, continuous_share: float) -> float:
    """Return the continuous load in kW that a circuit may carry at power factor 1.

    Parameters
    ----------
    volts
        Line-to-line voltage of three-phase circuits, line voltage of single-phase ones, in V.
    phases
        1 or 3.
    amperes
        Rating of the breaker in A.
    continuous_share
        Share of the rating for continuous load: 0.8 under the North American rule, 1.0 where IEC feeds are used at rating.

    Raises
    ------
    ValueError
        For a number of phases other than 1 and 3.

    Source: National Electrical Code, continuous loads; 415 V and 60 A give the 34.5 kVA printed on the Raritan PX3-5878I2R.
    """
    if phases not in (1, 3):
        raise ValueError(f"a circuit has one phase or three, not {phases}")
    return volts * amperes * math.sqrt(phases) * continuous_share / 1000.0


USUAL = FeedTerms()
"""Terms where nothing was said."""


@lru_cache(maxsize=1024)
def choose_feed(load_kw: float, feed: str, catalog: Catalog, *, desktop: bool = False, terms: FeedTerms = USUAL) -> Feed | None:
    """Return the circuits for a rack (or a desktop machine) that draws `load_kw`.

    `feed` is the answer `facility.feed` ("415v_three_phase"), "" where it was not given. Where `terms` name a redundancy, the smallest
    circuits are taken of which the ones that are left carry the load: two paths of one each for 2N, one more than carry it for N+1.
    Where they name none, two of the smallest circuits that each carry the load alone, up to PLUG_AMPERES; else two that carry it together
    (one for a desktop machine), else as many of the largest as it needs. Without `feed` that of the region is assumed. None where the
    catalog has no such feed.
    """
    known = terms.circuits_of(feed or usual_feed(terms.region, catalog, desktop=desktop), catalog)
    if not feed and desktop and not terms.region:
        known = _outlets(catalog)
    if not known:
        return None
    if terms.circuits is not None and feed:
        fitting = (pdu for pdu in known if terms.carrying(terms.circuits) * terms.each_kw(pdu) >= load_kw - TOLERANCE_KW)
        chosen = next(fitting, known[-1])
        return Feed(chosen, terms.circuits, terms.each_kw(chosen), False, terms.redundancy)
    if terms.redundancy:
        return _redundant(load_kw, known, terms, assumed=not feed)
    wanted = 1 if desktop or known[0].phases == 1 else CIRCUITS_PER_RACK
    alone = (pdu for pdu in known if wanted > 1 and pdu.current.to("A") <= PLUG_AMPERES and terms.each_kw(pdu) >= load_kw - TOLERANCE_KW)
    together = (pdu for pdu in known if terms.each_kw(pdu) * wanted >= load_kw - TOLERANCE_KW)
    chosen = next(alone, None) or next(together, known[-1])
    each_kw = terms.each_kw(chosen)
    return Feed(chosen, max(wanted, circuits_for(load_kw, each_kw)), each_kw, not feed)


def _redundant(load_kw: float, known: tuple[Pdu, ...], terms: FeedTerms, *, assumed: bool) -> Feed:
    chosen = next((pdu for pdu in known if terms.each_kw(pdu) >= load_kw - TOLERANCE_KW), known[-1])
    each_kw = terms.each_kw(chosen)
    carrying = max(1, circuits_for(load_kw, each_kw))
    return Feed(chosen, terms.in_all(carrying), each_kw, assumed, terms.redundancy)


@lru_cache(maxsize=64)
def _circuits(feed: str, catalog: Catalog) -> tuple[Pdu, ...]:
    """Return the catalog's circuits of a voltage and number of phases, smallest first."""
    volts, _, phases = feed.partition("v_")
    number = 3 if phases.startswith("three") else 1
    found = [pdu for pdu in catalog.pdus if pdu.phases == number and pdu.voltage.to("V") == float(volts)]
    return tuple(sorted(found, key=lambda pdu: pdu.usable.to("kW")))


def _own_circuit(like: Pdu, amperes: float) -> Pdu:
    """Return a circuit of the same voltage and phases with the breaker that was said, at the share for continuous load."""
    volts, phases = like.voltage.to("V"), like.phases
    words = "three-phase" if phases == 3 else "single-phase"
    full, usable = (circuit_usable_kw(volts, phases, amperes, share) for share in (1.0, CONTINUOUS_SHARE))
    return Pdu(
        id=f"pdu-{volts:g}-{phases}ph-{amperes:g}a",
        name=f"{volts:g} V, {words}, {amperes:g} A",
        vendor="own",
        voltage=like.voltage,
        phases=phases,
        current=Sourced(value=f"{amperes:g} A", source="you", kind=Kind.YOU),
        full=Sourced(value=f"{full:.4g} kVA", source="you", kind=Kind.DERIVED),
        usable=Sourced(value=f"{usable:.4g} kW", source="you", kind=Kind.DERIVED),
    )


def usual_feed(region: str, catalog: Catalog, *, desktop: bool) -> str:
    """Return the feed that is assumed where none was named: that of the region's mains; 415 V in racks where no region was said either.

    Source: catalog facts of topic `mains`, the voltage of outlets by country.
    """
    volts = fact_value(catalog.facts, _mains_of(region, catalog), "desk" if desktop else "rack").to("V")
    return f"{volts:g}v_{'single' if desktop else 'three'}_phase"


@lru_cache(maxsize=64)
def _mains_of(region: str, catalog: Catalog) -> str:
    """Return the fact of the mains of a place: by the countries that the catalog lists, of the United States where none was said."""
    if not region or is_of_the_us(catalog, region):
        return MAINS_120_V
    place = region.strip().lower()
    listed = ((fact, str(fact_value(catalog.facts, fact, "countries").value)) for fact in (MAINS_100_V, MAINS_120_V))
    return next((fact for fact, countries in listed if place in countries.lower().split(", ")), MAINS_ELSEWHERE)


def _outlets(catalog: Catalog) -> tuple[Pdu, ...]:
    """Return every single-phase circuit of the catalog, smallest first: what a desk may have where no place was said."""
    return tuple(sorted((pdu for pdu in catalog.pdus if pdu.phases == 1), key=lambda pdu: pdu.usable.to("kW")))
