"""A real node refuses wrong passwords and messages out of order with Kafka's error.

Each attack is a conversation. The node answers its last message with the error and the text in the
table, closes the connection, and writes nothing to its logs that the client sent.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable, Iterator

import pytest

from ottla.model import ErrorCode
from ottla.wire.apis import ApiKey
from tests.support.nodes.wire_connection import WireConnection, with_size
from tests.support.security.attacked_node import BOBS_PASSWORD, PASSWORD, AttackedNode
from tests.support.security.attacks import is_served, refused_quickly, under_attack
from tests.support.security.sasl_wire import (
    Refusal,
    choose,
    log_in,
    plain,
    refused,
    say,
    scram,
)

FAILED = ErrorCode.SASL_AUTHENTICATION_FAILED
ILLEGAL = ErrorCode.ILLEGAL_SASL_STATE
# What attackers send, and must be in no log.
PLANTED = "planted"
SECRETS = (PLANTED, PASSWORD, BOBS_PASSWORD, "mallory")
INVALID = "authentication with SASL mechanism {} failed: invalid credentials"
AUTHORIZATION_ID = "the authorization id must be empty or the user name"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedNode]:
    with under_attack(tmp_path_factory.mktemp("node"), secrets=SECRETS) as node:
        yield node


@pytest.fixture(autouse=True)
def _quickly_and_others_are_served(node: AttackedNode) -> Iterator[None]:
    with refused_quickly(node):
        yield


Conversation = Callable[[WireConnection], Refusal]


def plain_message(message: bytes) -> Conversation:
    def converse(connection: WireConnection) -> Refusal:
        assert choose(connection, "PLAIN").error_code == 0
        return refused(say(connection, message))

    return converse


def scram_login(name: str, password: str, mechanism: str = "SCRAM-SHA-256") -> Conversation:
    return lambda connection: refused(
        log_in(connection, scram(name, password, mechanism=mechanism))
    )


def scram_final(old: bytes, new: bytes) -> Conversation:
    """Alice's own proof, in a message that is changed on its way."""
    return lambda connection: refused(
        log_in(connection, scram("alice", PASSWORD), final_changed=(old, new))
    )


def scram_messages(*messages: bytes) -> Conversation:
    def converse(connection: WireConnection) -> Refusal:
        assert choose(connection, "SCRAM-SHA-256").error_code == 0
        for message in messages[:-1]:
            assert say(connection, message).error_code == 0
        return refused(say(connection, messages[-1]))

    return converse


def weaker_proof(connection: WireConnection) -> Refusal:
    """The proof of SCRAM-SHA-256 where SCRAM-SHA-512 was chosen."""
    client = scram("alice", PASSWORD)
    assert choose(connection, "SCRAM-SHA-512").error_code == 0
    challenge = say(connection, client.first_message())
    return refused(say(connection, client.evaluate(bytes(challenge.auth_bytes)) or b""))


FIRST = b"n,,n=alice,r=nonce"
FINAL = b"c=biws,r=nonce,p=" + b64encode(bytes(32))
PASSWORD_ATTACKS: dict[str, tuple[Conversation, str]] = {
    "PLAIN: wrong password": (plain_message(plain("alice", PLANTED)), INVALID),
    "PLAIN: unknown user": (plain_message(plain("mallory", PASSWORD)), INVALID),
    "PLAIN: empty password": (plain_message(plain("alice", "")), INVALID),
    "PLAIN: no message": (plain_message(b""), INVALID),
    "PLAIN: a fourth part": (plain_message(plain("alice", PASSWORD) + b"\0x"), INVALID),
    "PLAIN: a name in place of the id": (plain_message(b"alice\0\0" + PASSWORD.encode()), INVALID),
    "PLAIN: half a megabyte": (plain_message(plain("alice", PLANTED * 70_000)), INVALID),
    "PLAIN: authorization id of another": (
        plain_message(plain("bob", BOBS_PASSWORD, authorization_id="alice")),
        AUTHORIZATION_ID,
    ),
    "SCRAM: wrong password": (scram_login("alice", PLANTED), INVALID),
    "SCRAM: unknown user": (scram_login("mallory", PASSWORD), INVALID),
    "SCRAM-SHA-512: wrong password": (scram_login("alice", PLANTED, "SCRAM-SHA-512"), INVALID),
    "SCRAM: user of another mechanism": (scram_login("bob", BOBS_PASSWORD), INVALID),
    "SCRAM: authorization id of another": (
        scram_messages(b"n,a=bob,n=alice,r=nonce"),
        AUTHORIZATION_ID,
    ),
    "SCRAM: a proof of zeros": (scram_messages(FIRST, FINAL), INVALID),
    "SCRAM: the final message first": (scram_messages(FINAL), INVALID),
    "SCRAM: the first message twice": (scram_messages(FIRST, FIRST), INVALID),
    "SCRAM: no final message": (scram_messages(FIRST, b""), INVALID),
    "SCRAM: a nonce that is not the node's": (scram_final(b"r=nonce", b"r=nonce!"), INVALID),
    "SCRAM: a header that was removed": (scram_final(b"c=biws", b"c=eSws"), INVALID),
    "SCRAM: channel binding that no listener has": (
        scram_messages(b"p=tls-unique,,n=alice,r=nonce"),
        INVALID,
    ),
    "SCRAM: an extension that is demanded": (scram_messages(b"n,,m=x,n=alice,r=nonce"), INVALID),
    "SCRAM: a name that is escaped wrongly": (scram_messages(b"n,,n=a=2clice,r=nonce"), INVALID),
    "SCRAM: half a megabyte": (scram_messages(FIRST + b"," + b"a=b," * 100_000), INVALID),
    "SCRAM: the proof of a weaker mechanism": (weaker_proof, INVALID),
}


@pytest.mark.parametrize("name", PASSWORD_ATTACKS)
def test_wrong_passwords_are_refused(node: AttackedNode, name: str) -> None:
    converse, text = PASSWORD_ATTACKS[name]
    mechanism = "PLAIN" if name.startswith("PLAIN") else "SCRAM-SHA-256"
    if "SHA-512" in name or "weaker" in name:
        mechanism = "SCRAM-SHA-512"
    with node.connect("CLIENTS") as connection:
        assert converse(connection) == Refusal(FAILED, text.format(mechanism))
        assert connection.receive_end() == b""


def test_an_overheard_exchange_cannot_be_replayed(node: AttackedNode) -> None:
    client = scram("alice", PASSWORD)
    with node.connect("CLIENTS") as connection:
        choose(connection, client.name)
        challenge = say(connection, client.first_message())
        final = client.evaluate(bytes(challenge.auth_bytes)) or b""
        assert say(connection, final).error_code == 0
        # The exchange has ended; the session goes on.
        assert say(connection, final).error_code == ILLEGAL
        assert is_served(connection)
    with node.connect("CLIENTS") as connection:
        replay = scram_messages(client.first_message(), final)
        assert replay(connection) == Refusal(FAILED, INVALID.format("SCRAM-SHA-256"))
        assert connection.receive_end() == b""


def test_a_challenge_does_not_tell_whether_a_user_exists(node: AttackedNode) -> None:
    found: dict[str, set[tuple[bytes, bytes]]] = {}
    for name in ("alice", "mallory") * 2:
        with node.connect("CLIENTS") as connection:
            choose(connection, "SCRAM-SHA-256")
            challenge = bytes(say(connection, scram(name, "x").first_message()).auth_bytes)
            nonce, salt, iterations = challenge.split(b",")
            found.setdefault(name, set()).add((salt, iterations))
            # Like the others, it is refused in the end.
            final = b"c=biws," + nonce + b",p=" + b64encode(bytes(32))
            assert refused(say(connection, final)).text == INVALID.format("SCRAM-SHA-256")
    ((known_salt, known),) = found["alice"]
    ((unknown_salt, unknown),) = found["mallory"]
    assert unknown == known
    assert len(unknown_salt) == len(known_salt)


# ---- mechanisms, and the order of messages


@pytest.mark.parametrize("mechanism", ["GSSAPI", "plain", "", "ANONYMOUS", "EXTERNAL", "PLAIN\0"])
def test_mechanisms_that_are_not_enabled_are_refused(node: AttackedNode, mechanism: str) -> None:
    for listener, enabled in (("CLIENTS", 4), ("SECURE", 1), ("CONTROLLER", 1)):
        tls = node.client_context() if listener == "SECURE" else None
        with node.connect(listener, tls=tls) as connection:
            response = choose(connection, mechanism)
            assert response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
            assert len(response.mechanisms) == enabled
            assert connection.receive_end() == b""


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_a_weaker_mechanism_of_another_listener_is_refused(
    node: AttackedNode, mechanism: str
) -> None:
    with node.connect("SECURE", tls=node.client_context()) as connection:
        response = choose(connection, mechanism)
        assert response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert connection.receive_end() == b""


def test_tokens_without_headers_are_refused(node: AttackedNode) -> None:
    """SaslHandshake version 0 is followed by them."""
    with node.connect("CLIENTS") as connection:
        assert choose(connection, "PLAIN", 0).error_code == ErrorCode.UNSUPPORTED_VERSION
        connection.send_what_it_takes(with_size(plain("alice", PASSWORD)))
        assert connection.receive_end() == b""


OUT_OF_ORDER: dict[str, tuple[int, ...]] = {
    "a message before the handshake": (ApiKey.SASL_AUTHENTICATE,),
    "a second handshake": (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_HANDSHAKE),
    "versions during the exchange": (ApiKey.SASL_HANDSHAKE, ApiKey.API_VERSIONS),
    "a request during the exchange": (ApiKey.SASL_HANDSHAKE, ApiKey.METADATA),
    "versions a third time": (ApiKey.API_VERSIONS,) * 3,
}
BODIES = {
    ApiKey.SASL_HANDSHAKE: (1, struct.pack(">h", 5) + b"PLAIN"),
    ApiKey.SASL_AUTHENTICATE: (0, struct.pack(">i", 0)),
    ApiKey.API_VERSIONS: (0, b""),
    ApiKey.METADATA: (1, struct.pack(">i", 0)),
}


@pytest.mark.parametrize("name", OUT_OF_ORDER)
def test_messages_out_of_order_close_the_connection(node: AttackedNode, name: str) -> None:
    keys = OUT_OF_ORDER[name]
    with node.connect("CLIENTS") as connection:
        for number, key in enumerate(keys):
            version, body = BODIES[ApiKey(key)]
            connection.send(with_size(struct.pack(">hhih", key, version, number, -1) + body))
            if number < len(keys) - 1:
                connection.receive_frame()
        assert connection.receive_end() == b""


@pytest.mark.parametrize("listener", ["CLIENTS", "SECURE", "CONTROLLER"])
def test_no_other_api_is_answered_before_authentication(node: AttackedNode, listener: str) -> None:
    """Not even with an error, whether the listener has the API or not."""
    tls = node.client_context() if listener == "SECURE" else None
    for key in ApiKey:
        if key in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE):
            continue
        with node.connect(listener, tls=tls) as connection:
            header = struct.pack(">hhih", key, 0, 1, -1)
            connection.send(with_size(header + PLANTED.encode()))
            assert connection.receive_end() == b"", key.name
