"""A design that is shared without its prices: no amount, rate or budget is left, and it is read as a design again."""

from __future__ import annotations

import csv
import io
import re

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.policies import parse_policies
from tests.wizard.calls import call
from wizard.exports import NothingToExport, formats, write
from wizard.exports.shared import WITHHELD, write_shared
from wizard.files import interpret, parse_toml
from wizard.versions import SHARED as NOTE

SECRETS = {
    "budget.purchase": "77.1M USD",
    "budget.own_prices": ["nvidia-dgx-h200 = 34111222 INR", "nvidia-qm9700 = 29333 EUR", "rent:nvidia-h200-sxm-141gb = 2.77 USD"],
    "budget.exchange_rates": ["EUR = 1.0816", "INR = 0.01123"],
    "budget.staff": "417123 USD/year",
    "budget.tax": 19,
    "budget.support": 3.7,
    "budget.licences": "4711 USD/year",
    "budget.interest": 5.43,
    "budget.electricity_price": "0.1234 USD/kWh",
    "budget.colocation": "187.5 USD/kW/month",
}
HIDDEN = (
    "34111222", "34,111,222", "29333", "2.77", "1.0816", "0.01123", "417123", "417,123", "0.1234", "187.5", "77.1", "4711", "5.43",
)  # fmt: skip
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
    for secret in HIDDEN:
        assert secret not in text, secret
    assert not re.search(r"USD|EUR|INR|price of [0-9]", text)
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
    assert "29333" not in text
    assert "USD" not in text


MONEY = re.compile(r"\b(?:USD|EUR|INR)\b|[€$₹]\d|usd\b|_usd|purchase_|ownership_|crossing|depreciation_|residual|resale")
"""What no output of a shared design may hold: a currency, or the name of a figure that follows from prices."""
HELD = ("383,806", "29,333", "31,727", "7,171", "8,009")


@pytest.fixture(scope="module")
def shared(catalog, tmp_path_factory):
    path = tmp_path_factory.mktemp("shared") / "shared.toml"
    path.write_text(exported(catalog, "design-without-prices", {**PLAIN, **SECRETS, "scale.nodes": 16})[0])
    return path


@pytest.fixture(scope="module")
def derived(catalog, shared):
    return consider(interpret(parse_toml(shared.read_bytes(), "shared.toml"), "shared.toml").answers, catalog)


@pytest.mark.parametrize("name", [each.id for each in formats()])
def test_no_export_of_a_shared_design_holds_an_amount(name, derived):
    stream = io.StringIO()
    if name in ("svg-candidates", "svg-money", "svg-rent_or_buy"):
        with pytest.raises(NothingToExport, match=WITHHELD):
            write_shared(name, derived, stream)
        assert stream.getvalue() == ""
        return
    write_shared(name, derived, stream)
    assert len(stream.getvalue()) > 100
    assert not MONEY.search(stream.getvalue().replace(NOTE, ""))


@pytest.mark.parametrize(
    "words",
    [
        ["questions"], ["questions", "--json"], ["report"], ["report", "-o", "/dev/stdout"], ["explain"], ["explain", "--json"],
        ["explain", "storage"], ["explain", "what-if", "scale.nodes=8"], ["explain", "what-if", "scale.nodes=8", "--json"],
        ["explain", "uncertain"], ["explain", "uncertain", "--json"], ["explain", "why", "scale.nodes"],
        ["explain", "why", "scale.nodes", "--json"], ["explain", "why-not", "nvidia-dgx-h100"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_command_tells_an_amount_of_a_shared_design(words, shared):
    told = call(words[0], shared, *words[1:])
    assert told.code in (0, 1)
    assert len(told.out) > 100
    assert not MONEY.search(told.out), MONEY.search(told.out)
    assert not any(amount in told.out for amount in HELD)


def test_what_is_on_money_alone_is_withheld(shared):
    told = call("explain", shared, "cost")
    assert told.code == 1
    assert told.out == ""
    assert WITHHELD in told.err


def test_a_design_that_only_its_budget_forbids_is_shared_as_one_that_fits(catalog):
    text, considered = exported(catalog, "design-without-prices", {**PLAIN, **SECRETS, "budget.purchase": "1M USD", "scale.nodes": 16})
    assert not considered.ranking.good
    assert "fits = true" in text
    assert "[[conflict" not in text
    assert "1 conflict" not in text


def test_a_policy_on_money_is_not_shared(catalog):
    rows = [
        {
            "id": "cap",
            "when": [{"field": "purchase_usd", "is": ">", "value": "6543210 USD"}],
            "severity": "warning",
            "message": "Too much.",
        },
        {"id": "no-amd", "when": [{"field": "gpu_vendor", "value": "AMD"}], "severity": "reject", "message": "No {gpu_vendor} here."},
    ]
    answers = Answers.of({**PLAIN, "scale.nodes": 2}).with_policies(parse_policies(rows))
    stream = io.StringIO()
    write("design-without-prices", consider(answers, catalog), stream)
    assert "6543210" not in stream.getvalue()
    assert "no-amd" in stream.getvalue()


def test_a_shared_design_that_is_derived_again_has_the_catalogs_prices_and_no_note(shared):
    found = call("design", shared)
    assert "purchase_usd" in found.out
    assert NOTE not in found.out
    assert "the file was shared without prices" in call("replay", shared).out
