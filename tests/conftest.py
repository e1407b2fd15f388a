"""Fixtures that tests in several folders share, and the summary at the end of a run."""

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.conformance.kafka.judge import Judge
from tests.conformance.kafka.process import reason_unavailable
from tests.support.first_collection import FirstCollection
from tests.support.kafka.kafka_acceptance import ACCEPTED, JUDGE, summary
from tests.support.work_units import NICENESS, WorkUnits, place_of, takes_from_the_back

# How long a property takes depends on what else the machine does.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def judge() -> Judge:
    """Apache Kafka's own classes, in a process that lives as long as the test session."""
    if reason := reason_unavailable():
        pytest.skip(reason)
    return JUDGE


@pytest.fixture(scope="session", autouse=True)
def _no_profiles_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Commands of tests and their processes find no profiles but their own."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="module", autouse=True)
def _nothing_left_open(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a module leaves open is its own failure, not that of whichever test the garbage
    collector happens to run in."""
    yield
    if "integration" in request.path.parts or "simulation" in request.path.parts:
        gc.collect()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") and takes_from_the_back(config.workerinput["workerid"]):
        os.nice(NICENESS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        FirstCollection(session.config.workerinput).wait()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place_of(item.nodeid))


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported stays. The garbage collector need not go through it again and again."""
    if hasattr(session.config, "workerinput"):
        FirstCollection(session.config.workerinput).finish()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WorkUnits | None:
    return WorkUnits(config, log) if config.option.dist == "load" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    JUDGE.close()
    if hasattr(session.config, "workerinput"):
        FirstCollection(session.config.workerinput).forget()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["accepted"] = dict(ACCEPTED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Adds up what the worker processes of pytest-xdist did."""
    ACCEPTED.update(getattr(node, "workeroutput", {}).get("accepted", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if text := summary():
        terminalreporter.write_line(text)


@pytest.fixture(autouse=True)
def plain_captured_log(pytestconfig: pytest.Config) -> None:
    """PySpark's loggers leave a formatter of their own in pytest's handler, which would format what
    all later tests of the process capture."""
    plugin = pytestconfig.pluginmanager.get_plugin("logging-plugin")
    assert plugin is not None
    plugin.caplog_handler.setFormatter(plugin.formatter)
