"""The same answers give the same bytes: whatever the hash seed, the locale, the time zone, the threads, the version of Python."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from catalogs import load_catalog
from rules.advisor import advise, consider
from rules.answers import Answers
from rules.assembly import assemble
from rules.judging import forget
from tests.wizard.calls import ROOT
from wizard.keeping import saved_text
from wizard.report.contents import contents
from wizard.report.page import page
from wizard.versions import meta_of

META = {"name": "same", "created": "2026-01-01"}
SERVER = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"]}
WISHES = (
    SERVER,
    SERVER | {"facility.rack_power": "8 kW"},
    {"model.preset": "llama-3.1-8b", "scale.nodes": 1, "own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 4},
)
CODE = "from tests.wizard.test_same_bytes import digest; print(digest())"
OWN_SERVER = {"model.preset": "gpt2-xl", "scale.nodes": 1, "own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 4}
MOST_GROWTH_KIB = 1.0
"""What a run may leave behind; one finding that is kept is as much."""
LEAST_SEEN_MIB = 2.0
"""What an allocator takes and gives back between two looks."""


def digest() -> str:
    """Return a hash over the design files of all wishes, and the report of the first with its pictures."""
    import hashlib

    catalog = load_catalog()
    texts = [saved_text(advise(Answers.of(wish), catalog), META, catalog) for wish in WISHES]
    considered = consider(Answers.of(WISHES[0]), catalog)
    design = assemble(considered.context, considered.judged, considered.ranking, considered.rejected)
    texts.append(page(contents(design, considered, meta_of("same", catalog, META))))
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def elsewhere(python: str = sys.executable, **environment: str) -> str:
    """Return the hash that another process finds."""
    run = subprocess.run(
        [python, "-c", CODE],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.strip()


def threads_of_numpy(count: int) -> dict[str, str]:
    """Return the environment that gives the libraries behind numpy so many threads."""
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(count))


@pytest.fixture(scope="module")
def here() -> str:
    return digest()


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Kathmandu", **threads_of_numpy(1)},
        {"PYTHONHASHSEED": "4242", "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "America/St_Johns", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "7", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Chatham", **threads_of_numpy(3)},
    ],
    ids=["C", "de_DE", "tr_TR"],
)
def test_hash_seed_locale_time_zone_and_threads_of_numpy(here, environment, tmp_path):
    if environment["LC_ALL"] != "C":
        environment = environment | {"LOCPATH": made_locale(environment["LC_ALL"], tmp_path)}
    assert elsewhere(**environment) == here


def made_locale(name: str, folder: Path) -> str:
    """Make a locale in a folder, so that the test does not run in C unawares; skip where the sources of locales are not installed."""
    language, _, encoding = name.partition(".")
    maker = shutil.which("localedef")
    made = maker and subprocess.run([maker, "-i", language, "-f", encoding, str(folder / name)], capture_output=True, check=False)
    if not made or not (folder / name).exists():
        pytest.skip(f"{name} cannot be made: install the package locales, which has localedef and its sources")
    speaks = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(1.5))"
    told = subprocess.run(
        [sys.executable, "-c", speaks],
        env=os.environ | {"LOCPATH": str(folder), "LC_ALL": name},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "1,5"
    return str(folder)


def test_threads():
    """Several threads derive at once what none has derived before; each finds what one alone finds."""
    catalog = load_catalog()
    wishes = [SERVER | {"scale.nodes": nodes} for nodes in (3, 5, 9, 17)] + list(WISHES)

    def made(wish: dict[str, object]) -> str:
        return saved_text(advise(Answers.of(wish), catalog), META, catalog)

    forget()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(made, wishes * 2))
    forget()
    assert found == [made(wish) for wish in wishes] * 2


def pythons() -> list[str]:
    """Return interpreters of other versions that have what the program needs: of .venv-3.12 and the like, or named in an environment."""
    named = os.environ.get("CLUSTER_WIZARD_PYTHONS", "").split(os.pathsep)
    return [str(path) for path in (*sorted(ROOT.glob(".venv-3.*/bin/python")), *(Path(name) for name in named if name)) if path.exists()]


@pytest.mark.slow
def test_other_versions_of_python(here):
    """`make pythons` makes the environments."""
    found = pythons()
    if not found:
        pytest.skip("no other Python: 'make pythons' makes .venv-3.12 and .venv-3.13, or name interpreters in CLUSTER_WIZARD_PYTHONS")
    for python in found:
        assert elsewhere(shutil.which(python) or python) == here, python


@pytest.mark.parametrize(
    ("wish", "limits", "warm", "runs"),
    [
        (OWN_SERVER, range(2, 9), 70, 150),
        pytest.param(OWN_SERVER, range(2, 9), 1_000, 20_000, marks=pytest.mark.slow),
        pytest.param(SERVER, range(40, 47), 1_000, 2_000, marks=pytest.mark.slow),
    ],
    ids=["a few", "one node", "fabric"],
)
def test_memory_stays_flat_over_many_runs(wish, limits, warm, runs):
    """Twenty thousand of one node take two minutes, two thousand of a cluster as long; a few are made whenever tests are.

    Caches are full after `warm` runs. Each run is compared with its first now and then.
    """
    catalog = load_catalog()
    wishes = [Answers.of(wish | {"facility.total_power": f"{kilowatts} kW"}) for kilowatts in limits]
    first = [advise(wish, catalog).document() for wish in wishes]
    for number in range(warm):
        advise(wishes[number % len(wishes)], catalog)
    before = resident_mib()
    for number in range(runs):
        design = advise(wishes[number % len(wishes)], catalog)
        if number % min(500, runs // 10) == 0:
            assert design.document() == first[number % len(wishes)], number
    assert resident_mib() - before < LEAST_SEEN_MIB + runs * MOST_GROWTH_KIB / 1024


def resident_mib() -> float:
    """Return the memory that this process holds now; the most that it held where the system does not say."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
