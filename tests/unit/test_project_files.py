"""The project's own files say what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
# Parts of other targets.
INTERNAL = {"tested"}


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_files_that_a_guide_names_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    named = re.findall(r"`((?:src|tests|docs|scripts)/[\w./-]+)`", text)
    named += re.findall(r"\]\(([\w./-]+)", text)
    assert [each for each in named if not (ROOT / each).exists()] == []


def test_targets_that_the_guide_names_are_in_the_makefile() -> None:
    named = re.findall(r"`make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text())
    assert set(named) <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_every_target_has_a_line_of_help_and_is_phony() -> None:
    targets = set(re.findall(r"^([a-z-]+):(?!=)", MAKEFILE, re.MULTILINE))
    helped = set(re.findall(r"^([a-z-]+):.* ## ", MAKEFILE, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert targets - helped == INTERNAL
    assert set(phony[1].split()) == targets


def test_every_page_of_the_documentation_is_in_its_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    pages = [str(file.relative_to(ROOT / "docs")) for file in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f": {page}\n" not in navigation] == []


def test_the_license_is_the_one_that_the_package_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"
    for name in project["license-files"]:
        assert "Apache License\n                           Version 2.0" in (ROOT / name).read_text()
