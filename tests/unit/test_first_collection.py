"""Workers that collect after the first one has."""

import tempfile
import threading
from pathlib import Path

import pytest

from tests.support.first_collection import FIRST, FirstCollection

WAIT_SECONDS_MAX = 30.0


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def seen_by(worker: str, run: str = "run") -> FirstCollection:
    return FirstCollection({"workerid": worker, "testrunuid": run})


def test_the_first_worker_does_not_wait_and_leaves_nothing_behind(scratch: Path) -> None:
    first = seen_by(FIRST)
    first.wait()
    first.finish()
    assert list(scratch.iterdir())
    first.forget()
    assert not list(scratch.iterdir())


def test_another_worker_goes_on_when_the_first_one_of_its_run_is_through() -> None:
    waiting = threading.Thread(target=seen_by("gw1").wait)
    waiting.start()
    seen_by("gw2").finish()
    seen_by(FIRST, "another run").finish()
    waiting.join(0.1)
    assert waiting.is_alive()
    seen_by(FIRST).finish()
    waiting.join(WAIT_SECONDS_MAX)
    assert not waiting.is_alive()
