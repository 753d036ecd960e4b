"""Where policies come from: the person's own folder, files named on the command line, and the answers or design file itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.policies import Policy, PolicyError, merged, parse_policies
from wizard.files import FileError, read_toml
from wizard.places import own_policy_files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rules.answers import Answers
    from wizard.files import Loaded

_KEYS = ("name", "notes", "policy")


def read_policies(path: Path | str) -> tuple[Policy, ...]:
    """Return the policies of a file; raises FileError."""
    document = read_toml(path)
    odd = next((key for key in document if key not in _KEYS), None)
    if odd is not None:
        raise FileError(path, f"{odd[:60]}: no such table; a file of policies holds [[policy]] tables, and name and notes as text")
    if not document.get("policy"):
        raise FileError(path, "holds no [[policy]] tables")
    try:
        return parse_policies(document["policy"])
    except PolicyError as error:
        raise FileError(path, str(error)) from None


def site_policies(files: Iterable[Path | str] = ()) -> tuple[Policy, ...]:
    """Return the policies of the person's own folder, then those of `files`; raises FileError.

    Of two policies with the same id the later one holds, so a file can replace a policy of the folder.
    """
    return merged(*(read_policies(path) for path in (*own_policy_files(), *files)))


def under_policies(loaded: Loaded, files: Iterable[Path | str] = ()) -> Answers:
    """Return the answers of a file under the policies that hold for it; raises FileError.

    A design keeps the policies that it was saved with, so that it can be derived again anywhere; answers come under those of the
    person's own folder, then their own. Files that are named come last.
    """
    named = [read_policies(path) for path in files]
    own = () if loaded.is_design else site_policies()
    policies = merged(own, loaded.answers.policies, *named)
    return loaded.answers.with_policies(policies) if policies else loaded.answers
