"""How: every fact has an origin, every conclusion is explained down to answers and catalog values, with the numbers of the design."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from catalogs import load_catalog, schema
from rules.advisor import consider
from rules.answer_fields import FIELDS
from rules.answers import Answers
from rules.explain import WORDS, NothingToExplainError, StepKind, explain, ground_of, subjects
from rules.explanation.formulas import evaluate, first_sentence, formula_of
from rules.explanation.leaves import PRICES
from rules.explanation.records import READERS
from rules.explanation.results import RESULTS
from rules.explanation.text import WIDTH, lines_of
from rules.findings import Stage
from rules.origins import BY_ID, CATALOG_ROOTS, RESULT_ROOTS, InputKind, Origin, OriginError, kind_of, origins_of, section_origin, stage_of
from rules.stages import all_stages
from wizard.files import load

ROOT = Path(__file__).parent.parent.parent
DESIGNS = ("amd-on-ethernet", "four-cards-at-home", "nothing-fits")
"""A cluster, a person's own server on one node, and a design with conflicts."""
SMALL = {"workload.kind": "fine_tuning_lora", "model.preset": "llama-3.1-8b", "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"]}
MUST_REST_ON_SOMETHING = (StepKind.FINDING, StepKind.CONDITION, StepKind.DESIGN, StepKind.FACT, StepKind.RESULT, StepKind.FLAG)
SET_OTHERWISE = {
    "ownership_usd": "0 where no price of the servers is known",
    "nodes_per_rack_by_height": "of pre-integrated racks and unknown heights: the units in the rack",
}
"""Facts that a written exception keeps from following their arithmetic."""
FACTS = {module.STAGE: {each.name for each in module.FACTS} for module in all_stages()}


def all_steps(step):
    yield step
    for each in step.steps:
        yield from all_steps(each)


def chain_of(ground, what):
    return [step for chain in explain(ground, what).chains for step in all_steps(chain)]


def one(steps, kind, name):
    return next(step for step in steps if step.kind is kind and step.name == name and not step.repeated)


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(scope="module", params=DESIGNS)
def design(request, catalog):
    return ground_of(consider(load(ROOT / "designs" / f"{request.param}.toml").answers, catalog))


@pytest.fixture(scope="module")
def small(catalog):
    return ground_of(consider(Answers.of(SMALL), catalog))


def every_origin():
    for stage in Stage:
        table = origins_of(stage)
        yield from ((f"{stage}:{name}", stage, origin) for name, origin in table.facts.items())
        yield from ((key, stage, origin) for key, origin in table.sections.items() if isinstance(origin, Origin))
    yield from ((name, None, result.origin) for name, result in RESULTS.items())


class TestTheTables:
    @pytest.mark.parametrize("stage", Stage)
    def test_every_fact_has_an_origin_and_nothing_else_has(self, stage):
        assert set(origins_of(stage).facts) == FACTS[stage]

    def test_every_section_key_that_names_a_fact_names_one_of_its_stage(self):
        for stage in Stage:
            named = {key: fact for key, fact in origins_of(stage).sections.items() if isinstance(fact, str)}
            assert {key: fact for key, fact in named.items() if fact not in FACTS[stage]} == {}

    def test_every_origin_says_something(self):
        assert [name for name, _, origin in every_origin() if not (origin.inputs or origin.note)] == []

    def test_every_input_exists(self, catalog):
        for where, stage, origin in every_origin():
            for name in origin.inputs:
                kind = kind_of(name)
                if kind is InputKind.FACT:
                    assert stage is not None or ":" in name, f"{where}: {name} is of no stage"
                    of, plain = stage_of(name, stage or Stage.VRAM)
                    assert plain in FACTS[of], f"{where}: {name}"
                elif kind is InputKind.RESULT:
                    assert name in RESULTS, f"{where}: {name}"
                elif kind is InputKind.CATALOG:
                    assert catalog_path_exists(name, catalog), f"{where}: {name}"
                else:
                    assert name in {each.key for each in FIELDS}, f"{where}: {name}"

    def test_every_formula_can_be_imported_and_says_what_it_computes(self):
        for where, _, origin in every_origin():
            if origin.formula:
                assert callable(formula_of(origin.formula)), where
                assert len(first_sentence(origin.formula)) > 15, f"{where}: {origin.formula}"

    def test_roots_are_covered(self):
        assert set(CATALOG_ROOTS) - set(BY_ID) - set(PRICES) == set(READERS)
        assert {name.partition(".")[0] for name in RESULTS} == set(RESULT_ROOTS)
        sections = {each.key.partition(".")[0] for each in FIELDS}
        assert not sections & {*CATALOG_ROOTS, *RESULT_ROOTS}

    @pytest.mark.parametrize("name", ["acceptance", "design.acceptance"])
    def test_a_section_alone_explains_its_keys(self, catalog, name):
        found = explain(consider(Answers.of(SMALL), catalog), name)
        assert {"acceptance.suite", "acceptance.tests"} <= {chain.name for chain in found.chains}

    def test_a_name_of_nothing_is_refused(self):
        for name in ("nowhere:nodes", "training.colour", "planet.mass"):
            with pytest.raises(OriginError, match=name.partition(":")[0]):
                kind_of(name)


def catalog_path_exists(name, catalog):
    """A path leads through the record classes; of facts and thresholds, the record and its value are in the catalog."""
    root, _, path = name.partition(".")
    if root in BY_ID:
        id_, _, key = path.partition(".")
        record = getattr(catalog, f"{root}s").get(id_)
        return record is not None and (not key or key in record.values)
    current = getattr(schema, CATALOG_ROOTS[root])
    for part in path.split("."):
        fields = getattr(current, "model_fields", {})
        if part not in fields:
            return False
        annotation = fields[part].annotation
        kinds = [annotation, *getattr(annotation, "__args__", ())]
        current = next((kind for kind in kinds if hasattr(kind, "model_fields")), None)
    return True


class TestThreeDesigns:
    def test_every_conclusion_is_explained_without_gaps(self, design):
        rows = subjects(design)
        assert {row.kind for row in rows} >= {"decision", "warning", "value", "assumption"}
        for row in rows:
            for step in chain_of(design, row.what):
                if step.kind in MUST_REST_ON_SOMETHING and not step.repeated:
                    assert step.steps, f"{row.what}: {step.kind} {step.name} rests on nothing"

    def test_every_finding_leads_to_its_rule_guidance_and_source(self, design):
        for found in design.design.findings:
            if found.rule not in design.rules:
                continue
            steps = chain_of(design, found.rule)
            rule = one(steps, StepKind.RULE, found.rule)
            assert {step.name for step in rule.steps if step.kind is StepKind.GUIDANCE} == set(found.guidance)
            named = {step.name.partition(".")[2].partition(".")[0] for step in steps if step.kind is StepKind.THRESHOLD}
            assert set(found.thresholds) <= named
            assert all(step.details["source"] for step in steps if step.kind is StepKind.THRESHOLD)

    def test_the_conditions_of_a_rule_that_fired_hold_and_show_its_numbers(self, design):
        for found in design.design.findings:
            for step in chain_of(design, found.rule):
                if step.kind is StepKind.RULE and step.details.get("fired") != "no":
                    conditions = [each for each in step.steps if each.kind is StepKind.CONDITION]
                    assert all(each.details["holds"] == "yes" for each in conditions), step.name
                    assert not any("is needed" in each.text or each.text.endswith(" unknown") for each in conditions), step.name

    def test_premises_are_explained_by_the_rule_that_set_them(self, design):
        for found in design.design.findings:
            rule = design.rules.get(found.rule)
            if rule is not None and rule.premise != "candidate":
                flag = one(chain_of(design, found.rule), StepKind.FLAG, rule.premise)
                assert flag.value == "set"
                setters = [each for each in all_steps(flag) if each.kind is StepKind.RULE]
                assert rule.premise in design.rules[setters[0].name].writes
                order = [each.rule for each in design.findings(rule.stage)]
                assert order.index(setters[0].name) < order.index(rule.id)

    def test_arithmetic_gives_the_facts(self, design):
        for stage in Stage:
            for name, origin in origins_of(stage).facts.items():
                if not origin.arithmetic:
                    continue
                formula = next(step for step in explain(design, f"{stage}:{name}").chains[0].steps if step.kind is StepKind.FORMULA)
                told = formula.details.get("not applied", "")
                if told.startswith("it would give"):
                    assert SET_OTHERWISE[name] in told
                elif told:
                    assert design.facts(stage)[name] in (0, 0.0) or name in SET_OTHERWISE, f"{stage}:{name}: {told}"

    def test_every_fact_can_be_asked_for(self, design):
        for stage in Stage:
            for name in FACTS[stage]:
                step = explain(design, f"{stage}:{name}").chains[0]
                assert step.value == design.shown(stage, name)

    def test_every_section_key_has_an_entry_of_its_own(self, design):
        missing = [key for key in design.listed if section_origin(design.sections[key][0], key) is None]
        assert missing == []

    def test_catalog_values_carry_a_source_and_answers_their_provenance(self, design):
        for row in subjects(design):
            for step in chain_of(design, row.what):
                if (
                    step.kind is StepKind.CATALOG
                    and not step.repeated
                    and step.value not in ("none",)
                    and "price unknown" not in step.value
                ):
                    assert step.details.get("source"), f"{row.what}: {step.name}"
                if step.kind is StepKind.ANSWER:
                    assert step.details["from"] in ("you", "assumption", "nobody"), step.name

    def test_the_text_is_a_tree_of_narrow_lines(self, design):
        for row in subjects(design):
            lines = lines_of(explain(design, row.what))
            assert all(len(line) <= WIDTH or " " not in line.strip() for line in lines), row.what

    def test_nothing_is_referred_to_above_that_stands_below(self, design):
        for what in ("power.total", "cost.purchase", "summary.days", "memory.verdict"):
            lines = [line.strip() for line in lines_of(explain(design, what))]
            for number, line in enumerate(lines):
                if line.startswith("answer ") and line.endswith("(see above)"):
                    name = line.split(" = ")[0]
                    assert any(f"{name} = " in before for before in lines[:number]), f"{what}: {line}"


class TestNumbers:
    def test_memory_of_an_h100_is_what_its_driver_reports(self, small):
        """81,559 MiB: what nvidia-smi lists for an H100 SXM of 80 GB, whose printed size would be 74.5 GiB or 80 GiB."""
        steps = chain_of(small, "memory.capacity")
        found = one(steps, StepKind.CATALOG, "gpu.memory.capacity")
        assert found.value == "81559 MiB"
        assert found.details["kind"] == "measured"
        assert found.details["source"]
        assert one(steps, StepKind.FORMULA, "rules.sizing.memory_checks.device_capacity").value == "79.65 GiB / 1"

    def test_power_of_a_dgx_h100_is_the_vendors(self, small):
        """10.2 kW at most: NVIDIA DGX H100 user guide."""
        steps = chain_of(small, "power.total")
        assert one(steps, StepKind.CATALOG, "node.power.maximum").value == "10.2 kW"
        pue = one(steps, StepKind.ANSWER, "facility.pue")
        assert pue.value == "1.4"
        assert pue.details == {"from": "assumption", "because": "not answered"}
        assert one(steps, StepKind.FORMULA, "rules.sizing.facility.size_facility").value == "10.2 kW × 1.4"

    def test_answers_say_who_gave_them(self, catalog):
        answers = Answers.of(SMALL).with_value("facility.pue", 1.25, origin="imported").with_value("budget.years", "unknown")
        ground = ground_of(consider(answers, catalog))
        assert one(chain_of(ground, "power.pue"), StepKind.ANSWER, "facility.pue").details["from"] == "imported"
        years = explain(ground, "budget.years").chains[0]
        assert (years.value, years.details["because"]) == ("3 years", "you do not know it")

    def test_a_value_of_ones_own_catalog_shows_with_its_source(self, tmp_path):
        (tmp_path / "prices").mkdir()
        row = '[[price]]\nid = "mine"\nitem = "nvidia-dgx-h100"\nwhat = "my quote"\nunit = "USD"\nlow = 123456\nhigh = 123456\n'
        row += 'date = "2099-01"\nsource = "a letter"\nconfidence = "high"\n'
        (tmp_path / "prices" / "mine.toml").write_text(row, "utf-8")
        ground = ground_of(consider(Answers.of(SMALL), load_catalog([tmp_path])))
        line = one(chain_of(ground, "cost.purchase"), StepKind.CATALOG, "price.nvidia-dgx-h100")
        assert line.value == "1 × 123,456 USD = 123,456 USD"
        assert (line.details["source"], line.details["date"]) == ("a letter", "2099-01")

    def test_a_rule_that_did_not_fire_says_which_condition_fails(self, small):
        rule = explain(small, "vram.state_does_not_fit").chains[0]
        assert rule.details["fired"] == "no"
        assert [step.details["holds"] for step in rule.steps if step.kind is StepKind.CONDITION] == ["no", "no"]

    def test_a_flag_that_nobody_set_says_why(self, small):
        rule = next(rule for rule in small.rules.values() if rule.premise == "memory_short")
        flag = one(chain_of(small, rule.id), StepKind.FLAG, "memory_short")
        assert flag.value == "not set"
        assert flag.steps
        assert all("does not hold" in step.text or "is not set" in step.text for step in flag.steps)

    def test_the_choice_names_the_objective_and_the_next_candidates(self, design):
        if design.ranking.good:
            steps = chain_of(design, "design.chosen")
            assert one(steps, StepKind.ANSWER, "budget.objective").value == design.context.answers.text("budget.objective")
            first = next(step for step in steps if step.kind is StepKind.CANDIDATE)
            assert design.candidate.node.name in first.name

    def test_answers_that_allow_nothing_name_the_answers(self, catalog):
        ground = ground_of(consider(Answers.of({**SMALL, "preferences.vendors": ["AMD"]}), catalog))
        steps = chain_of(ground, "proposals.nothing_allowed")
        assert {step.name for step in steps if step.kind is StepKind.ANSWER} == {"preferences.nodes", "preferences.vendors"}
        assert [row.what for row in subjects(ground) if row.stage == "summary"] == ["proposals.nothing_allowed", "summary.fits"]
        assert explain(ground, "summary.fits").chains[0].name == "proposals.nothing_allowed"
        with pytest.raises(NothingToExplainError):
            explain(ground, "power.total")


@pytest.mark.parametrize(
    "answers",
    [
        {"scale.mode": "budget"},
        {"model.parameters": "30e9", "parallelism.tensor": 8, "scale.nodes": 16},
        {"workload.kind": "vision", "model.preset": "resnet50", "scale.nodes": 2},
        {"scale.nodes": 1, "model.preset": "llama-3.1-405b", "preferences.nodes": ["nvidia-dgx-h100"]},
    ],
    ids=["no candidate", "a shape that is assumed", "images", "no plan"],
)
def test_whatever_is_listed_can_be_asked_for(catalog, answers):
    ground = ground_of(consider(Answers.of(answers), catalog))
    for row in subjects(ground):
        assert lines_of(explain(ground, row.what)), row.what
    for rule in ground.rules if ground.candidate is not None else ():
        assert explain(ground, rule).chains


class TestNames:
    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            ("headroom_gib", "headroom_gib"),
            ("vram.headroom_gib", "vram.headroom_gib"),
            ("design.power.total", "power.total"),
            ("  Power.Total ", "power.total"),
            ("memory.terms", "memory.terms"),
            ("budget.years", "budget.years"),
        ],
    )
    def test_is_found(self, small, asked, found):
        assert explain(small, asked).what == found

    @pytest.mark.parametrize(("asked", "nearest"), [("headrom_gib", "headroom_gib"), ("powr.total", "power.total"), ("zzz", "")])
    def test_the_nearest_is_offered(self, small, asked, nearest):
        with pytest.raises(NothingToExplainError) as refused:
            explain(small, asked)
        assert refused.value.nearest == nearest

    def test_the_same_question_has_the_same_answer(self, small):
        assert explain(small, "cost.ownership").document() == explain(small, "cost.ownership").document()


class TestArithmetic:
    def test_is_understood(self):
        assert evaluate("max(2, ceil(a_kw / b.c[kW])) * 3 - 1", {"a_kw": 10.0, "b.c[kW]": 4.0}) == 8.0
        assert evaluate("sum(parts) / (1 + x1)", {"parts": [1.0, 2.0], "x1": 0.5}) == 2.0

    def test_unknown_inputs_and_division_by_nothing_give_nothing(self):
        assert evaluate("a1 + b1", {"a1": 1.0}) is None
        assert evaluate("a1 / b1", {"a1": 1.0, "b1": 0.0}) is None

    @pytest.mark.parametrize("text", ["2 ** 8", "[1][0]", "1 < 2", "-a1", "'1'"])
    def test_nothing_else_is(self, text):
        with pytest.raises(ValueError, match="arithmetic understands"):
            evaluate(text, {"a1": 1.0})

    def test_a_word_of_python_is_an_unknown_input(self):
        assert evaluate("(lambda: 1)()", {}) is None


def test_origins_are_loaded_only_when_something_is_explained():
    code = (
        "import sys; from catalogs import load_catalog; from rules.advisor import advise; from rules.answers import Answers\n"
        f"advise(Answers.of({SMALL!r}), load_catalog())\n"
        "print([name for name in sys.modules if 'origins' in name or 'explanation' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=True)
    assert done.stdout.strip() == "[]"
    assert import_module("rules.stages.origins_vram").ORIGINS


@pytest.fixture(scope="module")
def cluster(catalog):
    return ground_of(consider(load(ROOT / "designs" / "sixty-four-nodes-405b.toml").answers, catalog))


class TestPlainWords:
    @pytest.mark.parametrize(
        ("word", "name"),
        [
            ("InfiniBand", "fabric.compute.technology"),
            ("4 spines", "fabric.compute.topology"),
            ("price", "cost.purchase"),
            ("racks", "facility.racks"),
            ("ZeRO-1", "memory.sharding"),
            ("step time", "performance.step"),
            ("bubble", "performance.step_parts.pipeline_bubble"),
            ("throughput", "performance.tokens_per_second"),
            ("rail-optimized", "fabric.compute.topology"),
        ],
    )
    def test_a_word_of_an_engineer_is_read_as_a_conclusion_and_says_so(self, cluster, word, name):
        found = explain(cluster, word)
        assert found.what == name
        assert found.notes[0].startswith(f"{word!r} is read as {name}")
        assert found.chains

    def test_every_word_of_the_table_means_something_of_a_cluster(self, cluster):
        for word, name in WORDS.items():
            assert explain(cluster, name).chains, word
