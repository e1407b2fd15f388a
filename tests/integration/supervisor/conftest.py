"""A cluster for supervisors, and a directory of definitions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.testing import Cluster
from tests.support.supervisor.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with Cluster() as cluster:
        place = Place(cluster.bootstrap, tmp_path)
        yield place
        place.close()
