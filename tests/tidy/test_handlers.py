"""Handlers say their versions and errors, and name parts of a broker by what they are."""

from __future__ import annotations

import ast
import inspect
import re
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

import ottla.broker.handlers
from ottla.broker.network.handling import parts_of
from ottla.wire.apis import ApiKey
from tests.support.nodes.one_node import OneNode

NAMES = [module.name for module in iter_modules(ottla.broker.handlers.__path__)]
# These answer what they find, and have no errors of their own.
WITHOUT_ERRORS = {"list_partition_reassignments"}

# What a partition refuses, by the method that a handler calls.
REFUSALS = {
    "require_leader": {"NOT_LEADER_OR_FOLLOWER"},
    "check_leader_epoch": {"FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"},
    "require_log": {"KAFKA_STORAGE_ERROR"},
}


@pytest.mark.parametrize("name", NAMES)
def test_a_handler_opens_with_its_versions_and_errors(name: str) -> None:
    text = import_module(f"ottla.broker.handlers.{name}").__doc__ or ""
    assert re.search(r"version", text.splitlines()[0])
    assert name in WITHOUT_ERRORS or re.search(r"[Ee]rror|[A-Z]+(_[A-Z]+)+", text)


@pytest.mark.parametrize("name", NAMES)
def test_a_handler_lists_the_errors_of_the_partitions_that_it_uses(name: str) -> None:
    module = import_module(f"ottla.broker.handlers.{name}")
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    listed = set(re.findall(r"[A-Z]+(?:_[A-Z]+)+", module.__doc__ or ""))
    for method in called & REFUSALS.keys():
        assert listed >= REFUSALS[method], method


def test_every_part_that_a_handler_names_is_what_it_says() -> None:
    node = OneNode(configs={"ottla.metrics.listener": "0"})
    for name in NAMES:
        api = node.broker.apis[ApiKey[name.upper()]]
        handler: Any = api.handler
        while not isinstance(handler, partial):
            # The node stays awake between the requests of a transaction.
            handler = inspect.getclosurevars(handler).nonlocals["bound"]
        declared = inspect.signature(handler.func).parameters
        assert parts_of(handler.func) == list(handler.keywords)
        for part, given in handler.keywords.items():
            wanted = re.match(r"\w+", str(declared[part].annotation))
            assert wanted is not None
            bases = {base.__name__ for base in type(given).__mro__}
            is_protocol = wanted.group() in ("Clock", "Dice", "Background", "BusyPoll", "Mapping")
            assert is_protocol or wanted.group() in bases, f"{name}: {part}"
    node.abandon()


def test_no_handler_is_given_the_whole_broker() -> None:
    for name in NAMES:
        module = import_module(f"ottla.broker.handlers.{name}")
        tree = ast.parse(inspect.getsource(module))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert "ottla.broker.broker" not in imported
