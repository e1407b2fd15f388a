"""Registries that serve HTTPS, to each other, to their clients and to a gateway."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.testing import Cluster
from tests.support.registry.registry_processes import RegistryProcess, running_registries
from tests.support.security.certificates import Authority, PemFiles
from tests.support.web.gateway_process import running_gateway_process

AVRO = {"Content-Type": "application/vnd.kafka.avro.v2+json"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Not one that the system trusts."""
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def client(authority: Authority) -> PemFiles:
    return authority.issue("client")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(properties={"group.initial.rebalance.delay.ms": "0"}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def registries(
    cluster: Cluster, authority: Authority, client: PemFiles
) -> Iterator[list[RegistryProcess]]:
    """They accept only clients with a certificate, also each other."""
    own = authority.issue("registry")
    options = (
        f"--tls-certificate={own.keystore}",
        f"--tls-key={own.keystore}",
        f"--tls-client-ca={authority.truststore}",
        f"--peer-ca={authority.truststore}",
    )
    context = ssl.create_default_context(cafile=str(authority.truststore))
    context.load_cert_chain(client.keystore)
    with running_registries(cluster.bootstrap, 2, *options, tls=context) as registries:
        yield registries


def test_a_registry_sends_writes_to_the_writer_over_tls(registries: list[RegistryProcess]) -> None:
    assert sum(each.is_writer() for each in registries) == 1
    ids = []
    for number, registry in enumerate(registries):
        answer = registry.register(f"orders-{number}", {"type": "fixed", "name": "F", "size": 1})
        assert answer.status == 200, answer
        ids.append(answer.body["id"])
    assert len(set(ids)) == 1


def test_a_gateway_trusts_the_registrys_authority_and_shows_its_certificate(
    cluster: Cluster,
    registries: list[RegistryProcess],
    authority: Authority,
    client: PemFiles,
    tmp_path: Path,
) -> None:
    cluster.create_topic("prices")
    config = tmp_path / "registry.properties"
    config.write_text(
        f"ssl.ca.location={authority.truststore}\n"
        "schema.registry.ssl.keystore.type=PEM\n"
        f"schema.registry.ssl.keystore.location={client.keystore}\n"
    )
    config.chmod(0o600)
    record = {"value_schema": '"long"', "records": [{"value": 7}]}
    options = [f"--schema-registry={registries[0].url}"]
    with (
        running_gateway_process(cluster.bootstrap, options) as stranger,
        running_gateway_process(
            cluster.bootstrap, [*options, f"--schema-registry-config={config}"]
        ) as gateway,
    ):
        refused = stranger.call("POST", "/topics/prices", record, AVRO)
        assert (refused.status, b"CERTIFICATE_VERIFY_FAILED" in refused.content) == (503, True)
        assert gateway.post("/topics/prices", record, AVRO)["offsets"][0]["offset"] == 0
    subject = registries[0].ask("GET", "/subjects/prices-value/versions/latest")
    assert subject.body["schema"] == '"long"'
