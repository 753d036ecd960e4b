"""The config in the wizard: keys, theme, region, currency, decimal comma."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.screen_text import screen_text
from tests.tui.support import NARROW, press, rest, row, small_engine, type_text
from wizard.config import load_config
from wizard.files import FileError
from wizard.preferences import Preferences, use
from wizard.tui.actions import ACTIONS, take_keys
from wizard.tui.app import WizardApp

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def as_before():
    yield
    use(Preferences())
    take_keys({})


def app_with(folder, text):
    path = folder / "config.toml"
    path.write_text(text)
    return WizardApp(None, advise=small_engine, config=load_config(str(path)))


@asynccontextmanager
async def configured(folder, text):
    app = app_with(folder, text)
    async with app.run_test(size=NARROW) as pilot:
        await rest(app, pilot)
        await press(app, pilot, "enter")
        yield app, pilot


async def test_keys_can_be_remapped_and_are_shown_everywhere(tmp_path):
    async with configured(tmp_path, '[keymap]\nshow_design = "f11"\nnext_step = "ctrl+f, f3"') as (app, pilot):
        text = screen_text(app)
        assert "F11 design" in text
        assert "^f next" in text
        assert "step 2 of 5" in await press(app, pilot, "ctrl+f")
        assert "step 2 of 5" in await press(app, pilot, "pagedown")  # no longer its key
        assert "Chosen:" in await press(app, pilot, "f11")
        await press(app, pilot, "f1")
        assert "F11" in app.screen._text.plain


@pytest.mark.parametrize(
    ("keymap", "message"),
    [
        ('lok = "f6"', "keymap.lok: no such action; did you mean 'look'?"),
        ('look = "crtl+g"', "keymap.look: 'crtl+g' is no key"),
        ('look = "nonsense"', "keymap.look: 'nonsense' is no key"),
        ('look = "ctrl+m"', "terminals send it as Enter"),
        ('look = "f4"', "keymap.look: 'f4' belongs to show_design"),
    ],
)
def test_a_wrong_keymap_names_action_key_and_reason(tmp_path, keymap, message):
    with pytest.raises(FileError) as found:
        app_with(tmp_path, f"[keymap]\n{keymap}")
    assert message in str(found.value)


def test_every_action_can_be_remapped(tmp_path):
    for action in ACTIONS:
        app_with(tmp_path, f'[keymap]\n{action.id} = "alt+f9"')


async def test_theme_and_region_are_those_of_the_config(tmp_path):
    async with configured(tmp_path, 'theme = "textual-light"\nregion = "Finland"') as (app, pilot):
        assert app.theme == "textual-light"
        text = await press(app, pilot, "pagedown", "pagedown", "pagedown")
        assert "Finland" in text
        assert "config" in text
        assert "· new" in text  # nobody has said anything yet


def test_the_theme_of_the_environment_is_used():
    """Textual reads TEXTUAL_THEME when it is loaded, so this is a program of its own."""
    code = "from wizard.tui.app import WizardApp; print(WizardApp().current_theme.name)"
    settings = {**os.environ, "TEXTUAL_THEME": "textual-light"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=settings, cwd=ROOT)
    assert done.stdout.strip() == "textual-light", done.stderr


def test_a_theme_that_is_not_there_names_the_nearest(tmp_path):
    with pytest.raises(FileError, match=r"no such theme; did you mean 'textual-light'\?; there are .*textual-dark"):
        app_with(tmp_path, 'theme = "textual-lite"')


async def test_amounts_and_commas_are_typed_and_shown_as_the_person_does(tmp_path):
    async with configured(tmp_path, 'decimal = "comma"\n[currency]\ncode = "EUR"\nper_usd = 0.5') as (app, pilot):
        text = await press(app, pilot, "pagedown", "pagedown")
        assert "700k EUR" in text  # two servers at 700,000 USD
        assert "62,1/79,6 GiB" in text
        await press(app, pilot, "tab", "tab")
        await type_text(app, pilot, "1,5M EUR")
        assert app.work.answers.number("budget.purchase") == 3e6
        assert row(app, "budget.purchase").problem == ""
        await press(app, pilot, "pagedown", "tab", "tab", "tab", "tab")
        await type_text(app, pilot, "1,5 MW")
        assert app.work.answers.values["facility.total_power"] == "1.5 MW"
        assert row(app, "facility.total_power").entry.value == "1,5 MW"
