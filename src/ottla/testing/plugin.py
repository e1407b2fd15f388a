"""The fixture that `pip install ottla` brings to pytest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ottla.testing.cluster import Cluster


@pytest.fixture
def ottla_cluster() -> Iterator[Cluster]:
    """A cluster of its own for each test, in memory: `ottla_cluster.bootstrap`."""
    with Cluster() as cluster:
        yield cluster
