"""A connection of a test to a listener with TLS and SCRAM."""

from __future__ import annotations

import ssl
from pathlib import Path

from ottla.configs.value import Password
from ottla.security.sasl.scram import ScramClient
from ottla.security.sasl.scram_credential import ScramMechanism
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.nodes.wire_connection import WireConnection


class SecuredWireConnection(WireConnection):
    """Authenticated when it is made; raises ConnectionRefusedError if the node refuses that."""

    def __init__(
        self,
        address: tuple[str, int],
        truststore: Path,
        mechanism: ScramMechanism,
        name: str,
        password: str,
        *,
        is_token: bool = False,
    ) -> None:
        super().__init__(address)
        try:
            context = ssl.create_default_context(cafile=truststore)
            self.socket = context.wrap_socket(self.socket, server_hostname=address[0])
            self._log_in(
                ScramClient(mechanism, name, Password(password), nonce="nonce", is_token=is_token)
            )
        except BaseException:
            self.socket.close()
            raise

    def _log_in(self, client: ScramClient) -> None:
        chosen = self.send_request(SaslHandshakeRequest(mechanism=client.name), 1)
        assert not chosen.error_code, chosen.mechanisms
        message: bytes | None = client.first_message()
        while message is not None:
            answer = self.send_request(SaslAuthenticateRequest(auth_bytes=message), 2)
            if answer.error_code:
                raise ConnectionRefusedError(answer.error_message)
            message = client.evaluate(bytes(answer.auth_bytes))
