"""What stage power states of supplies, circuits, UPS and generator, and of the load's swings: the second half of its fact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing import backup
from rules.sizing.feeds import LARGE_OUTLET_A, SMALL_OUTLET_A, FeedTerms, circuits_for, needs_large_outlet, paths_needed
from rules.sizing.power import supplies_of, supply_input
from rules.sizing.standing import stands_in_racks

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.facility import FacilitySizing
    from rules.sizing.feeds import Feed
    from rules.sizing.power import Supplies

HOUSEHOLD_VOLTS = 120.0
"""Voltage up to which a circuit is a North American outlet, where a machine hangs on one cord; servers of 200 V and more have several."""
IEC = "(IEC)"
"""Mark in the name of a circuit of the IEC's rules."""
BREAKER_WORDS = {"nec": "of their breakers", "iec": "of their breakers, the North American rule kept as margin: the IEC allows the rating"}
"""How the load of breakers is worded, by the rules that a circuit is built to."""


def supply_facts(candidate: Candidate, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State the supplies of a unit, and how many of them are left when a path of the rack is lost."""
    supplies = supplies_of(candidate.node)
    unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    installed = magnitude(supplies.installed, "kW") if supplies else 0.0
    left, needed = _after_loss(supplies, sizing.feed, unit_kw)
    return {
        "supplies_known": supplies is not None,
        "supplies_redundant": supplies is not None and supplies.redundant,
        "supply_count": supplies.count if supplies else 0,
        "supply_installed_kw": installed,
        "supply_usable_kw": magnitude(supplies.usable, "kW") if supplies else 0.0,
        "supply_load_percent": 100.0 * unit_kw / installed if installed > 0 else 0.0,
        "supply_rating_kw": installed / supplies.count if supplies else 0.0,
        "supplies_carrying": supplies.carrying if supplies else 0,
        "feed_paths": sizing.feed.paths if sizing.feed else 0,
        "supplies_left": left,
        "supplies_needed": needed,
        "unit_survives_path": supplies is not None and left >= needed,
        "paths_needed": paths_needed(supplies.count, needed) if supplies else 0,
    }


def _after_loss(supplies: Supplies | None, feed: Feed | None, unit_kw: float) -> tuple[int, int]:
    """Return how many supplies of a unit keep power when a path is lost, and how many its maximum needs, by rating and by its vendor."""
    if supplies is None or feed is None:
        return 0, 0
    each_kw = magnitude(supplies.installed, "kW") / supplies.count
    by_rating = math.ceil(unit_kw / each_kw - 1e-9)
    needed = max(by_rating, supplies.carrying) if supplies.redundant else by_rating
    return feed.supplies_left(supplies.count), min(needed, supplies.count)


def feed_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State the circuits of a rack, what they carry, and what a lost one does."""
    feed = sizing.feed
    each_kw = feed.each_kw if feed else 0.0
    unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    needed = circuits_for(unit_kw, each_kw) if each_kw > 0 else 0
    survives = feed is not None and feed.survives(sizing.fullest_kw)
    low, high = supply_input(candidate.node, context.catalog)
    return {
        "feed_known": feed is not None,
        "feed_given": feed is not None and not feed.assumed,
        "feed": feed.text if feed else "",
        "feed_usable_kw": magnitude(feed.usable, "kW") if feed else 0.0,
        "circuit_usable_kw": each_kw,
        "feed_survives": survives,
        "feed_loss_words": "the others carry the rack when one is lost" if survives else "a lost circuit stops what hangs on it",
        "breaker_words": BREAKER_WORDS["iec" if feed is not None and IEC in feed.pdu.name else "nec"],
        "circuits_per_unit": needed,
        "circuits_wanted": FeedTerms.of(context.answers).in_all(needed),
        "cords_per_unit": unit_cords(candidate, context, sizing, needed),
        "outlet_v": round(feed.outlet_volts, 1) if feed else 0.0,
        "input_low_v": low,
        "input_high_v": high,
    }


def unit_cords(candidate: Candidate, context: Context, sizing: FacilitySizing, needed: int) -> int:
    """Return the circuits that one unit can hang on: its carrying supplies; in a room no more than were said to reach the machine."""
    supplies, terms = supplies_of(candidate.node), FeedTerms.of(context.answers)
    cords = supplies.carrying if supplies else _unstated_cords(candidate, sizing, needed)
    if terms.circuits is None or stands_in_racks(candidate.node, candidate.units, context.answers):
        return cords
    return min(cords, max(0, terms.carrying(terms.circuits)))


def _unstated_cords(candidate: Candidate, sizing: FacilitySizing, needed: int) -> int:
    """Return the circuits that a unit without stated supplies is spread over: one at a desk or outlet, else as many as it needs."""
    household = sizing.feed is not None and sizing.feed.pdu.voltage.to("V") <= HOUSEHOLD_VOLTS
    return 1 if candidate.node.desktop or household else needed


def outlet_facts(candidate: Candidate, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State the outlets that the cords of a rack need and have, and the current of one supply when the spare ones are gone.

    Which outlet a cord needs follows from the supply's rating, which its inlet is made for, not from what it happens to draw.
    """
    feed, supplies, node, design = sizing.feed, supplies_of(candidate.node), candidate.node, sizing.design
    per_rack = design.racks[0].nodes_per_rack if design and not (node.is_rack or node.desktop) else 0
    unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    each_a = 1000.0 * unit_kw / supplies.carrying / feed.outlet_volts if supplies and feed else 0.0
    rating_kw = magnitude(supplies.installed, "kW") / supplies.count if supplies else 0.0
    large = feed is not None and needs_large_outlet(rating_kw, feed.pdu)
    offered = feed.outlets(large=large) if feed else None
    return {
        "supply_a": round(each_a, 1),
        "outlet_kind": "C19" if large else "C13",
        "outlet_limit_a": LARGE_OUTLET_A if large else SMALL_OUTLET_A,
        "outlets_known": offered is not None and supplies is not None and per_rack > 0,
        "outlets_needed": per_rack * supplies.count if supplies else 0,
        "outlets_offered": offered or 0,
    }


def backup_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State UPS and generator, the current when racks are switched on, and the swing of the load."""
    answers, catalog, node, design, feed = context.answers, context.catalog, candidate.node, sizing.design, sizing.feed
    it_kw = magnitude(design.it_power_maximum, "kW") if design else 0.0
    total_kw = magnitude(design.total_power, "kW") if design else 0.0
    altitude = answers.number("facility.altitude") or 0.0
    ups = backup.size_ups(answers.text("facility.ups"), it_kw, catalog, altitude)
    generator = backup.size_generator(answers.text("facility.generator"), total_kw, catalog, altitude)
    supplies = supplies_of(node)
    per_rack = design.racks[0].nodes_per_rack if design else 0
    at_once = backup.units_at_once(feed, supplies.count, catalog) if feed and supplies else 0
    swing = backup.swing_kw(node, candidate.gpu, candidate.units, catalog, sizing.cap.watts if sizing.cap else None)
    return {
        "ups_said": ups is not None,
        "ups_none": ups is not None and ups.redundancy == "none",
        "ups_words": ups.text if ups else "not said",
        "ups_kva": round(ups.rating_kva, 1) if ups else 0.0,
        "generator_said": generator is not None,
        "generator_none": generator is not None and generator.redundancy == "none",
        "generator_words": generator.text if generator else "not said",
        "generator_kva": round(generator.rating_kva, 1) if generator else 0.0,
        "ups_left_percent": round(100.0 * backup.rating_left(backup.UPS_HEIGHT, altitude, catalog), 1),
        "generator_left_percent": round(100.0 * backup.rating_left(backup.GENERATOR_HEIGHT, altitude, catalog), 1),
        "backup_there": any(each is not None and each.redundancy != "none" for each in (ups, generator)),
        "inrush_a": round(backup.inrush_a(per_rack * supplies.count, catalog), 1) if supplies else 0.0,
        "breaker_trip_a": round(backup.inrush_limit_a(feed, catalog), 1) if feed else 0.0,
        "units_at_once": at_once,
        "switch_on_in_turn": bool(feed and supplies and not node.is_rack and per_rack > max(1, at_once)),
        "swing_known": swing is not None,
        "swing_kw": round(swing or 0.0, 1),
        "swing_percent": round(100.0 * (swing or 0.0) / it_kw, 1) if it_kw > 0 else 0.0,
    }
