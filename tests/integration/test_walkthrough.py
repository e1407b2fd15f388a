"""docs/walkthrough.md names the functions that one Produce and one Fetch run, in their order."""

from __future__ import annotations

import asyncio
import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from ottla.cli.trace.function_tracer import FunctionTracer, Step
from ottla.cli.trace.run import TOPIC, follow_message
from ottla.testing import Cluster

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "walkthrough.md"
ROW = re.compile(r"^\| `([\w/]+)\.py` \| `([\w.]+)` \|", re.MULTILINE)


def named_functions() -> dict[str, list[str]]:
    """The functions of each chapter, as `module:name`."""
    chapters = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]
    return {
        chapter.partition("\n")[0]: [
            f"ottla.{path.replace('/', '.')}:{name}" for path, name in ROW.findall(chapter)
        ]
        for chapter in chapters
    }


def code_of(function: str) -> CodeType:
    module, _, name = function.partition(":")
    found: Any = reduce(getattr, name.split("."), import_module(module))
    code: CodeType = found.__code__
    return code


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the node ran of all functions that the document names, in order."""
    names = {each for functions in named_functions().values() for each in functions}
    steps = {code_of(each): Step(each) for each in names}
    worker = FunctionTracer("worker", steps)
    with Cluster(data_dir=tmp_path_factory.mktemp("data")) as cluster:
        cluster.create_topic(TOPIC)
        calls = asyncio.run(follow_message(cluster, 100, steps, worker))
    return [call.step.label for call in calls if call.thread == "node"]


@pytest.mark.parametrize("chapter", ["Produce", "Fetch"])
def test_the_functions_that_are_named_run_in_this_order(chapter: str, ran: list[str]) -> None:
    functions = named_functions()[chapter]
    assert len(functions) > 10
    remaining = iter(ran)
    missing = [each for each in functions if each not in remaining]
    assert not missing, f"not run in this order: {missing}"
