"""The fixture that installing ottla brings to pytest.

Everything else is imported when a test first asks for it: every run of pytest loads this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ottla.testing.cluster import Cluster


@pytest.fixture
def ottla_cluster() -> Iterator[Cluster]:
    """A cluster of its own for each test, in memory: `ottla_cluster.bootstrap`."""
    from ottla.testing.cluster import Cluster

    with Cluster() as cluster:
        yield cluster
