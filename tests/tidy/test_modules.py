"""Modules import each other in one direction, and a class name means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.tidy.source import imports, modules, stair

# Structs of messages and of stored records have the names that Kafka gives them.
KAFKAS_NAMES = ("ottla.wire.messages.", "ottla.wire.stored.")
# A synchronous client has the name of the client that it is the face of.
FACES = ("ottla.client.sync.",)


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {module: set(imported) for module, imported in imports().items()}
    while free := [module for module, imported in graph.items() if not imported]:
        for module in free:
            del graph[module]
        for imported in graph.values():
            imported.difference_update(free)
    # What is left is in a cycle or imports one.
    assert not graph, "cycles among: " + ", ".join(sorted(graph))


@pytest.mark.parametrize(
    "package", ["ottla", "ottla.broker", "ottla.storage", "ottla.simulation", "ottla.cli"]
)
def test_sub_packages_form_a_stair(package: str) -> None:
    assert stair(package)


def test_a_class_name_means_one_thing() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in modules().items():
        if not module.startswith(KAFKAS_NAMES + FACES):
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(module)
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_packages_that_hold_values_run_nothing_when_imported() -> None:
    allowed = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.Assign, ast.AnnAssign)
    found = [
        f"{module}:{node.lineno}"
        for module, tree in modules().items()
        if module.startswith(("ottla.wire.", "ottla.model."))
        for node in tree.body
        if not isinstance(node, (*allowed, ast.Assert))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    assert not found
