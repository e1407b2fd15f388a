"""Fixtures that tests in several folders share."""

from collections.abc import Iterator

import pytest

from tests.conformance.kafka.judge import Judge
from tests.conformance.kafka.process import reason_unavailable


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """Apache Kafka's own classes, in a process that lives as long as the test session."""
    reason = reason_unavailable()
    if reason is not None:
        pytest.skip(reason)
    judge = Judge()
    yield judge
    judge.close()
