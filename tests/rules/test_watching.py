"""Long work can be watched and stopped between two designs."""

from __future__ import annotations

import threading

import pytest

from catalogs import load_catalog
from rules.advisor import advise, feasible
from rules.answers import Answers
from rules.watching import StoppedError, watched

SMALL = Answers.of({"model.preset": "llama-3.1-8b", "scale.mode": "fixed", "scale.nodes": 1})


def test_designs_are_counted_and_stopped_where_the_watcher_says():
    catalog, seen = load_catalog(), []
    with watched(lambda number: seen.append(number) or True):
        advise(SMALL, catalog)
        feasible(SMALL, catalog)
    assert seen == [1, 2]
    with watched(lambda number: number < 2):
        advise(SMALL, catalog)
        with pytest.raises(StoppedError):
            advise(SMALL, catalog)


def test_nobody_watches_outside_and_in_other_threads():
    catalog, seen = load_catalog(), []
    with watched(lambda number: seen.append(number) or True):
        other = threading.Thread(target=advise, args=(SMALL, catalog))
        other.start()
        other.join()
    advise(SMALL, catalog)
    assert seen == []
