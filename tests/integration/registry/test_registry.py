"""The registry over HTTP, with a real cluster: what clients of Confluent's registry rely on."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ottla.client import Consumer
from ottla.model import TopicPartition
from ottla.testing import Cluster
from tests.support.registry.registry_processes import (
    RegistryProcess,
    running_registries,
)

TEXT = '"string"'
NUMBER = '"long"'
RECORD = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
WIDER = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 0}],
}
BROKEN = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int"}],
}
PROTO = 'syntax = "proto3";\nmessage A { int32 a = 1; }'


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def registry(cluster: Cluster) -> Iterator[RegistryProcess]:
    with running_registries(cluster.bootstrap, 1) as (registry,):
        yield registry


def code(answer: object) -> int:
    return int(answer.body["error_code"])  # type: ignore[attr-defined]


def test_an_equal_schema_has_one_id(registry: RegistryProcess) -> None:
    first = registry.register("one", RECORD)
    spaced = registry.register("one", json.dumps(RECORD, indent=4))
    other = registry.register("another", RECORD)
    assert first.status == 200
    assert first.body["id"] == spaced.body["id"] == other.body["id"]
    assert registry.ask("GET", "/subjects/one/versions").body == [1]
    subjects = registry.ask("GET", f"/schemas/ids/{first.body['id']}/subjects").body
    assert set(subjects) >= {"one", "another"}


def test_a_schema_is_read_by_id_version_and_guid(registry: RegistryProcess) -> None:
    registered = registry.register("read", PROTO, schemaType="PROTOBUF").body
    by_id = registry.ask("GET", f"/schemas/ids/{registered['id']}").body
    by_version = registry.ask("GET", "/subjects/read/versions/latest").body
    by_guid = registry.ask("GET", f"/schemas/guids/{registered['guid']}").body
    assert by_id["schema"] == by_version["schema"] == by_guid["schema"]
    assert by_version["schemaType"] == "PROTOBUF"
    assert registry.ask("GET", f"/schemas/ids/{registered['id']}/schema").status == 200


def test_an_answer_has_the_type_that_the_request_accepts(registry: RegistryProcess) -> None:
    assert registry.ask("GET", "/subjects", accept="application/json").status == 200
    refused = registry.ask("GET", "/subjects", accept="text/html")
    assert (refused.status, refused.body["error_code"]) == (406, 406)
    # Nothing is written whose answer could not be.
    body = {"schema": '"int"'}
    path = "/subjects/not-acceptable/versions"
    assert registry.ask("POST", path, body, accept="text/html").status == 406
    assert registry.ask("GET", path).status == 404


def test_what_is_not_there_has_confluents_codes(registry: RegistryProcess) -> None:
    registry.register("codes", TEXT)
    for method, path, expected in (
        ("GET", "/subjects/none/versions", 40401),
        ("GET", "/subjects/codes/versions/7", 40402),
        ("GET", "/schemas/ids/99999", 40403),
        ("GET", "/subjects/codes/versions/zero", 42202),
        ("GET", "/config/codes", 40408),
        ("GET", "/mode/codes", 40409),
        ("DELETE", "/subjects/codes/versions/1?permanent=true", 40407),
    ):
        assert code(registry.ask(method, path)) == expected, path
    assert code(registry.register("codes", '{"type": "none"}')) == 42201
    assert code(registry.ask("PUT", "/config/codes", {"compatibility": "SOME"})) == 42203
    assert code(registry.ask("PUT", "/mode/codes", {"mode": "SOME"})) == 42204
    assert registry.ask("GET", "/nothing/here").status == 404


def test_an_incompatible_schema_is_refused_with_its_path(registry: RegistryProcess) -> None:
    registry.register("levels", RECORD)
    assert registry.register("levels", WIDER).status == 200
    registry.ask("PUT", "/config/levels", {"compatibility": "BACKWARD_TRANSITIVE"})
    refused = registry.register("levels", BROKEN)
    assert refused.status == 409
    assert "/fields/1" in refused.body["message"]
    checked = registry.ask(
        "POST",
        "/compatibility/subjects/levels/versions/1?verbose=true",
        {"schema": json.dumps(BROKEN)},
    )
    assert checked.body["is_compatible"] is False
    registry.ask("PUT", "/config/levels", {"compatibility": "NONE"})
    assert registry.register("levels", TEXT).status == 200


def test_deletion_is_soft_first(registry: RegistryProcess) -> None:
    registry.register("deleted", TEXT)
    assert registry.ask("DELETE", "/subjects/deleted").body == [1]
    assert code(registry.ask("GET", "/subjects/deleted/versions")) == 40401
    assert registry.ask("GET", "/subjects/deleted/versions?deleted=true").body == [1]
    assert code(registry.ask("DELETE", "/subjects/deleted")) == 40404
    assert registry.ask("DELETE", "/subjects/deleted?permanent=true").body == [1]
    assert code(registry.ask("DELETE", "/subjects/deleted?permanent=true")) == 40401


def test_an_id_is_not_given_again_after_its_schema_is_gone(registry: RegistryProcess) -> None:
    first = registry.register("gone", {"type": "fixed", "name": "F", "size": 7}).body["id"]
    registry.ask("DELETE", "/subjects/gone")
    registry.ask("DELETE", "/subjects/gone?permanent=true")
    second = registry.register("gone", {"type": "fixed", "name": "F", "size": 8}).body["id"]
    assert second > first


def test_a_referenced_version_is_not_deleted(registry: RegistryProcess) -> None:
    registry.register("inner", {"type": "record", "name": "x.In", "fields": []})
    outer = {"type": "record", "name": "Out", "fields": [{"name": "i", "type": "x.In"}]}
    reference = {"name": "x.In", "subject": "inner", "version": 1}
    registered = registry.register("outer", outer, references=[reference])
    assert registered.status == 200
    referencing = registry.ask("GET", "/subjects/inner/versions/1/referencedby").body
    assert referencing == [registered.body["id"]]
    assert code(registry.ask("DELETE", "/subjects/inner/versions/1")) == 42206
    assert code(registry.register("outer2", outer)) == 42201


def test_contexts_have_ids_of_their_own(registry: RegistryProcess) -> None:
    registry.register(":.east:orders", TEXT)
    assert registry.register(":.east:orders", TEXT).body["id"] == 1
    assert ".east" in registry.ask("GET", "/contexts").body
    assert registry.ask("GET", "/contexts/.east/subjects").body == [":.east:orders"]
    in_path = registry.ask("GET", "/contexts/.east/subjects/orders/versions/1").body
    assert in_path["subject"] == ":.east:orders"
    # A subject that the default context does not have is found in the others.
    assert registry.ask("GET", "/subjects/orders/versions/1").body["subject"] == ":.east:orders"


def test_an_import_brings_ids_and_versions(registry: RegistryProcess) -> None:
    assert code(registry.register("imported", TEXT, id=700, version=3)) == 42205
    registry.ask("PUT", "/mode/imported", {"mode": "IMPORT"})
    assert registry.register("imported", RECORD | {"name": "I"}, id=700, version=3).status == 200
    assert registry.ask("GET", "/subjects/imported/versions").body == [3]
    assert code(registry.register("imported", RECORD | {"name": "J"}, id=700, version=4)) == 42205
    registry.ask("PUT", "/mode/imported", {"mode": "READONLY"})
    assert code(registry.register("imported", TEXT)) == 42205
    registry.ask("DELETE", "/mode/imported")
    assert registry.register("after", RECORD | {"name": "K"}).body["id"] > 700


def test_data_contracts_are_stored_and_merged(registry: RegistryProcess) -> None:
    rules = {"domainRules": [{"name": "r", "type": "CEL", "mode": "WRITE", "expr": "true"}]}
    registry.ask("PUT", "/config/contract", {"defaultMetadata": {"properties": {"team": "a"}}})
    registry.register("contract", TEXT, ruleSet=rules, metadata={"properties": {"owner": "b"}})
    stored = registry.ask("GET", "/subjects/contract/versions/1").body
    assert stored["metadata"]["properties"] == {"team": "a", "owner": "b"}
    assert stored["ruleSet"] == rules
    found = registry.ask("GET", "/subjects/contract/metadata?key=owner&value=b").body
    assert found["version"] == 1
    bad = {"domainRules": [{"name": "r", "type": "CEL", "mode": "UPGRADE"}]}
    assert code(registry.register("contract", NUMBER, ruleSet=bad)) == 42210


def test_normalisation_finds_another_spelling(registry: RegistryProcess) -> None:
    first = {"type": "record", "name": "n.R", "fields": [], "z": 1, "a": 2}
    second = {"a": 2, "z": 1, "fields": [], "name": "R", "namespace": "n", "type": "record"}
    registered = registry.ask(
        "POST", "/subjects/normal/versions?normalize=true", {"schema": json.dumps(first)}
    )
    found = registry.ask("POST", "/subjects/normal?normalize=true", {"schema": json.dumps(second)})
    assert found.body["id"] == registered.body["id"]


@pytest.mark.parametrize(
    ("body", "status"),
    [("{", 400), ('{"schema": 1}', 422), ("[]", 422), ('{"schema": ""}', 422)],
)
def test_a_malformed_body_is_the_callers_fault(
    registry: RegistryProcess, body: str, status: int
) -> None:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", registry.port)
    connection.request("POST", "/subjects/bad/versions", body)
    assert connection.getresponse().status == status
    connection.close()


def test_hostile_schemas_are_refused_in_time(registry: RegistryProcess) -> None:
    deep = '{"type":"array","items":' * 20_000 + '"int"' + "}" * 20_000
    assert code(registry.register("hostile", deep)) == 42201
    nested = "message A {" * 5_000 + "}" * 5_000
    hostile = registry.register("hostile", 'syntax = "proto3";' + nested, schemaType="PROTOBUF")
    assert code(hostile) == 42201
    fetched = '{"$ref": "http://127.0.0.1:9/x"}'
    assert code(registry.register("hostile", fetched, schemaType="JSON")) == 42201
    assert registry.register("hostile", TEXT).status == 200


async def read_topic(bootstrap: str) -> list[tuple[bytes | None, bytes | None]]:
    partition = TopicPartition("_schemas", 0)
    async with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([partition])
        ends = await consumer.end_offsets([partition])
        found = []
        while await consumer.position(partition) < ends[partition]:
            found += [(each.key, each.value) for each in await consumer.poll(1.0)]
        return found


def test_the_topic_has_confluents_records(registry: RegistryProcess, cluster: Cluster) -> None:
    import asyncio

    registry.register("format", '"boolean"')
    records = asyncio.run(read_topic(cluster.bootstrap))
    key = b'{"keytype":"SCHEMA","subject":"format","version":1,"magic":1}'
    (value,) = [value for found, value in records if found == key]
    assert value is not None
    stored = json.loads(value)
    assert {**stored, "id": 0} == {
        "subject": "format",
        "version": 1,
        "id": 0,
        "schema": '"boolean"',
        "deleted": False,
    }
