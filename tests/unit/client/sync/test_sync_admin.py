"""`Admin` for programs without an event loop."""

from __future__ import annotations

import inspect

import pytest

from ottla.client import Admin, TopicAlreadyExistsError, sync
from ottla.testing import Cluster


def test_the_face_has_every_method_with_its_documentation() -> None:
    methods = {
        name: method
        for name, method in inspect.getmembers(Admin, inspect.iscoroutinefunction)
        if not name.startswith("_")
    }
    faces = {name: getattr(sync.Admin, name, None) for name in methods}
    assert {name for name, face in faces.items() if face is None} == set()
    for name, method in methods.items():
        assert faces[name].__doc__ == method.__doc__


def test_methods_wait_for_their_results() -> None:
    with Cluster() as cluster, sync.Admin(bootstrap_servers=cluster.bootstrap) as admin:
        created = admin.create_topic("orders", partitions=2)
        assert created.partitions == 2
        with pytest.raises(TopicAlreadyExistsError):
            admin.create_topic("orders")
        assert admin.describe_topic("orders").name == "orders"
        assert admin.create_topic.__name__ == "create_topic"
