"""Answers and homes of the tests of the commands serve here too."""

from tests.wizard.conftest import own_home, small_answers, small_design  # noqa: F401 - fixtures
