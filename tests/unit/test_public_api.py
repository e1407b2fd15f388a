"""What users may rely on: `ottla`, `ottla.client` and its packages, `ottla.testing`,
`ottla.simulation`, `ottla.pipeline`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import ottla

ROOT = Path(__file__).resolve().parents[2]
# A name that goes breaks users' code: it is in the changelog first.
NAMES = (ROOT / "tests" / "fixtures" / "public_names.txt").read_text().split()
PACKAGES = (
    "ottla",
    "ottla.client",
    "ottla.client.administration",
    "ottla.client.schemas",
    "ottla.client.sync",
    "ottla.client.tracing",
    "ottla.pipeline",
    "ottla.simulation",
    "ottla.testing",
)
HEAVY = ("asyncio", "numpy", "ottla.broker", "ottla.model", "pyarrow", "pyspark", "typer")
DOCUMENTS = (ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.[mp][dy]"))


def public_names(package: str) -> list[str]:
    names: list[str] = import_module(package).__all__
    return names


def imports(text: str) -> Iterator[tuple[str, list[str]]]:
    """The modules of ours that a text imports, each with the names that it imports from it."""
    for found in re.finditer(r"^\s*import (ottla[\w.]*)", text, re.MULTILINE):
        yield found[1], []
    for found in re.finditer(
        r"^\s*from (ottla[\w.]*) import (\([^)]*\)|[^\n(]*)", text, re.MULTILINE
    ):
        node = ast.parse(f"from x import {found[2].partition('#')[0].strip()}").body[0]
        assert isinstance(node, ast.ImportFrom)
        yield found[1], [alias.name for alias in node.names]


def test_public_names_are_those_of_the_list() -> None:
    assert [f"{package}.{name}" for package in PACKAGES for name in public_names(package)] == NAMES


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_exists_and_is_the_only_one_shown(package: str) -> None:
    module = import_module(package)
    names = public_names(package)
    for name in names:
        assert getattr(module, name) is not None
    shown = [name for name in dir(module) if name in names or not name.startswith("_")]
    assert shown == sorted(names)


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        _ = import_module(package).nonsense


def test_importing_the_packages_imports_nothing_heavy() -> None:
    program = f"import sys, {', '.join(PACKAGES)}; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(Path(ottla.__file__).parents[1])},
        capture_output=True,
        check=True,
        text=True,
    )
    assert set(ran.stdout.split()).isdisjoint(HEAVY)


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_documents_and_examples_import_public_names_only(file: Path) -> None:
    for module, names in imports(file.read_text()):
        assert module in PACKAGES
        assert set(names) <= set(public_names(module))


def test_the_typing_tests_name_everything_that_is_public() -> None:
    code = "".join(file.read_text() for file in (ROOT / "tests" / "typing").glob("*.py"))
    named = {f"{module}.{name}" for module, names in imports(code) for name in names}
    modules = {module for module, _ in imports(code)} | {"ottla.__version__"}
    assert named | modules >= set(NAMES)


def test_the_package_says_that_it_is_typed() -> None:
    assert files("ottla").joinpath("py.typed").is_file()


def test_the_api_reference_has_every_public_name() -> None:
    pages = "".join(file.read_text() for file in (ROOT / "docs" / "api").glob("*.md"))
    missing = [name for name in NAMES if not re.search(rf"\b{name.rpartition('.')[2]}\b", pages)]
    assert missing == []
