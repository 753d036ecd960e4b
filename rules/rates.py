"""Rates of the catalog that are known as a range only, and catalogs in which one of them is at an end of it: what is chosen then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.sizing.checkpoint import in_words
from rules.sizing.reliability import SECONDS_PER_DAY, failure_rate, record_of, restart_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalogs import Catalog
    from rules.candidate import Candidate

RESTART, MINUTES = "rel-auto-retry", "median_minutes"
"""The threshold that holds the usual time of a restart."""
SECONDS_PER_MINUTE = 60.0


@dataclass(frozen=True)
class RateTrial:
    """A catalog in which a rate is at an end of its range, and that end in words."""

    words: str
    catalog: Catalog


def failure_trials(candidate: Candidate, catalog: Catalog) -> Iterator[RateTrial]:
    """Yield catalogs in which GPUs of the candidate's kind fail seldom and restart quickly, and often and slowly.

    Those are the ends of the band of the stage; GPUs that are rated by the same published record fail so as well, all others as before.
    """
    rate = failure_rate(candidate.gpu, candidate.gpus, catalog)
    quick, _, slow = restart_seconds(catalog)
    for each, restart_s in ((rate.few, quick), (rate.many, slow)):
        between, restart = in_words(SECONDS_PER_DAY / (each * candidate.gpus)), in_words(restart_s)
        words = f"a failure of the job every {between} and restarts of {restart}"
        yield RateTrial(words, _failing(catalog, candidate, each / rate.expected, restart_s, words))


def _failing(catalog: Catalog, candidate: Candidate, factor: float, restart_s: float, words: str) -> Catalog:
    """Return a catalog in which the record that a GPU is rated by says `factor` times as many failures, and restarts take so long."""
    id_, name, is_time = record_of(candidate.gpu)
    fact, restart = catalog.facts[id_], catalog.thresholds[RESTART]
    stated = fact.values[name]
    scaled = stated.quantity / factor if is_time else float(stated.value) * factor
    said = stated.model_copy(update={"value": f"{scaled:~}" if is_time else scaled, "range": None})
    counted = fact.model_copy(update={"values": {**fact.values, name: said}})
    retried = restart.model_copy(update={"values": {**restart.values, MINUTES: restart_s / SECONDS_PER_MINUTE}})
    return catalog.with_trial(words, facts=catalog.facts.replaced(counted, id_), thresholds=catalog.thresholds.replaced(retried, RESTART))
