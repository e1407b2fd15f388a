"""Everything that the documents say to type runs, in order and as written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import loopback
from tests.docs.document import Block, Mark, read_document
from tests.docs.givens import GIVENS
from tests.support.soak import IS_SOAK
from tests.support.spark.spark import reason_unavailable

ROOT = Path(__file__).resolve().parents[2]
WALK_SECONDS_MAX = 900.0
FENCES = re.compile(r"^```(\w*)\n.*?^```", re.MULTILINE | re.DOTALL)
# All documents, and those with commands or programs.
ALL = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"))
)
WITHOUT_COMMANDS = {"text", "properties"}
DOCUMENTS = [
    name for name in ALL if set(FENCES.findall((ROOT / name).read_text())) - WITHOUT_COMMANDS
]
WITH_SPARK = (
    "README.md",
    "docs/pipelines.md",
    "docs/supervisor.md",
    "examples/flights/README.md",
)
# They start Spark again and again.
LONG = ("docs/pipelines.md", "docs/supervisor.md", "examples/flights/README.md")
# Blocks of other languages are read, not run.
LANGUAGES = ("sh", "console", "python", "properties", "json", "text", "yaml")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(name, marks=[pytest.mark.spark] if name in WITH_SPARK else [])
        for name in DOCUMENTS
    ],
)
def test_what_a_document_says_to_type_runs(document: str) -> None:
    if document in LONG and not IS_SOAK:
        pytest.skip("takes minutes: make pipelines")
    prefix = loopback.prefix()
    if prefix is None:
        pytest.skip("`unshare --net` is not permitted: the ports of the documents may be taken")
    if document in WITH_SPARK and (reason := reason_unavailable()):
        pytest.skip(reason)
    walk = subprocess.run(
        [*prefix, sys.executable, "-m", "tests.docs.walk", document],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WALK_SECONDS_MAX,
    )
    print(walk.stdout)
    assert walk.returncode == 0, walk.stdout[-8_000:]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_is_one_that_the_tests_understand(document: str) -> None:
    parts = read_document(ROOT / document)
    blocks = [part for part in parts if isinstance(part, Block)]
    assert {block.language for block in blocks} <= set(LANGUAGES)
    for mark in (part for part in parts if isinstance(part, Mark) and part.value):
        assert {name.strip() for name in mark.value.split(",")} <= GIVENS.keys()
    for block in blocks:
        assert not block.exit_codes or len(block.exit_codes) <= len(block.commands)
