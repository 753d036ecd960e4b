"""A design that is shared without its prices: no amount, rate or budget is left, and it is read as a design again."""

from __future__ import annotations

import csv
import io
import re

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from wizard.exports import write
from wizard.files import interpret, parse_toml

SECRETS = {
    "budget.purchase": "77.1M USD",
    "budget.own_prices": ["nvidia-dgx-h200 = 383111 EUR", "rent:nvidia-h200-sxm-141gb = 2.77 USD"],
    "budget.exchange_rates": ["EUR = 1.0816"],
    "budget.staff": "417123 USD/year",
    "budget.tax": 19,
    "budget.support": 3.7,
    "budget.licences": "4711 USD/year",
    "budget.interest": 5.43,
    "budget.electricity_price": "0.1234 USD/kWh",
    "budget.colocation": "187.5 USD/kW/month",
}
PLAIN = {
    "model.preset": "llama-3.1-70b",
    "preferences.nodes": ["nvidia-dgx-h200"],
    "training.tokens": "1T",
    "facility.hosting": "colocation",
    "budget.utilisation": 61,
}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def exported(catalog, name, answers):
    stream = io.StringIO()
    considered = consider(Answers.of(answers), catalog)
    write(name, considered, stream)
    return stream.getvalue(), considered


@pytest.mark.parametrize("mode", [{"scale.nodes": 16}, {"scale.mode": "budget"}, {"scale.deadline": "60 days"}])
def test_no_amount_is_left(catalog, mode):
    text, considered = exported(catalog, "design-without-prices", {**PLAIN, **SECRETS, **mode})
    for secret in ("383111", "383,111", "2.77", "1.0816", "417123", "417,123", "0.1234", "187.5", "77.1", "4711", "5.43"):
        assert secret not in text, secret
    assert not re.search(r"USD|EUR|price of [0-9]", text)
    assert "budget.purchase" not in text
    loaded = interpret(parse_toml(text.encode(), "shared.toml"), "shared.toml")
    assert loaded.is_design
    assert loaded.document["design"]["summary"]["nodes"] == considered.ranking.chosen.candidate.nodes
    assert loaded.answers.given("budget.utilisation")
    if mode.get("scale.mode") == "budget":
        assert loaded.answers.count("scale.nodes") == considered.ranking.chosen.candidate.nodes
    assert not re.search(r'because = ".*[;:]"\n', text), "a sentence ends where the amount stood"
    assert [row["quantity"] for row in loaded.document["bom"]] == [line.quantity for line in considered.ranking.chosen.candidate.cost.bom]


def test_a_bill_for_a_vendor_to_fill_in(catalog):
    text, considered = exported(catalog, "bom-without-prices-csv", {**PLAIN, **SECRETS, "scale.nodes": 16})
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(considered.ranking.chosen.candidate.cost.bom)
    assert all(row["unit price"] == "" for row in rows)
    assert "383" not in text
    assert "USD" not in text
