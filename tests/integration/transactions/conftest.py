"""Three nodes that the tests of a module share, each with topics of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ottla.testing.cluster import Cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as cluster:
        yield cluster
