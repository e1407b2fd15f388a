"""The TLS settings of listeners."""

import ssl

import pytest

from ottla.configs import InvalidConfigError, ListenerSecurity, NodeConfig, Password, Store
from ottla.configs.cipher_suites import OPENSSL_NAMES_OF_TLS_1_2_SUITES, TLS_1_3_SUITES

PEM = {
    "listeners": "CLIENT://localhost:9092",
    "listener.security.protocol.map": "CLIENT:SSL",
    "inter.broker.listener.name": "CLIENT",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": "/etc/node.pem",
}


def security(properties: dict[str, str]) -> ListenerSecurity:
    return NodeConfig.of(PEM | properties).listener_security["CLIENT"]


def refusal(properties: dict[str, str]) -> str:
    with pytest.raises(InvalidConfigError) as refused:
        NodeConfig.of(PEM | properties)
    message = refused.value.message
    assert "swordfish" not in message
    return message


def test_a_key_file_is_enough() -> None:
    client = security({})
    assert client.protocol == "SSL"
    assert client.sasl is None
    assert not client.authenticates_clients
    assert client.principal_mapping_rules == "DEFAULT"
    tls = client.tls
    assert tls is not None
    assert tls.keystore == Store("PEM", location="/etc/node.pem")
    assert tls.truststore is None
    assert tls.client_auth == "none"
    assert tls.enabled_protocols == tls.client_protocols == ("TLSv1.2", "TLSv1.3")
    assert tls.cipher_suites == ()
    assert tls.endpoint_identification
    assert tls.crl_location is None


def test_everything_can_be_set_for_one_listener() -> None:
    prefix = "listener.name.client."
    client = security(
        {
            "ssl.client.auth": "none",
            f"{prefix}ssl.client.auth": "required",
            f"{prefix}ssl.keystore.type": "PKCS12",
            f"{prefix}ssl.keystore.location": "/etc/client.p12",
            f"{prefix}ssl.keystore.password": "swordfish",
            f"{prefix}ssl.key.password": "swordfish2",
            f"{prefix}ssl.truststore.type": "pkcs12",
            f"{prefix}ssl.truststore.location": "/etc/trust.p12",
            f"{prefix}ssl.truststore.password": "swordfish",
            f"{prefix}ssl.enabled.protocols": "TLSv1.3",
            f"{prefix}ssl.endpoint.identification.algorithm": "",
            f"{prefix}ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/",
            f"{prefix}ottla.ssl.crl.location": "/etc/revoked.pem",
        }
    )
    assert client.authenticates_clients
    assert client.principal_mapping_rules == "RULE:^CN=(.*?),.*$/$1/"
    tls = client.tls
    assert tls is not None
    assert tls.keystore == Store(
        "PKCS12",
        location="/etc/client.p12",
        password=Password("swordfish"),
        key_password=Password("swordfish2"),
    )
    assert tls.truststore == Store(
        "PKCS12", location="/etc/trust.p12", password=Password("swordfish")
    )
    assert tls.client_auth == "required"
    assert tls.enabled_protocols == ("TLSv1.3",)
    assert not tls.endpoint_identification
    assert tls.crl_location == "/etc/revoked.pem"
    assert "swordfish" not in repr(client)


def test_keys_and_certificates_can_be_texts() -> None:
    tls = security(
        {
            "ssl.keystore.location": "",
            "ssl.keystore.key": "KEY",
            "ssl.keystore.certificate.chain": "CHAIN",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": "AUTHORITY",
        }
    ).tls
    assert tls is not None
    assert tls.keystore == Store("PEM", certificates=Password("CHAIN"), key=Password("KEY"))
    assert tls.truststore == Store("PEM", certificates=Password("AUTHORITY"))


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"ssl.keystore.location": ""}, "needs a key and a certificate"),
        ({"ssl.keystore.password": "swordfish"}, "does not apply to PEM"),
        ({"ssl.keystore.type": "PKCS12"}, "ssl.keystore.location needs ssl.keystore.password"),
        ({"ssl.keystore.type": "BKS"}, "ssl.keystore.type is BKS; it must be PEM or PKCS12"),
        (
            {"ssl.keystore.location": "", "ssl.keystore.password": "swordfish"},
            "ssl.keystore.password is set without ssl.keystore.location",
        ),
        ({"ssl.keystore.key": "swordfish"}, "must be set together"),
        (
            {"ssl.keystore.key": "swordfish", "ssl.keystore.certificate.chain": "swordfish"},
            "set either ssl.keystore.location or ssl.keystore.key",
        ),
        (
            {
                "ssl.keystore.location": "",
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.key": "swordfish",
                "ssl.keystore.certificate.chain": "swordfish",
            },
            "set ssl.keystore.type=PEM",
        ),
        ({"ssl.client.auth": "required"}, "ssl.client.auth=required needs the certificates"),
        ({"ssl.client.auth": "requested"}, "ssl.client.auth=requested needs the certificates"),
        ({"ssl.client.auth": "maybe"}, "ssl.client.auth"),
        ({"listener.name.client.ssl.client.auth": "maybe"}, "listener.name.client.ssl.client.auth"),
        (
            {"ssl.truststore.password": "swordfish"},
            "ssl.truststore.password is set without ssl.truststore.location",
        ),
        (
            {"ssl.truststore.location": "/a", "ssl.truststore.certificates": "swordfish"},
            "set either ssl.truststore.location or ssl.truststore.certificates",
        ),
        (
            {
                "ssl.truststore.location": "/a",
                "ssl.truststore.type": "PEM",
                "ssl.truststore.password": "swordfish",
            },
            "ssl.truststore.password does not apply to PEM",
        ),
        ({"ssl.enabled.protocols": "TLSv1.1,TLSv1.2"}, "has TLSv1.1; it must be TLSv1.2"),
        ({"ssl.enabled.protocols": ""}, "ssl.enabled.protocols has no version"),
        ({"ssl.protocol": "SSLv3"}, "ssl.protocol is SSLv3; it must be TLSv1.2 or TLSv1.3"),
        (
            {"ssl.protocol": "TLSv1.2", "ssl.enabled.protocols": "TLSv1.3"},
            "ssl.protocol is TLSv1.2, and only TLSv1.3 is enabled",
        ),
        ({"ssl.cipher.suites": "TLS_RSA_WITH_NULL_MD5"}, "has TLS_RSA_WITH_NULL_MD5, which"),
        ({"ssl.cipher.suites": TLS_1_3_SUITES[0]}, "all cipher suites of TLS 1.3 or none"),
        (
            {
                "ssl.cipher.suites": ",".join(TLS_1_3_SUITES),
                "ssl.enabled.protocols": "TLSv1.2",
            },
            "ssl.cipher.suites has no cipher suite for TLSv1.2",
        ),
        (
            {"ssl.endpoint.identification.algorithm": "ldaps"},
            "ssl.endpoint.identification.algorithm is ldaps",
        ),
    ],
    ids=str,
)
def test_a_listener_that_could_not_work_is_refused(
    properties: dict[str, str], message: str
) -> None:
    assert message in refusal(properties)


@pytest.mark.parametrize("store", ["keystore", "truststore"])
def test_jks_is_refused_with_the_command_that_converts_it(store: str) -> None:
    message = refusal({f"ssl.{store}.type": "JKS", f"ssl.{store}.location": "/etc/my.jks"})
    assert message.startswith(f"Listener CLIENT: ssl.{store}.type is JKS")
    assert (
        "keytool -importkeystore -srckeystore /etc/my.jks -srcstoretype JKS "
        "-destkeystore /etc/my.p12 -deststoretype PKCS12"
    ) in message
    assert f"set ssl.{store}.type=PKCS12" in message


def test_a_pkcs12_file_without_a_type_is_recognized_by_its_name() -> None:
    message = refusal({"ssl.keystore.type": "JKS", "ssl.keystore.location": "/etc/my.p12"})
    assert "keytool" not in message
    assert message.endswith("set ssl.keystore.type=PKCS12")


@pytest.mark.parametrize("name", OPENSSL_NAMES_OF_TLS_1_2_SUITES.values())
def test_openssl_knows_the_cipher_suites(name: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(name)
    offered = [cipher["name"] for cipher in context.get_ciphers()]
    assert sorted(offered) == sorted([name, *TLS_1_3_SUITES])


def test_cipher_suites_decide_which_versions_are_possible() -> None:
    [suite, *_] = OPENSSL_NAMES_OF_TLS_1_2_SUITES
    tls = security({"ssl.cipher.suites": suite}).tls
    assert tls is not None
    assert tls.enabled_protocols == ("TLSv1.2",)
    tls = security({"ssl.cipher.suites": ",".join((suite, *TLS_1_3_SUITES))}).tls
    assert tls is not None
    assert tls.enabled_protocols == ("TLSv1.2", "TLSv1.3")


def test_the_protocol_limits_only_how_this_node_connects() -> None:
    tls = security({"ssl.protocol": "TLSv1.2"}).tls
    assert tls is not None
    assert tls.client_protocols == ("TLSv1.2",)
    assert tls.enabled_protocols == ("TLSv1.2", "TLSv1.3")


def test_client_certificates_on_sasl_listeners_need_a_setting_of_their_own() -> None:
    """As in Kafka (KIP-684)."""
    sasl = {
        "listener.security.protocol.map": "CLIENT:SASL_SSL",
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/etc/ca.pem",
    }
    shared = security(sasl | {"ssl.client.auth": "required"})
    assert shared.tls is not None
    assert shared.tls.client_auth == "none"
    own = security(sasl | {"listener.name.client.ssl.client.auth": "required"})
    assert own.tls is not None
    assert own.tls.client_auth == "required"
