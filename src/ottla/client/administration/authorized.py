"""Authorized operations, which answers have as a bit field (KIP-430)."""

from __future__ import annotations

from typing import Final

from ottla.security.acls.acl import AclOperation

NOT_REQUESTED: Final = -(2**31)


def authorized_operations(bits: int) -> frozenset[AclOperation] | None:
    """None if they were not requested. Codes that this version does not know are left out."""
    if bits == NOT_REQUESTED:
        return None
    return frozenset(
        operation
        for operation in AclOperation
        if bits >> operation & 1 and operation is not AclOperation.UNKNOWN
    )
