"""What the log and the audit log of a node may say after attacks by clients without rights."""

from __future__ import annotations

import json
import re
from typing import Final

from tests.support.security.attacked_node import LISTENERS, AttackedNode

_PEER: Final = r"127\.0\.0\.[12]:\d+"
_LISTENER: Final = f"(?:{'|'.join(LISTENERS)})"
_REASON: Final = (
    r"the credentials are invalid"
    r"|authenticate first: another request was expected"
    r"|the authorization id must be empty or the (?:user name|token's subject)"
    r'|\{"status":"invalid_token"\}'
    r"|the client asked for a mechanism that is not enabled"
    r"|the client sent SaslHandshake version 0: use version 1 and SaslAuthenticate"
    r"|the mechanism of re-authentication must be [A-Z0-9-]+, as before"
    r"|re-authentication must keep the principal User:alice, not change to User:bob"
)
# OpenSSL's names of reasons, and its texts about certificates.
_TLS_REASON: Final = (
    r"the peer closed it"
    r"|the two sides have no TLS version in common"
    r"|no TLS handshake within [0-9.]+ s"
    r"|certificate verify failed: [a-z -]+"
    r"|[a-z0-9 ]+"
)
_ALLOWED: Final = re.compile(
    r"\S+ \S+ (?:INFO|WARNING|ERROR) +(?:"
    r"this node is the active controller, in epoch \d+"
    rf"|the client at 127\.0\.0\.[12] did not authenticate on {_LISTENER}: "
    rf"(?:{_REASON}|the client did not authenticate in time"
    rf"|the TLS handshake failed: (?:{_TLS_REASON}))"
    r"(?: \([\d,]+ more times since the last line\))?"
    rf"|closing the connection from {_PEER}: (?:{_REASON}|it did not authenticate in time)"
    rf"|closing the connection from {_PEER}: its host has reached max\.connections\.per\.ip"
    rf"|closing the connection from {_PEER}: malformed [A-Za-z]+ version \d+: tag \d+ claims \d+ "
    r"elements or bytes, more than fit in \d+ bytes"
    rf"|closing the connection from {_PEER}: the peer announces a frame of -?\d+ bytes .*"
    rf"|closing the connection from {_PEER}: a request of \d+ bytes ends within its header"
    rf"|closing the connection from {_PEER}: [A-Za-z]+ .*field.*"
    rf"|closing the connection from {_PEER}: [A-Z_]+ version \d+ is not supported .*"
    rf"|closing the connection from {_PEER}: API -?\d+ is not supported on this listener"
    rf"|closing the connection from {_PEER}: there are no messages for API key -?\d+"
    r"|Ottla accepts the stored broker config [\w.]+ without effect"
    rf"|cannot apply the new settings of listener {_LISTENER}: the (?:key|trust) store \S+ "
    r"(?:cannot be used|has no certificates).*"
    r"|\.\.\. and [\d,]+ more in the last \d+ s, the last one: .*"
    r")"
)


def assert_reveals_nothing(node: AttackedNode, *secrets: str) -> None:
    """Fails for a line that is of no known kind, and for one with something that a client sent."""
    lines = [line for line in node.stderr.splitlines() if line != "Stopping ..."]
    unknown = [line for line in lines if not _ALLOWED.fullmatch(line)]
    assert not unknown, unknown[:10]
    audited = node.audit_log.read_text()
    for secret in secrets:
        assert secret not in node.stderr
        assert secret not in audited
    for line in audited.splitlines():
        entry = json.loads(line)
        if entry["event"] == "authentication" and not entry["allowed"]:
            assert entry["principal"] is None
