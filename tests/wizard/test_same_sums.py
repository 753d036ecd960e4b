"""Floats are added alike on every version of Python: from 3.12 on, `sum` rounds otherwise than on 3.11, and reports showed it."""

from __future__ import annotations

import builtins
import io
import sys
from pathlib import Path

import pytest

from catalogs import load_catalog
from catalogs.sums import plain_sum
from rules.advisor import consider
from rules.assembly import assemble
from tests.wizard.calls import ROOT
from wizard.exports import FORMATS, NothingToExport, write
from wizard.files import load
from wizard.keeping import saved_text
from wizard.policies import under_policies
from wizard.report.contents import contents
from wizard.report.page import page
from wizard.versions import meta_of

OURS = tuple(str(ROOT / name) for name in ("catalogs", "rules", "wizard"))
META = {"name": "same", "created": "2026-01-01"}
MADE = ("sixty-four-nodes-405b.toml", "four-cards-at-home.toml", "recommendation-tables.toml")


def test_from_left_to_right():
    """0.1 + 0.2 is 0.30000000000000004 and 0.3 more is 0.6000000000000001; made up for rounding it is 0.6."""
    assert plain_sum((0.1, 0.2, 0.3)) == 0.6000000000000001
    assert plain_sum([1e16, 1.0, -1e16]) == 0.0
    assert plain_sum([]) == 0
    assert plain_sum([2, 3]) == 5
    assert isinstance(plain_sum([2, 3]), int)


@pytest.fixture
def added(monkeypatch):
    """Return the places of the program where `sum` was given floats."""
    found: set[str] = set()
    usual = sum

    def watched(values, /, start=0):
        kept = list(values)
        caller = sys._getframe(1).f_code
        if caller.co_filename.startswith(OURS) and any(type(each) is float for each in kept[1:]):
            found.add(f"{Path(caller.co_filename).relative_to(ROOT)}: {caller.co_name}")
        return usual(kept, start)

    monkeypatch.setattr(builtins, "sum", watched)
    return found


@pytest.mark.parametrize("name", MADE)
def test_no_sum_of_floats_is_left_to_the_version(name, added):
    catalog = load_catalog()
    considered = consider(under_policies(load(ROOT / "designs" / name)), catalog)
    design = assemble(considered.context, considered.judged, considered.ranking, considered.rejected)
    saved_text(design, META, catalog)
    page(contents(design, considered, meta_of("same", catalog, META)))
    for each in FORMATS:
        try:
            write(each.id, considered, io.StringIO())
        except NothingToExport:
            continue
    assert sorted(added) == []
