"""SaslHandshake, versions 0 and 1: chooses the mechanism of the SASL exchange that follows.

UNSUPPORTED_SASL_MECHANISM with the enabled mechanisms, ILLEGAL_SASL_STATE if the listener does not
use SASL or the client has authenticated already, UNSUPPORTED_VERSION for version 0: clients since
Kafka 1.0 use version 1. After an error other than the second one the connection is closed.
"""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode
from ottla.security.acls.rights import NO_RIGHTS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


@handles(ApiKey.SASL_HANDSHAKE, rights=NO_RIGHTS)
def sasl_handshake(
    context: RequestContext, request: SaslHandshakeRequest
) -> SaslHandshakeResponse | Pending:
    session = None if context.connection is None else context.connection.session
    if session is None or session.sasl is None:
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
    return session.handshake(request, context.api_version)
