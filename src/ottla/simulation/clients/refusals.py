"""The errors with which nodes refuse what ACLs do not allow."""

from __future__ import annotations

from typing import Final

from ottla.model import ErrorCode

_REFUSALS: Final = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    }
)


def is_refusal(error: int) -> bool:
    return error in _REFUSALS
