"""Client properties by Kafka's names, and what is made of them."""

from __future__ import annotations

import asyncio
import json
import stat
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.client_security.client_security import parse_client_security
from ottla.client_security.errors import ClientPropertyError
from ottla.client_security.node_channel import channel_security
from ottla.security.sasl.mechanism import ClientMechanism, Mechanism
from ottla.security.sasl.scram import ScramClient
from tests.support.security.librdkafka_properties import librdkafka_properties

MODULE = "org.apache.kafka.common.security"
PLAIN = f'{MODULE}.plain.PlainLoginModule required username="bob" password="bob\'s secret";'
SCRAM = f'{MODULE}.scram.ScramLoginModule required username="bob" password="bob\'s secret";'
TOKEN = SCRAM.replace(";", " tokenauth=true;")
BEARER = f'{MODULE}.oauthbearer.OAuthBearerLoginModule required clientId="a" clientSecret="b";'


def scram(**others: str) -> dict[str, str]:
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.jaas.config": SCRAM,
    }
    return properties | {name.replace("_", "."): value for name, value in others.items()}


def ordinary(properties: dict[str, str]) -> dict[str, Any]:
    found = librdkafka_properties(properties, parse_client_security(properties))
    # librdkafka accepts them all.
    AdminClient({"bootstrap.servers": "127.0.0.1:9", "log_level": 0, **found})
    return found


def channel(properties: dict[str, str]) -> ChannelSecurity:
    return channel_security(parse_client_security(properties))


def mechanism(properties: dict[str, str]) -> ClientMechanism:
    security = channel(properties)
    if security.prepare is not None:
        asyncio.run(security.prepare())
    assert security.mechanism is not None
    return security.mechanism()


def test_without_properties_there_is_no_security() -> None:
    assert ordinary({}) == {}
    assert channel({}) is PLAINTEXT


def test_a_login_module_is_a_user_name_and_a_password() -> None:
    assert ordinary(scram(client_id="me")) == {
        "client.id": "me",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "bob",
        "sasl.password": "bob's secret",
    }
    assert mechanism(scram()).name == Mechanism.SCRAM_SHA_256
    plain = scram() | {"sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN}
    assert mechanism(plain).first_message() == b"\0bob\0bob's secret"


def test_names_of_librdkafka_say_the_same() -> None:
    own = scram()
    del own["sasl.jaas.config"]
    own |= {"sasl.username": "bob", "sasl.password": "bob's secret"}
    assert ordinary(own) == ordinary(scram())
    assert mechanism(own).name == Mechanism.SCRAM_SHA_256


def test_delegation_tokens_are_for_commands_that_speak_the_protocol() -> None:
    properties = scram() | {"sasl.jaas.config": TOKEN}
    client = mechanism(properties)
    assert isinstance(client, ScramClient)
    assert b"tokenauth=true" in client.first_message()
    with pytest.raises(ClientPropertyError, match="delegation token"):
        ordinary(properties)


def test_properties_of_kafkas_own_client_have_other_names_or_no_meaning() -> None:
    given = {"send.buffer.bytes": "65536", "request.timeout.ms": "1000", "ssl.provider": "BC"}
    assert ordinary(given) == {"socket.send.buffer.bytes": "65536"}


def unsigned_token(**claims: Any) -> str:
    parts = ({"alg": "none"}, claims)
    encoded = [urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts]
    return f"{encoded[0]}.{encoded[1]}.x"


def test_tokens_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = unsigned_token(sub="bob", exp=1_900_000_000)
    file.write_text(f"{token}\n")
    handler = f"{MODULE}.oauthbearer.OAuthBearerLoginCallbackHandler"
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": handler,
        "sasl.oauthbearer.token.endpoint.url": file.as_uri(),
    }
    assert f"Bearer {token}".encode() in mechanism(properties).first_message()
    found = librdkafka_properties(properties, parse_client_security(properties))
    assert found["oauth_cb"]("") == (token, 1_900_000_000)


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"security.protocol": "TLS"}, "must be one of PLAINTEXT, SSL"),
        ({"ssl.truststore.locaton": "x"}, "no client property ssl.truststore.locaton"),
        ({"ssl.ca.location": "x"}, "no effect, because security.protocol is PLAINTEXT"),
        ({"sasl.jaas.config": SCRAM}, "no effect without SASL"),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism is missing"),
        (scram(sasl_mechanism="SCRAM"), "must be one of PLAIN, SCRAM-SHA-256"),
        (scram(sasl_mechanism="PLAIN"), "ScramLoginModule, but sasl.mechanism is PLAIN"),
        (scram(sasl_mechanisms="PLAIN"), "set the same thing"),
        (scram(sasl_username="bob"), "set the same thing"),
        (scram() | {"sasl.jaas.config": "ScramLoginModule"}, "write `required`"),
        (scram() | {"sasl.jaas.config": "a.Krb5LoginModule required;"}, "not supported"),
        (scram() | {"sasl.jaas.config": "ScramLoginModule required user_a=b;"}, "option user_a"),
        (scram() | {"sasl.jaas.config": "ScramLoginModule required username=b;"}, "no password"),
        (scram(ssl_ca_location="x"), "security.protocol is SASL_PLAINTEXT"),
        (scram(sasl_oauthbearer_scope="x"), "needs sasl.mechanism=OAUTHBEARER"),
        (
            scram(sasl_mechanism="OAUTHBEARER") | {"sasl.jaas.config": BEARER},
            "needs sasl.oauthbearer.token.endpoint.url",
        ),
        (
            scram(sasl_mechanism="OAUTHBEARER")
            | {"sasl.jaas.config": BEARER, "sasl.oauthbearer.token.endpoint.url": "http://a/"},
            "must begin with https",
        ),
        ({"security.protocol": "SSL", "ssl.enabled.protocols": "SSLv3"}, "SSLv3"),
        (
            {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "ldap"},
            "not supported",
        ),
        ({"security.protocol": "SSL", "ssl.truststore.password": "x"}, "needs ssl.truststore"),
        ({"security.protocol": "SSL", "ssl.keystore.key": "x"}, "needs ssl.keystore.certificate"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "/none"}, "/none does not exist"),
        (
            {"security.protocol": "SSL", "ssl.truststore.certificates": "x", "ssl.ca.pem": "y"},
            "set the same thing",
        ),
    ],
)
def test_mistakes_are_refused(properties: dict[str, str], complaint: str) -> None:
    with pytest.raises(ClientPropertyError) as raised:
        parse_client_security(properties)
    assert complaint in raised.value.message
    assert "secret" not in "".join((raised.value.message, *raised.value.hints))


def test_near_names_are_suggested() -> None:
    with pytest.raises(ClientPropertyError) as raised:
        parse_client_security({"ssl.truststore.locaton": "x"})
    assert "ssl.truststore.location" in raised.value.hints[0]


def test_what_only_librdkafka_has_is_refused_by_commands_that_speak_the_protocol() -> None:
    properties = {"security.protocol": "SSL", "enable.ssl.certificate.verification": "false"}
    assert ordinary(properties) == properties
    with pytest.raises(ClientPropertyError, match=r"enable\.ssl\.certificate\.verification"):
        channel(properties)


def test_java_stores_are_refused_with_the_command_that_converts_them(tmp_path: Path) -> None:
    store = tmp_path / "trust.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    properties = {"security.protocol": "SSL", "ssl.truststore.location": str(store)}
    with pytest.raises(ClientPropertyError) as raised:
        parse_client_security(properties)
    assert f"-destkeystore {tmp_path / 'trust.p12'} " in raised.value.hints[0]


class Certificates:
    """Those of an authority and a client, as `ottla certs` writes them."""

    def __init__(self, directory: Path) -> None:
        from datetime import UTC, datetime

        from ottla.cli.certs.authority import Validity, make_authority, make_client
        from ottla.cli.certs.files import CertificateFiles, write_pair

        validity = Validity(datetime(2026, 1, 1, tzinfo=UTC), 3_650)
        authority = make_authority("authority", validity)
        write_pair(directory, "ca", authority)
        client = make_client(authority, "bob", validity)
        write_pair(directory, "bob", client, pkcs12_password="pass 12")
        self.ca = CertificateFiles.of(directory, "ca")
        self.bob = CertificateFiles.of(directory, "bob")


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    pytest.importorskip("cryptography")
    return Certificates(tmp_path)


def ssl(**stores: str) -> dict[str, str]:
    named = {f"ssl.{name.replace('_', '.')}": value for name, value in stores.items()}
    return {"security.protocol": "SSL", **named}


def test_pem_stores_are_files_or_texts(certificates: Certificates) -> None:
    ca, bob = certificates.ca.certificate, certificates.bob.keystore
    by_files = ssl(
        truststore_type="PEM",
        truststore_location=str(ca),
        keystore_type="PEM",
        keystore_location=str(bob),
    )
    assert ordinary(by_files) == {
        "security.protocol": "SSL",
        "ssl.ca.location": str(ca),
        "ssl.certificate.location": str(bob),
        "ssl.key.location": str(bob),
    }
    assert stat.S_IMODE(bob.stat().st_mode) == 0o600
    by_texts = ssl(
        # As continued lines of a properties file are read.
        truststore_certificates=ca.read_text().replace("\n", " "),
        keystore_certificate_chain=certificates.bob.certificate.read_text(),
        keystore_key=certificates.bob.key.read_text(),
    )
    assert ordinary(by_texts)["ssl.ca.pem"] == ca.read_text()
    of_librdkafka = ssl(
        ca_location=str(ca),
        certificate_location=str(certificates.bob.certificate),
        key_location=str(certificates.bob.key),
    )
    assert ordinary(of_librdkafka) == of_librdkafka
    for properties in (by_files, by_texts, of_librdkafka):
        assert asyncio.run(_made(properties)).tls is not None


def test_pkcs12_stores_need_no_other_form(certificates: Certificates) -> None:
    store = str(certificates.bob.pkcs12)
    properties = ssl(
        truststore_type="PKCS12",
        truststore_location=store,
        truststore_password="pass 12",
        keystore_location=store,
        keystore_password="pass 12",
    )
    found = ordinary(properties)
    assert found["ssl.ca.pem"].count("BEGIN CERTIFICATE") == 2
    assert found["ssl.keystore.location"] == store
    assert asyncio.run(_made(properties)).tls is not None


async def _made(properties: dict[str, str]) -> ChannelSecurity:
    return channel(properties)


@pytest.mark.parametrize(
    ("named", "others", "complaint"),
    [
        ("PKCS12", {"truststore.password": "wrong"}, "Cannot open"),
        ("PEM", {}, "is not a PEM file"),
        ("PKCS11", {}, "must be PEM or PKCS12"),
    ],
)
def test_stores_that_cannot_be_opened_are_named(
    certificates: Certificates, named: str, others: dict[str, str], complaint: str
) -> None:
    properties = ssl(truststore_type=named, truststore_location=str(certificates.bob.pkcs12))
    properties |= {f"ssl.{name}": value for name, value in others.items()}
    with pytest.raises(ClientPropertyError, match=complaint):
        parse_client_security(properties)


def test_only_version_three_is_for_commands_that_speak_the_protocol(
    certificates: Certificates,
) -> None:
    properties = ssl(ca_location=str(certificates.ca.certificate), enabled_protocols="TLSv1.3")
    assert parse_client_security(properties).tls_versions == ("TLSv1.3",)
    with pytest.raises(ClientPropertyError, match=r"TLSv1\.3"):
        ordinary(properties)
