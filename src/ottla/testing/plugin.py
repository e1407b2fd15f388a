"""The fixtures that installing ottla brings to pytest.

Everything else is imported when a test first asks for it: every run of pytest loads this module.
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
    """A cluster for one test, in memory. `@pytest.mark.ottla(nodes=3)` changes how it is made."""
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
    """Makes and starts clusters: takes the arguments of `ottla.testing.Cluster`, and stops what it
    made when the tests are over. For fixtures of one's own, with a scope of their own."""
    from ottla.testing.cluster import Cluster

    with ExitStack() as running:

        def make(*args: Any, **options: Any) -> Cluster:
            return running.enter_context(Cluster(*args, **options))

        yield make
