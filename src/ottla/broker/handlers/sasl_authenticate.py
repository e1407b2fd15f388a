"""SaslAuthenticate, versions 0 to 2: one message of a SASL exchange, and the server's answer.

SASL_AUTHENTICATION_FAILED, after which the connection is closed; ILLEGAL_SASL_STATE if no exchange
is in progress.
"""

from __future__ import annotations

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode
from ottla.security.acls.rights import NO_RIGHTS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse


@handles(ApiKey.SASL_AUTHENTICATE, rights=NO_RIGHTS)
def sasl_authenticate(
    context: RequestContext, request: SaslAuthenticateRequest
) -> SaslAuthenticateResponse | Pending:
    session = None if context.connection is None else context.connection.session
    if session is None or session.sasl is None:
        return SaslAuthenticateResponse(
            error_code=ErrorCode.ILLEGAL_SASL_STATE,
            error_message="this listener does not use SASL, or the client is authenticated already",
        )
    return session.authenticate(request, context.api_version)
