"""Own prices in any currency, what owning costs beside the bill, renting, what moves the total, delivery, phases: figured by hand."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude, quantity
from rules.advisor import advise, consider
from rules.answer_checks import check_answers
from rules.answers import AnswerError, Answers
from rules.sizing.own_prices import exchange_rates, own_prices
from rules.sizing.ownership import interest_share, residual_shares
from rules.sizing.prices import quote_of, rental_range
from rules.sizing.renting import costs_at, crossing_of, offers_of
from rules.sizing.results import CostEstimate, Range
from rules.sizing.schedule import Phase, Task, phases_of, placed, run_days_in_phases
from rules.sizing.sensitivity import sensitivities
from rules.stages.money_sections import describe
from wizard.pictures import text

B200 = {"model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-b200"], "scale.nodes": 8, "training.tokens": "1T"}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def chosen(catalog, answers):
    considered = consider(Answers.of({**B200, **answers}), catalog)
    return considered.ranking.chosen.candidate, considered.context


def usd(value):
    return magnitude(value, "USD")


# ------------------------------------------------------------------------------------------------------------ own prices


def test_amounts_in_another_currency_count_at_the_rate_that_was_named(catalog):
    """At 1.08 USD for a euro, 0.2 EUR/kWh are 0.216 USD/kWh, 8M EUR are 8.64M USD, and 20 EUR/kWh are more than 10 USD/kWh."""
    rates = {"budget.exchange_rates": ["EUR = 1.08"]}
    answers = Answers.of({**rates, "budget.electricity_price": "0.2 EUR/kWh", "budget.purchase": "8M EUR"})
    assert answers.number("budget.electricity_price") == pytest.approx(0.216)
    assert answers.number("budget.purchase") == pytest.approx(8.64e6)
    assert answers.text("budget.purchase") == "8M EUR"
    with pytest.raises(AnswerError, match=r"21\.6 USD/kWh is outside"):
        check_answers(Answers.of({**rates, "budget.electricity_price": "20 EUR/kWh"}), catalog)


def test_an_own_price_may_go_by_any_name_of_the_product(catalog):
    """The catalog knows the DGX H200 as "dgx-h200" too; a price under that name is the price of the server."""
    assert catalog.nodes["dgx-h200"].id == "nvidia-dgx-h200"
    answers = Answers.of({"budget.own_prices": ["dgx-h200 = 381k USD"]})
    assert quote_of("nvidia-dgx-h200", catalog, answers).low == 381_000


def test_a_price_in_another_currency_at_the_rate_that_was_named():
    """380,000 euros at 1.08 USD are 410,400 USD."""
    answers = Answers.of({"budget.own_prices": ["nvidia-dgx-h200 = 380k EUR"], "budget.exchange_rates": ["EUR = 1.08"]})
    assert own_prices(answers)["nvidia-dgx-h200"].usd == pytest.approx(410_400)
    assert exchange_rates(answers) == {"USD": 1.0, "EUR": 1.08}


@pytest.mark.parametrize("written", ["380k EUR", "€380k", "380k €", "380000EUR"])
def test_an_own_price_may_carry_the_sign_of_its_currency_as_a_budget_may(written):
    answers = Answers.of({"budget.own_prices": [f"nvidia-dgx-h200 = {written}"], "budget.exchange_rates": ["€ = 1.08"]})
    assert own_prices(answers)["nvidia-dgx-h200"].usd == pytest.approx(410_400)


@pytest.mark.parametrize("rate", ["EUR = 1.08 EUR", "EUR = cheap", "EUR = -1", "EUR"])
def test_a_budget_is_counted_at_no_rate_that_is_none(rate):
    with pytest.raises(AnswerError) as caught:
        Answers.of({"budget.purchase": "3M EUR", "budget.exchange_rates": [rate]}).number("budget.purchase")
    assert caught.value.key == "budget.exchange_rates"


def test_a_row_of_the_catalog_in_euros_counts_once_its_rate_is_known(catalog):
    """FS sells the N9600-64OD for 33,894 EUR and 30,136 GBP without tax."""
    assert quote_of("fs-n9600-64od", catalog, Answers()) is None
    quote = quote_of("fs-n9600-64od", catalog, Answers.of({"budget.exchange_rates": ["EUR = 1.10"]}))
    assert quote.low == quote.high == pytest.approx(33_894 * 1.10)
    assert "33,894 EUR" in quote.note


@pytest.mark.parametrize(
    ("key", "given", "told"),
    [
        ("budget.own_prices", ["nvidia-dgx-h200 = 380k EUR"], "EUR"),
        ("budget.own_prices", ["nvidia-dgx-h200"], "NAME = VALUE"),
        ("budget.own_prices", ["nvidia-dgx-h201 = 380k USD"], "nvidia-dgx-h200"),
        ("budget.own_prices", ["nvidia-dgx-h200 = many USD"], "number"),
        ("budget.own_prices", ["managment-server = 9k USD"], "the nearest: management-server"),
        ("budget.own_prices", ["own-server = 9k USD"], "own_server.price"),
        ("budget.exchange_rates", ["EURO = 1.08"], "three letters"),
        ("budget.exchange_rates", ["EUR = 0"], "three letters"),
        ("budget.exchange_rates", ["USD = 2"], "one USD is worth 1"),
        ("budget.exchange_rates", ["EUR = 1.08", "EUR = 1.10"], "two rates"),
        ("budget.exchange_rates", ["EUR = 1e30"], "no currency is worth so many USD"),
        ("budget.exchange_rates", ["JPY = 1e-12"], "no currency is worth so many USD"),
        ("measured.date", "2026-13-45", "a day, month or year such as '2026-11-03'"),
        ("measured.date", "last week", "a day, month or year such as '2026-11-03'"),
        ("budget.own_prices", ["nvidia-dgx-h200 = 1e12 USD"], "check amount and currency"),
        ("budget.own_prices", ["nvidia-dgx-h200 = 1 USD", "nvidia-dgx-h200 = 2 USD"], "two prices"),
        ("budget.own_prices", ["nvidia-dgx-h200 = 1 USD", "dgx-h200 = 2 USD"], "one item with two prices"),
        ("budget.purchase", "3M EUR", "no rate of 'EUR' is known"),
        ("budget.staff", "-1 EUR/year", "below zero"),
        ("budget.utilisation", "0.7", "write '0.7 %' or '70 %'"),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(catalog, key, given, told):
    with pytest.raises(AnswerError) as caught:
        advise(Answers.of({**B200, key: given}), catalog)
    assert caught.value.key == key
    assert told in caught.value.message


def test_an_own_price_stands_before_the_catalog_and_changes_the_bill(catalog):
    candidate, _ = chosen(catalog, {"budget.own_prices": ["nvidia-dgx-b200 = 400k USD", "nvidia-sn2201 = 5000 USD"]})
    lines = {line.item: line for line in candidate.cost.bom}
    assert (lines["nvidia-dgx-b200"].unit_low, lines["nvidia-dgx-b200"].source) == (400_000, "you")
    assert lines["nvidia-sn2201"].unit_high == 5000


def test_every_line_of_a_bill_can_have_an_own_price(catalog):
    """Whatever is named as the bill names it counts: servers and storage, but also cables by their description and what is no product."""
    open_, _ = chosen(catalog, {"data.users": 50, "scale.nodes": 7})
    named = [line.item for line in open_.cost.bom]
    assert {"home-file-server", "management-server"} < set(named)
    assert any(item.startswith("copper-cable-") for item in named)
    candidate, _ = chosen(catalog, {"data.users": 50, "scale.nodes": 7, "budget.own_prices": [f"{item} = 10 USD" for item in set(named)]})
    assert candidate.cost.missing == ()
    assert {line.source for line in candidate.cost.bom} == {"you"}
    assert candidate.cost.purchase.expected.magnitude == pytest.approx(10 * sum(line.quantity for line in candidate.cost.bom))


# ------------------------------------------------------------------------------------------------------ what owning costs


def test_what_is_not_known_of_renting_and_delivery_is_said(catalog):
    """No cloud price of a GB300 is in the catalog, and nobody publishes how long its racks take: neither is left away, nor a zero."""
    assert rental_range("nvidia-gb300", catalog) is None
    racks = {"preferences.nodes": ["nvidia-gb300-nvl72"], "scale.nodes": 36, "facility.cooling": ["air", "liquid"]}
    candidate, context = chosen(catalog, racks)
    sections = describe(candidate, context)
    (told,) = sections["cost.rent"]["notes"]
    assert told.startswith("no cloud price of a GPU-hour of NVIDIA GB300")
    tasks = {row["task"]: row for row in sections["delivery"]["task"]}
    assert (tasks["servers"]["weeks"], tasks["servers"]["ends"]) == ("unknown", "unknown")
    assert tasks["burn-in and acceptance"]["after"] == ["mounting and cabling"]


def test_the_arithmetic_of_a_token_is_written_without_an_exponent(catalog):
    """405B: 6 × (405.85 - 2.10 of the embedding) billion and causal attention, 6 × 126 × 16,384 × 8,192: 2,422 + 101 GFLOP."""
    answers = {"model.preset": "llama-3.1-405b", "preferences.nodes": ["nvidia-dgx-b200"], "scale.mode": "fixed", "scale.nodes": 64}
    candidate, _ = chosen(catalog, answers)
    (told,) = [found.because for found in candidate.findings if found.rule == "money.run_cost"]
    assert "GPU-hours at 2524 GFLOP per token" in told


def test_whatever_tells_a_total_says_how_many_parts_it_leaves_out(catalog):
    """The sentences on buying, owning, the run and phases, the notes of the cost, and the picture of renting."""
    answers = {"model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-b200"], "scale.nodes": 8, "training.tokens": "1T"}
    considered = consider(Answers.of({**answers, "budget.phases": 2, "budget.phase_interval": "6 months"}), catalog)
    candidate = considered.ranking.chosen.candidate
    kinds = len(candidate.cost.missing)
    assert kinds > 5
    assert f"left out of every total: {kinds} kinds of parts without a price" in candidate.cost.notes[0]
    said = {found.rule: found.because for found in candidate.findings}
    for rule in ("money.cheapest_decided", "money.ownership_scope", "money.crossing"):
        assert f"{kinds} kinds of parts without a price" in said[rule], rule
    for rule in ("money.run_cost", "money.phased"):
        assert f"without {kinds} kinds of parts that have no price" in said[rule], rule
    assert f"owning leaves out {kinds} kinds of parts without a price" in " ".join(text("rent_or_buy", considered, 120))


def test_taxes_installation_support_and_staff_by_hand(catalog):
    """P with 20 % tax and 5 % installation is 1.25 P once; 4 % of P a year and 300,000 a year over five years on top."""
    bare, _ = chosen(catalog, {"budget.years": "5 years", "budget.electricity_price": "0 USD/kWh"})
    price = usd(bare.cost.purchase.expected)
    full, _ = chosen(
        catalog,
        {
            "budget.years": "5 years",
            "budget.electricity_price": "0 USD/kWh",
            "budget.tax": 20,
            "budget.installation": 5,
            "budget.support": 4,
            "budget.staff": "300000 USD/year",
        },
    )
    assert usd(full.cost.purchase.expected) == pytest.approx(price)
    assert usd(full.cost.outlay.expected) == pytest.approx(1.25 * price)
    assert usd(full.cost.ownership.expected) == pytest.approx(1.25 * price + 5 * (0.04 * price + 300_000))
    assert "staff" in full.cost.charges.basis
    assert "staff" not in full.cost.charges.left_out
    assert "staff" in bare.cost.charges.left_out


def test_the_budget_must_pay_the_tax_too(catalog):
    """Eight DGX B200 come to 4.5 to 5 million USD; with a quarter of tax a budget of five millions is too small."""
    assert advise(Answers.of({**B200, "budget.purchase": "5.2M USD"}), catalog).fits
    taxed = advise(Answers.of({**B200, "budget.purchase": "5.2M USD", "budget.tax": 25}), catalog)
    assert "money.budget_exceeded" in {found.rule for found in taxed.conflicts}


@pytest.mark.parametrize(
    ("years", "shares"), [(1, (0.60, 0.625, 0.65)), (3, (0.25, 0.30, 0.35)), (2.5, (0.325, 0.3625, 0.40)), (8, (0, 0.0625, 0.15))]
)
def test_resale_by_the_years_of_the_source(catalog, years, shares):
    """60 to 65 % after a year, 40 to 45 % after two, 25 to 35 % after three; beyond the fifth year nothing at the low end."""
    assert residual_shares(catalog, years) == pytest.approx(shares)


# ---------------------------------------------------------------------------------------------------------------- renting


def estimate(per_hour):
    amount = Range(*(quantity(each, "USD/hour") for each in per_hour))
    return CostEstimate(None, None, None, 3.0, amount, None, (), ())


def test_owning_at_one_dollar_and_renting_at_two_cross_at_half_of_the_hours():
    low, middle, high = crossing_of(estimate((0.9, 1.0, 1.2)), (1.5, 2.5))
    assert (low, middle, high) == pytest.approx((0.9 / 2.5, 0.5, 0.8))
    owned, rented = costs_at(0.5, 1_000_000.0, 1_000_000.0, 2.0)
    assert owned == rented


def test_the_own_rental_price_stands_alone(catalog):
    answers = Answers.of({"budget.own_prices": ["rent:nvidia-h100-sxm-80gb = 2.10 USD"]})
    assert rental_range("nvidia-h100-sxm-80gb", catalog, answers) == (2.10, 2.10)
    offers = offers_of("nvidia-h100-sxm-80gb", catalog, answers)
    assert offers[0].what == "your own price"
    assert all(each.date and each.source for each in offers[1:])
    assert [each.spot for each in offers] == sorted(each.spot for each in offers)


def test_renting_is_an_alternative_of_the_design(catalog):
    """64 B200 half of the time of three years at 5.5 to 7.25 USD: 64 x 13,149 hours x 6.375 USD."""
    design = advise(Answers.of({**B200, "budget.utilisation": 50}), catalog)
    rented = next(each for each in design.alternatives if each.candidate.startswith("rent-"))
    assert rented.figures.ownership_usd == pytest.approx(64 * 0.5 * 3 * 8766 * (5.5 + 7.25) / 2, rel=1e-6)
    assert not rented.apart
    alone = advise(Answers.of(B200), catalog)
    assert next(each for each in alone.alternatives if each.candidate.startswith("rent-")).apart


# ------------------------------------------------------------------------------------------------------------ sensitivity


def test_what_moves_the_total_is_named_with_both_ends(catalog):
    """The servers' price has no range of its own: a tenth to both sides, 2 x 0.1 x 515,000 for each of 13, the spare one among them."""
    candidate, context = chosen(catalog, {"scale.nodes": 12})
    rows = sensitivities(candidate.cost, candidate, context)
    assert [row.swing for row in rows] == sorted((row.swing for row in rows), reverse=True)
    servers = next(row for row in rows if row.name == "price of the servers")
    assert servers.swing == pytest.approx(0.2 * 515_000 * 13, rel=1e-6)
    assert "price of spare servers" not in {row.name for row in rows}
    assert len(rows) >= 5
    total = usd(candidate.cost.ownership.expected)
    assert all(min(row.low, row.high) <= total * 1.000001 and max(row.low, row.high) >= total * 0.999999 for row in rows)


# --------------------------------------------------------------------------------------------------------------- delivery


def test_the_longest_chain_is_the_critical_path():
    tasks = (
        Task("servers", "servers", (), (8.0, 12.0), ""),
        Task("switches", "switches", (), (12.0, 20.0), ""),
        Task("install", "mounting", ("servers", "switches"), (1.0, 2.0), ""),
        Task("burn_in", "burn-in", ("install",), (0.5, 0.5), ""),
    )
    rows = {each.task.id: each for each in placed(tasks)}
    assert rows["burn_in"].end == (13.5, 22.5)
    assert {name for name, each in rows.items() if each.critical} == {"switches", "install", "burn_in"}


def test_unknown_times_count_nothing_and_are_said(catalog):
    design = advise(Answers.of(B200), catalog)
    rows = {row["task"]: row for row in design.sections["delivery"]["task"]}
    assert rows["mounting and cabling"]["weeks"] == "unknown"
    assert rows["switches"]["weeks"] == [12.0, 20.0]
    assert any(row["critical"] for row in rows.values())


def test_phases_buy_everything_once(catalog):
    candidate, context = chosen(catalog, {"budget.phases": 3})
    rows = advise(context.answers, catalog).sections["cost"]["phase"]
    assert sum(row["units"] for row in rows) == candidate.units
    bought = sum(magnitude(row["low"], "USD") for row in rows)
    assert bought == pytest.approx(usd(candidate.cost.purchase.low), rel=1e-3)
    assert rows[-1]["gpus_then"] == candidate.gpus


def test_a_run_that_speeds_up_with_the_second_phase():
    """100 days on all GPUs: half of them for 30.44 days do 15.22 days' work, the rest takes 84.78 days more."""
    phases = (Phase(1, 0.0, 4, 32, 0, 0, ""), Phase(2, 1.0, 4, 64, 0, 0, ""))
    assert run_days_in_phases(100.0, phases, 64) == pytest.approx(30.44 + 100 - 15.22)


# ------------------------------------------------------------------------------------------------------------ the budget


def test_budgets_change_what_is_built(catalog):
    """Half a million buys a server or two, five millions several, fifty millions a cluster: other sizes, never above the budget."""
    sizes = []
    for budget in (0.6e6, 5e6, 50e6):
        answers = {"model.preset": "llama-3.1-8b", "scale.mode": "budget", "budget.purchase": f"{budget:.0f} USD", "training.tokens": "1T"}
        design = advise(Answers.of(answers), catalog)
        assert design.fits
        assert design.figures.purchase_low_usd <= budget
        sizes.append(design.figures.gpus)
    assert sizes[0] < sizes[1] < sizes[2]


# ------------------------------------------------------------------------------------------- licences, interest, purchases by wave


def test_interest_of_a_loan_that_is_repaid_in_equal_parts():
    """100,000 at 5 % over 5 years: 23,097.48 a year, 115,487.40 in all, 15,487.40 of it interest (annuity tables)."""
    assert 5 * 100_000 * interest_share(0.05, 5.0) == pytest.approx(15_487.40, abs=0.01)
    assert interest_share(0.0, 5.0) == 0.0


def test_licences_and_interest_are_counted_where_they_were_said(catalog):
    """64 GPUs at 1,000 USD a year; 4 % over 4 years is an annuity of 27.549 %, 2.549 % of it interest."""
    plain, _ = chosen(catalog, {"budget.years": "4 years"})
    assert {"software licences", "financing"} <= set(plain.cost.charges.left_out)
    said, context = chosen(catalog, {"budget.years": "4 years", "budget.licences": "1000 USD/year", "budget.interest": 4})
    assert not {"software licences", "financing"} & set(said.cost.charges.left_out)
    assert usd(said.cost.yearly["software licences"].expected) == pytest.approx(64_000)
    financed = usd(said.cost.yearly["financing"].expected)
    assert financed == pytest.approx(0.02549 * usd(said.cost.outlay.expected), rel=1e-3)
    more = usd(said.cost.ownership.expected) - usd(plain.cost.ownership.expected)
    assert more == pytest.approx(4 * (64_000 + financed))
    assert "rate of interest" in {each.name for each in sensitivities(said.cost, said, context)}


def test_an_own_price_of_what_is_not_bought_is_said(catalog):
    candidate, _ = chosen(catalog, {"budget.own_prices": ["object-store = 90k USD", "nvidia-dgx-b200 = 400k USD"]})
    assert any(note.endswith("does not hold: object-store") for note in candidate.cost.notes)


def test_racks_and_power_come_with_their_servers(catalog):
    """Four and four of eight DGX B200, 14.3 kW each, one to a rack of 20 kW: half of their power and racks wait for the second purchase."""
    candidate, _ = chosen(catalog, {"budget.phases": 2, "facility.rack_power": "20 kW", "budget.own_prices": ["rack-42u = 2000 USD"]})
    first, second = phases_of(candidate, 2, 6.0)
    assert second.power_kw == pytest.approx(magnitude(candidate.facility.it_power_maximum, "kW"))
    assert second.power_kw - first.power_kw == pytest.approx(4 * 14.3)
    assert (second.racks, second.racks - first.racks) == (candidate.facility.rack_count, 4)
    racks = next(line for line in candidate.cost.bom if line.item == "rack-42u")
    assert racks.quantity == second.racks
    assert first.low + second.low == pytest.approx(usd(candidate.cost.outlay.low))
