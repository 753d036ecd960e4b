"""Designs of the stage fabric from answers, for its tests."""

from __future__ import annotations

from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.own_server import own_server
from rules.sizing.fabric.design import design_fabric
from rules.sizing.hardware import hardware_of
from rules.sizing.plans import search_plans
from rules.sizing.workload import describe_workload


def made(catalog, node_id, units, **answers):
    given = Answers.of({"model.preset": "llama-3.1-70b", **{key.replace("__", "."): value for key, value in answers.items()}})
    context = Context(given, catalog, describe_workload(given, catalog))
    node = own_server(given, catalog) or catalog.nodes[node_id]
    gpu = catalog.gpus[node.gpu]
    gpus = units * node.gpu_count
    choice = search_plans(context.workload, hardware_of(node, gpu, catalog), gpus, given)
    return Candidate(f"{units}x-{node.id}", node, gpu, units, units * node.trays, gpus, choice), context


def designed(catalog, node_id, units, **answers):
    return design_fabric(*made(catalog, node_id, units, **answers)).design


def counts(network):
    return network.leaf, network.spine, network.core
