"""Words on the command line that can be no file."""

from __future__ import annotations

import pytest

from tests.wizard.calls import call


@pytest.mark.parametrize("arguments", [["--help", "a" * 300], ["a" * 300], ["a" * 5000, "--help"], ["nul\0nul"]])
def test_a_word_that_can_be_no_file_is_no_fault_of_standard_output(arguments):
    called = call(*arguments)
    assert "standard output" not in called.err
    assert "File name too long" not in called.err
