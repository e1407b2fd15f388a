"""The product's source as the tests of this folder read it: modules, what they import, classes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package by its name, parsed."""
    return {_name(path): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def path_of(module: str) -> Path:
    base = SOURCE.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


@cache
def imports() -> dict[str, set[str]]:
    """Which modules of the package each one imports anywhere, for type checking too."""
    known = modules()
    found: dict[str, set[str]] = {}
    for module, tree in known.items():
        found[module] = {each for each in _imported(tree, known) if each != module}
    return found


def between(package: str) -> dict[str, set[str]]:
    """Which children of a package import which other children of it."""
    edges: defaultdict[str, set[str]] = defaultdict(set)
    for module, imported in imports().items():
        child = _child(package, module)
        if child is None:
            continue
        edges[child] |= {other for each in imported if (other := _child(package, each))}
        edges[child].discard(child)
    return dict(edges)


def stair(package: str) -> list[list[str]]:
    """The children of a package from the top down, each above all that it imports. Raises
    `ValueError` if there is a cycle."""
    edges = between(package)
    depths: dict[str, int] = {}
    while len(depths) < len(edges):
        ready = [each for each in edges if each not in depths and edges[each] <= depths.keys()]
        if not ready:
            raise ValueError(f"{package}: cycle among {sorted(edges.keys() - depths.keys())}")
        found = {each: 1 + max((depths[low] for low in edges[each]), default=-1) for each in ready}
        depths |= found
    steps: defaultdict[int, list[str]] = defaultdict(list)
    for child in sorted(depths):
        steps[depths[child]].append(child)
    return [steps[depth] for depth in sorted(steps, reverse=True)]


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def _child(package: str, module: str) -> str | None:
    if not module.startswith(f"{package}."):
        return None
    return module.removeprefix(f"{package}.").split(".")[0]


def _imported(tree: ast.Module, known: Mapping[str, object]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                submodule = f"{node.module}.{each.name}"
                name = submodule if submodule in known else node.module
                if name in known:
                    yield name
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in known)
