"""Plain mode: the same questions, checks, design and explanations as the wizard, line by line in a pipe."""

from __future__ import annotations

import re

import pytest

from rules.answers import Answers
from tests.wizard.calls import call
from wizard.files import load
from wizard.interview import load_interview
from wizard.plain.commands import COMMANDS


@pytest.fixture(autouse=True)
def quiet_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.chdir(tmp_path)


def talk(*lines: str, arguments: tuple[str, ...] = ()):
    return call("plain", *arguments, stdin="".join(f"{line}\n" for line in lines).encode())


SMALL = ("LoRA", "llama-3.1-8b", "go scale", "fixed", "1")


def test_a_whole_interview_asks_every_question_that_the_wizard_asks():
    called = talk(*[""] * 80)
    interview = load_interview()
    for step in interview.steps:
        assert f"Step: {step.title}." in called.out
        for question in interview.of_step(step.id, Answers()):
            assert question.ask in called.out, question.key
    assert "All questions were asked." in called.out
    assert "Traceback" not in called.out + called.err


def test_the_design_is_that_of_the_design_command(tmp_path):
    talk(*SMALL, "done", "save mine.toml", "quit")
    answers = tmp_path / "answers.toml"
    answers.write_text('[workload]\nkind = "fine_tuning_lora"\n[model]\npreset = "llama-3.1-8b"\n[scale]\nmode = "fixed"\nnodes = 1\n')
    call("design", answers, "-o", tmp_path / "other.toml")
    mine, other = load(tmp_path / "mine.toml"), load(tmp_path / "other.toml")
    assert mine.answers.values == other.answers.values
    assert mine.document["design"] == other.document["design"]
    assert mine.document["bom"] == other.document["bom"]


def test_the_design_is_told_in_words_and_without_signs():
    told = talk(*SMALL, "done", "design", "quit").out.partition("Plan: ")[2]
    figures = told.splitlines()[1]
    assert re.match(r"Memory per GPU: [\d.]+ of [\d.]+ GiB, step ", figures)
    assert figures.endswith(".")
    assert not set("·≥✗▲~") & set(told)


def test_a_choice_is_answered_by_number_label_or_name_and_a_wrong_one_is_asked_again():
    called = talk("9", "lora", "back", "3", "back", "fine_tuning_lora", "answers", "quit", "quit")
    assert "Not taken: '9' is not one of pretraining, full fine-tuning, LoRA, QLoRA, vision, recommendation." in called.out
    assert called.out.count("Noted: What kind of work is LoRA.") == 3
    assert "What kind of work: LoRA." in called.out


def test_units_and_wrong_dimensions_are_checked_as_in_the_wizard():
    called = talk("go facility.total_power", "3 apples", "4 MW", "answers", "quit", "quit")
    assert "Not taken:" in called.out
    assert "expected a quantity in kW" in called.out
    assert "Power in all: 4 MW." in called.out


def test_back_never_loses_an_answer_and_enter_keeps_it():
    called = talk("pretraining", "back", "", "back", "quit", "quit")
    assert called.out.count("Now: pretraining, from you. Enter keeps it.") == 2


def test_i_dont_know_says_what_is_assumed():
    for typed in ("unknown", "?"):
        called = talk(typed, "answers", "quit", "quit")
        assert "Noted: you do not know; pretraining is assumed" in called.out
        assert "What kind of work: unknown" in called.out


def test_part_of_a_name_finds_the_model_and_several_are_listed():
    called = talk("pretraining", "llama 3.1 405", "back", "llama 3.1", "quit", "quit")
    assert "Noted: Model is llama-3.1-405b." in called.out
    assert "Not taken: the catalog knows no model 'llama 3.1'" in called.out
    assert "  llama-3.1-70b: " in called.out


def test_why_teaches_and_how_goes_down_to_answers():
    called = talk("why facility.rack_power", "how compute.scale_up_needed", "how nonsense_of_this_kind", "quit")
    for label in ("The term", "Why it is asked", "Typical", "Where to find it", "If unknown", "Rules that rest on it"):
        assert f"  {label}: " in called.out
    assert "answer model." in called.out
    assert "There is nothing called 'nonsense_of_this_kind'" in called.out


def test_what_if_changes_nothing_and_set_does():
    called = talk(*SMALL, "what-if scale.nodes=2", "answers", "set scale.nodes=2", "answers", "undo", "answers", "quit", "quit")
    told = [line for line in called.out.splitlines() if line.startswith("  Nodes: ")]
    assert told == ["  Nodes: 1. (scale.nodes)", "  Nodes: 2. (scale.nodes)", "  Nodes: 1. (scale.nodes)"]
    assert "before" in called.out
    assert "Taken back: Nodes 2 becomes 1." in called.out


def test_why_not_names_what_stands_against_it_and_what_would_admit_it():
    told = talk(*SMALL, "set preferences.gpus=nvidia-l40s", "why not h200", "why-not quantum", "quit").out
    assert re.search(r"NVIDIA H200 SXM5 141 GB, looked at as .*:\n  Against it: ", told)
    assert re.search(r"  This would admit it: .*\(preferences\.gpus\)", told)
    assert "'quantum'" in told


def test_long_work_is_stopped_by_ctrl_c_and_the_conversation_goes_on(monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wizard.advice.Adviser.why_not", interrupted)
    told = talk(*SMALL, "why-not h200", "answers", "quit")
    assert "Stopped; nothing was changed." in told.out
    assert "What kind of work" in told.out.partition("Stopped")[2]


def test_the_report_is_written_and_a_wrong_picture_is_named(tmp_path):
    told = talk(*SMALL, "report mine", f"report {tmp_path}/none/page.html", "look memry", "quit").out
    assert (tmp_path / "mine.md").read_text().startswith("# ")
    assert "Wrote mine.md." in told
    assert "Not written: " in told
    assert "There is no picture 'memry'; did you mean 'memory'?" in told


def test_a_conflict_names_the_answers_in_conflict_and_its_change_shows_before_and_after():
    called = talk(*SMALL, "100 USD", "conflicts", "quit", "quit")
    assert "Conflict: " in called.out
    assert "budget.purchase = 100 USD cannot hold with what is trained." in called.out
    number = next(line.split()[1].rstrip(":") for line in called.out.splitlines() if "budget.purchase: raise it to" in line)
    called = talk(*SMALL, "100 USD", f"fix {number}", "conflicts", "undo", "conflicts", "quit", "quit")
    figures = next(line for line in called.out.splitlines() if line.startswith("conflicts "))
    assert figures.split()[1:] == ["1", "0", "\N{MINUS SIGN}1", "better"]
    after = called.out.partition("> conflicts")[2]
    assert after.startswith("\nThere is no conflict.")
    called = talk(*SMALL, "set facility.total_power=100 W", "fix all", "conflicts", "undo", "answers", "quit", "quit")
    assert "fixed power.total_exceeded: facility.total_power = 100 W → " in called.out
    assert "All of this was changed; undo takes it back at once." in called.out
    assert called.out.partition("> conflicts")[2].startswith("\nThere is no conflict.")
    assert "100 W" in called.out.partition("Taken back")[2].partition("> answers")[2]
    called = talk(*SMALL, "certainty", "100 USD", "fix all", "quit", "quit")
    assert re.search(r"^the run [\d.]+ days \([\d.]+ to [\d.]+\)\.$", called.out, re.MULTILINE)
    assert "fixed choice.budget_unproven: budget.purchase = 100 USD → " in called.out  # what the cheapest one with a price takes


def test_the_exit_code_tells_whether_the_design_fits(tmp_path):
    assert talk(*SMALL, "done", "quit", "quit").code == 0
    assert talk(*SMALL, "100 USD", "done", "quit", "quit").code == 1


def test_the_end_of_a_pipe_writes_the_design_and_loses_no_answer(tmp_path):
    called = talk(*SMALL, arguments=("-o", "end.toml"))
    assert "wrote end.toml" in called.err
    assert load(tmp_path / "end.toml").answers.values["scale.nodes"] == 1
    called = talk("LoRA")
    assert "Your answers are kept in" in called.err
    kept = tmp_path / "state" / "cluster-wizard" / "autosave.toml"
    assert load(kept).answers.values["workload.kind"] == "fine_tuning_lora"


def test_only_the_first_questions_are_asked_where_wanted():
    called = talk(*[""] * 10, arguments=("--first",))
    assert "All questions were asked." in called.out
    assert "Which optimizer?" not in called.out


def test_every_command_runs_in_the_first_question_and_says_something():
    for name, command in COMMANDS.items():
        called = talk(f"{name} x" if command.takes and not command.takes.startswith("[") else name, "quit", "quit")
        said = called.out.partition(f"> {name}")[2].partition("> quit")[0]
        assert said.strip() or name == "quit", name
        assert "Traceback" not in called.err, name


def test_states_are_words_and_every_line_is_plain_text():
    called = talk(*SMALL, "100 USD", "design", "look candidates", "quit", "quit")
    assert not set("✗▲✓●○█▓│─") & set(called.out)
    assert "\x1b" not in called.out


def test_an_answer_that_is_also_a_command_can_be_given():
    assert "Noted: Country or region is design." in talk("go facility.region", "=design", "quit", "quit").out


def test_a_situation_fills_in_answers_and_a_wrong_one_lists_them():
    assert "llama-3.1-70b" in talk("answers", "quit", "quit", arguments=("--situation", "fine-tune")).out
    wrong = talk(arguments=("--situation", "nothing"))
    assert wrong.code == 2
    assert "pretrain-8b" in wrong.err


def test_enter_after_the_last_question_does_not_tell_the_whole_design_again():
    called = talk(*[""] * 90)
    assert called.out.count("All questions were asked.") == 1
    assert called.out.count("Commands: reasons") > 1
