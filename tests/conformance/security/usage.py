"""What each client shows of each login: that its user may do what an ACL allows, and no more."""

from __future__ import annotations

from typing import Final

import pytest

from ottla.model import ErrorCode
from tests.conformance.security.clients import RefusedError, SecuredClient
from tests.conformance.security.logins import Endpoint, Login
from tests.conformance.security.population import CLOSED

VALUES: Final = ["one", "two", "three"]


def own_name(client: SecuredClient, login: Login) -> str:
    """Of the topic and the group that only this client uses, as this user."""
    return f"{login.name}-{client.name}"


def assert_allowed(client: SecuredClient, endpoint: Endpoint, login: Login) -> None:
    own = own_name(client, login)
    client.produce(endpoint, login, own, VALUES)
    assert client.consume(endpoint, login, own, own, len(VALUES)) == VALUES


def assert_refused(client: SecuredClient, endpoint: Endpoint, login: Login) -> None:
    with pytest.raises(RefusedError) as refused:
        client.produce(endpoint, login, CLOSED, VALUES)
    assert refused.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    with pytest.raises(RefusedError) as refused:
        client.consume(endpoint, login, own_name(client, login), CLOSED, 1)
    assert refused.value.code is ErrorCode.GROUP_AUTHORIZATION_FAILED
