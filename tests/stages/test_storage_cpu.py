"""The storage and host stage: what it states, keeps, writes and bills."""

from __future__ import annotations

import math

import pytest

from catalogs import load_catalog
from catalogs.quantities import parse_quantity
from rules.answers import Answers
from rules.candidate import Context
from rules.own_server import own_server
from rules.proposals import candidate_of
from rules.sizing.workload import describe_workload
from rules.stages import storage_cpu


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def assess(catalog, units, answers, node="nvidia-dgx-h100"):
    given = Answers.of(answers)
    context = Context(given, catalog, describe_workload(given, catalog))
    record = own_server(given, catalog) or catalog.nodes[node]
    candidate = candidate_of(record, catalog.gpus[record.gpu], units, context, "test")
    fact = storage_cpu.assess(candidate, context)
    candidate.facts[storage_cpu.STAGE] = fact
    return candidate, context, fact


LLAMA = {"model.preset": "llama-3.1-405b", "training.tokens": "15.6T"}


def test_llama3_needs_less_than_it_was_given(catalog):
    """Llama 3's cluster had 2 TB/s sustained; NVIDIA's reference for 16,384 GPUs is 960 GB/s; its text reads a few GB/s at most."""
    _, _, fact = assess(catalog, 2048, LLAMA)
    assert fact["dataset_read_gb_per_s"] < 1.0
    assert fact["write_needed_gb_per_s"] < 1000.0
    assert fact["read_offered_gb_per_s"] >= fact["read_reference_gb_per_s"] == pytest.approx(960, rel=0.01)
    assert fact["checkpoint_gb"] == pytest.approx(5290, rel=0.1)


def test_facts_are_those_declared_also_without_a_plan(catalog):
    names = {each.name for each in storage_cpu.FACTS}
    for units, preset in ((8, "llama-3.1-8b"), (1, "llama-3.1-405b")):
        candidate, _, fact = assess(catalog, units, {"model.preset": preset, "scale.nodes": units})
        assert set(fact) == names
        assert fact["has_plan"] is (candidate.choice is not None)
    assert fact["has_plan"] is False
    assert fact["dataset_read_gb_per_s"] == 0.0


def test_nothing_unknown_becomes_a_number(catalog):
    """An own server that says nothing of its host: flags say so, and the section leaves the values out."""
    answers = {"model.preset": "gpt2-xl", "own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 8}
    candidate, context, fact = assess(catalog, 1, answers)
    assert (fact["cores_known"], fact["memory_known"], fact["local_known"]) == (False, False, False)
    section = storage_cpu.describe(candidate, context)["host"]
    assert "cores_offered" not in section
    assert "memory_offered" not in section


def test_own_server_speaks_for_itself(catalog):
    answers = {
        "model.preset": "gpt2-xl",
        "own_server.gpu": "nvidia-rtx-4090",
        "own_server.gpus": 8,
        "own_server.cpu_cores": 64,
        "own_server.memory": "512 GB",
    }
    candidate, _, fact = assess(catalog, 1, answers)
    assert candidate.host.cores_offered == 64
    assert fact["memory_offered_gb"] == pytest.approx(512)


def test_sections_read_back(catalog):
    candidate, context, _ = assess(catalog, 64, LLAMA)
    sections = storage_cpu.describe(candidate, context)
    assert set(sections) == {"host", "storage", "storage.dataset", "storage.checkpoints", "storage.home"}
    for name, value in sections["storage"].items():
        if isinstance(value, str):
            parse_quantity(value)
        else:
            assert name in ("systems", "tier", "notes")


def test_the_three_uses_stand_apart(catalog):
    """405B in bf16 with AdamW: 14 bytes per parameter saved (BigScience tr11); 32 NFS clients reach 16 to 22 % of a server's rate."""
    candidate, context, _ = assess(catalog, 64, LLAMA)
    sections = storage_cpu.describe(candidate, context)
    assert sections["storage.checkpoints"]["bytes_per_trained_parameter"] == pytest.approx(14.0, abs=0.1)
    assert sections["storage.home"]["nfs_share_of_rated"] == [0.16, 0.22]
    assert sections["storage.home"]["nfs_slots_per_connection"] == 128
    assert sections["storage.home"]["nfs_connections_per_node"] == 1  # of 24 that fill the port with requests of 4 KiB at 1 ms
    assert sections["storage.dataset"]["kind"] == "text"
    local, shared = sections["storage"]["tier"]
    assert local["name"] == "local NVMe of the nodes"
    assert shared["grows_by"] == "1 node"


def test_users_who_were_counted_set_the_home_directories(catalog):
    candidate, context, _ = assess(catalog, 8, {"model.preset": "llama-3.1-8b", "data.users": 300})
    assert storage_cpu.describe(candidate, context)["storage.home"]["users"] == 300
    assert candidate.storage.home_capacity.to("TB").magnitude == pytest.approx(300 * 0.2)


def test_petabytes_are_kept_in_an_object_store_and_trained_on_from_a_file_system(catalog):
    """5 PB with a quarter of reserve need 55 servers of 115.2 TB usable at least (Ceph 6+2 on ten drives of 15.36 TB)."""
    answers = {"model.preset": "llama-3.1-70b", "data.size": "5 PB", "scale.nodes": 64}
    candidate, context, fact = assess(catalog, 64, answers)
    assert fact["shared_kind"] == "both"
    assert fact["object_store"].startswith("Ceph on PowerEdge R6615")
    assert fact["object_units"] >= math.ceil(5000 * 1.25 / 115.2)
    assert fact["object_binding"] == "capacity"
    assert fact["object_read_gb_per_s"] > fact["object_fill_gb_per_s"]
    assert len(storage_cpu.bill(candidate, context)) == 3


def test_checkpoints_can_be_asked_for_in_one_way(catalog):
    for mode in ("synchronous", "asynchronous"):
        candidate, _, fact = assess(catalog, 16, {"model.preset": "llama-3.1-70b", "preferences.checkpoints": mode})
        assert fact["checkpoint_mode"] == mode
        assert candidate.storage.mode == mode


def test_files_of_one_image_each_are_counted_by_the_second(catalog):
    """ImageNet's JPEG files have 110 KB on average: as many requests as images."""
    answers = {"workload.kind": "vision", "model.preset": "resnet50"}
    packed, files = (assess(catalog, 16, {**answers, "data.access": access})[2] for access in ("sequential", "small_files"))
    assert files["dataset_read_gb_per_s"] == pytest.approx(packed["dataset_read_gb_per_s"])
    assert files["operations"] == pytest.approx(files["dataset_read_gb_per_s"] * 1e9 / 114_660, rel=0.05)
    assert files["operations"] > 5 * packed["operations"]


def test_homes_are_billed_apart_from_the_shared_system(catalog):
    candidate, context, _ = assess(catalog, 64, LLAMA)
    lines = storage_cpu.bill(candidate, context)
    assert [line.category for line in lines] == ["storage", "storage"]
    assert lines[0].item in catalog.storage
    assert lines[0].quantity >= 8
    assert lines[1].item == "home-file-server"


def test_a_single_node_buys_no_storage(catalog):
    candidate, context, fact = assess(catalog, 1, {"model.preset": "llama-3.1-8b"})
    assert fact["shared_kind"] == "local"
    assert storage_cpu.bill(candidate, context) == []


@pytest.mark.parametrize(("asked", "items"), [("object_store", ["ceph-rgw-r760"]), ("both", ["weka-nitro-155", "ceph-rgw-r760"])])
def test_the_kind_that_was_asked_for_is_billed(catalog, asked, items):
    candidate, context, _ = assess(catalog, 16, {"model.preset": "llama-3.1-70b", "preferences.storage": asked})
    assert [line.item for line in storage_cpu.bill(candidate, context)] == [*items, "home-file-server"]


def test_a_faster_node_network_never_slows_checkpoints(catalog):
    own = {"model.preset": "llama-3.1-8b", "own_server.gpu": "nvidia-l40s", "own_server.gpus": 8}
    times = []
    for speed in ("10 Gb/s", "100 Gb/s", "400 Gb/s"):
        candidate, _, _ = assess(catalog, 16, {**own, "own_server.nic_speed": speed})
        times.append(candidate.storage.checkpoint_write_time.to("s").magnitude)
    assert times[0] > times[1] >= times[2]


def test_a_single_node_is_promised_no_file_server(catalog):
    """What the notes name is in the bill, and what is not in the bill is not named as bought."""
    candidate, context, _ = assess(catalog, 1, {"model.preset": "llama-3.1-8b"})
    notes = " ".join(storage_cpu.describe(candidate, context)["storage"]["notes"])
    assert "file server of their own" not in notes
    assert "buys none" in notes
    several, context, _ = assess(catalog, 8, {"model.preset": "llama-3.1-8b"})
    assert "file server of their own" in " ".join(storage_cpu.describe(several, context)["storage"]["notes"])
    assert "home-file-server" in [line.item for line in storage_cpu.bill(several, context)]


def test_no_time_is_stated_for_drives_of_unknown_rate(catalog):
    candidate, context, _ = assess(catalog, 1, {"model.preset": "llama-3.1-8b"})
    section = storage_cpu.describe(candidate, context)["storage"]
    assert "checkpoint_write_time" not in section
    assert any("no write rate is known" in note for note in section["notes"])
    shared, context, _ = assess(catalog, 64, LLAMA)
    assert "checkpoint_write_time" in storage_cpu.describe(shared, context)["storage"]


def test_a_short_run_saves_at_its_end(catalog):
    """A run of less than an hour with a checkpoint every three hours would never save."""
    answers = {"model.preset": "llama-3.1-8b", "workload.kind": "fine_tuning_lora", "training.tokens": "20M"}
    candidate, context, _ = assess(catalog, 1, answers)
    run = context.workload.units_total / candidate.choice.step.units_per_second
    assert run < 3 * 3600
    assert candidate.storage.checkpoint_interval.to("s").magnitude <= run * 1.001


def test_shared_memory_is_said_to_be_shared(catalog):
    candidate, context, fact = assess(
        catalog, 1, {"model.preset": "llama-3.1-8b", "workload.kind": "fine_tuning_qlora"}, node="nvidia-dgx-spark"
    )
    assert fact["memory_shared"] is True
    assert any("same chips" in note for note in storage_cpu.describe(candidate, context)["host"]["notes"])


def test_images_that_processors_decode_too_slowly_lengthen_the_step(catalog):
    """Cores wanted over cores there: what the fact says 32 cores lack, the section says of the step."""
    answers = {"workload.kind": "vision", "model.preset": "resnet50", "own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 8}
    answers |= {"own_server.cpu_cores": 32, "own_server.memory": "512 GB"}
    candidate, context, fact = assess(catalog, 1, answers)
    assert fact["decode_cores"] > 32
    dataset = storage_cpu.describe(candidate, context)["storage.dataset"]
    assert dataset["step_longer_by"] == pytest.approx(fact["decode_cores"] / 32 - 1, abs=1e-3)
    quick, context, fact = assess(catalog, 64, LLAMA)
    assert fact["decode_cores"] == 0
    assert "step_longer_by" not in storage_cpu.describe(quick, context)["storage.dataset"]


def test_data_and_homes_of_a_small_cluster_are_billed_apart(catalog):
    """Two servers share data over NFS; their users' homes stand on a file server of their own, which has a price of its own."""
    candidate, context, fact = assess(catalog, 2, {"model.preset": "llama-3.1-8b", "training.tokens": "10B", "data.users": 120})
    assert fact["shared_kind"] == "nfs_server"
    assert [line.item for line in storage_cpu.bill(candidate, context)] == ["nfs-file-server", "home-file-server"]
    assert any("120 users, on a file server" in note for note in candidate.storage.notes)


def test_why_no_file_server_is_chosen_or_the_one_of_the_maker_asked_for(catalog):
    """NetApp states neither what a pair of A900 writes nor what it holds; named, it is taken with that unsaid."""
    candidate, context, _ = assess(catalog, 64, LLAMA)
    note = storage_cpu.bill(candidate, context)[-1].note
    assert "AFF A900 pair (NFS over RDMA, pNFS): write rate, capacity" in note
    named, asked, _ = assess(catalog, 64, {**LLAMA, "preferences.vendors": ["NVIDIA", "NetApp"]})
    line = storage_cpu.bill(named, asked)[-1]
    assert line.item == "netapp-aff-a900"
    assert "not published" in line.note


def test_storage_is_chosen_by_cost_where_it_is_known(catalog):
    """Unpriced, the system that draws least stands first and says so; a quote of another one turns that round."""
    _, _, plain = assess(catalog, 64, LLAMA)
    assert plain["system_because"].startswith("no cost is known, and it draws least of the")
    quoted = {**LLAMA, "budget.own_prices": ["netapp-beegfs-ef600-15-3 = 300k USD"]}
    candidate, _, fact = assess(catalog, 64, quoted)
    assert "netapp-beegfs-ef600-15-3" in candidate.storage.systems
    assert fact["system_because"].startswith("it costs least of the 1 with a known cost")
