"""What is installed and what is tracked: pinned versions, data files in the wheel, no registry's host."""

from __future__ import annotations

import fnmatch
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from wizard import __version__

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
REGISTRY_HOSTS = ("pypi" + ".org", "python" + "hosted.org", "registry.npm" + "js.org", "conda" + ".anaconda.org", "crates" + ".io")
DATA = ("*.toml", "*.tcss", "*.json")


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], capture_output=True, cwd=ROOT, check=False)
    if done.returncode:
        pytest.skip("git is missing, or this is no checkout")
    return [ROOT / name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def constraints() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def test_both_lists_of_pinned_versions_are_the_same():
    assert constraints() == PROJECT["tool"]["uv"]["constraint-dependencies"]


def test_every_direct_dependency_is_pinned():
    pinned = {re.split(r"[=;]", line)[0] for line in constraints()}
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["dev"]]
    assert {re.split(r"[=<>;\[ ]", name)[0] for name in wanted} <= pinned
    assert all(re.fullmatch(r"[a-z0-9\-]+==[0-9.]+(; python_version [<>=]+ \"3\.\d+\")?", line) for line in constraints())


def test_the_version_is_said_once():
    assert PROJECT["project"]["version"] == __version__


def test_no_tracked_file_names_a_registry_host():
    for path in tracked():
        data = path.read_bytes()
        found = [host for host in REGISTRY_HOSTS if host.encode() in data]
        assert not found, f"{path.relative_to(ROOT)} names {found[0]}"


def test_the_lock_file_stays_out():
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert "uv.lock" in ignored
    assert ROOT / "uv.lock" not in tracked()


def test_the_entry_point_exists():
    module, _, function = PROJECT["project"]["scripts"]["cluster-wizard"].partition(":")
    assert callable(getattr(__import__(module, fromlist=[function]), function))


def data_files() -> list[str]:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return [
        path.relative_to(ROOT).as_posix()
        for path in tracked()
        if path.relative_to(ROOT).parts[0] in packages and any(fnmatch.fnmatch(path.name, pattern) for pattern in DATA)
    ]


def test_the_wheel_takes_whole_packages_and_leaves_no_data_out():
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["wizard", "rules", "catalogs"]
    assert not {"exclude", "include", "only-include"} & set(wheel)
    assert {Path(name).suffix for name in data_files()} >= {".toml", ".json", ".tcss"}
    for source in wheel["force-include"]:
        assert any((ROOT / source).glob("*.toml")), f"{source} is empty, so the wheel cannot be built"


@pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling is not installed, so no wheel can be built without a network")
def test_the_wheel_holds_every_data_file(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    assert set(data_files()) <= names
