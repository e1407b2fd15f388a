"""The pytest fixtures that come with ottla.

Each pytest run loads this module, so it imports everything else only when a test uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ottla.testing.cluster import Cluster

_MARKER = "ottla"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(nodes=1, data_dir=None, properties=None): how the cluster of the fixture "
        "ottla_cluster is made; the arguments are those of ottla.testing.Cluster",
    )


@pytest.fixture
def ottla_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster for one test, in memory. `@pytest.mark.ottla(nodes=3)` sets `Cluster`'s
    arguments.
    """
    from ottla.testing.cluster import Cluster

    marker = request.node.get_closest_marker(_MARKER)
    args, options = (marker.args, marker.kwargs) if marker else ((), {})
    with Cluster(*args, **options) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def ottla_session_cluster() -> Iterator[Cluster]:
    """One cluster for all tests of a run, in memory. Tests share its topics and groups."""
    from ottla.testing.cluster import Cluster

    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def ottla_cluster_factory() -> Iterator[Callable[..., Cluster]]:
    """Creates and starts clusters, with the arguments of `ottla.testing.Cluster`, and stops them at
    the end of the session. Use it for fixtures with other scopes.
    """
    from ottla.testing.cluster import Cluster

    with ExitStack() as running:

        def make(*args: Any, **options: Any) -> Cluster:
            return running.enter_context(Cluster(*args, **options))

        yield make
