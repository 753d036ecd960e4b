"""The only module that knows folders: the person's own catalogs, the autosave, the examples."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def config_folder() -> Path:
    """Return ~/.config/cluster-wizard, or where XDG_CONFIG_HOME says."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config") / "cluster-wizard"


def state_folder() -> Path:
    """Return ~/.local/state/cluster-wizard, or where XDG_STATE_HOME says."""
    return Path(os.environ.get("XDG_STATE_HOME") or _home() / ".local" / "state") / "cluster-wizard"


def _home() -> Path:
    """Return the person's home, or a folder for temporary files where the system knows of no home, as in some containers."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(tempfile.gettempdir())


def own_catalog_folders() -> tuple[Path, ...]:
    """Return the person's own catalog folder where it exists."""
    folder = config_folder() / "catalogs"
    try:
        return (folder,) if folder.is_dir() else ()
    except OSError:  # a home that may not be looked into
        return ()


def own_policy_files() -> tuple[Path, ...]:
    """Return the files of the person's own policies, by name."""
    try:
        return tuple(sorted((config_folder() / "policies").glob("*.toml")))
    except OSError:  # a home that may not be looked into
        return ()


def autosave_path() -> Path:
    """Return where the answers of an interview without a file are kept."""
    return state_folder() / "autosave.toml"


def examples_folder() -> Path:
    """Return the folder of the example designs: beside the packages in a checkout, inside the package when installed."""
    checkout = Path(__file__).parent.parent / "designs"
    return checkout if checkout.is_dir() else Path(__file__).parent / "examples"
