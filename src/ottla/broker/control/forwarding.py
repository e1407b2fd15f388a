"""Forwards requests of clients to the active controller; an error becomes the response."""

from __future__ import annotations

from typing import Any

from ottla.broker.control.active_controller import ActiveController
from ottla.model import KafkaError
from ottla.security.acls.rights import Rights
from ottla.wire.apis import response_class
from ottla.wire.schema import Message


async def forward(
    controller: ActiveController,
    request: Message,
    version: int,
    rights: Rights,
    client_id: str = "",
) -> Any:
    """The active controller's response. Raises `ConnectionAbortedError` as `error_response`."""
    try:
        return await controller.forward(request, version, rights=rights, client_id=client_id)
    except KafkaError as error:
        return error_response(request, error)


def error_response(request: Message, error: KafkaError) -> Message:
    """The response with a top-level error. Raises `ConnectionAbortedError` if the API's response
    has no field for it."""
    assert request.api_key is not None
    cls = response_class(request.api_key)
    if "error_code" not in cls.field_options:
        raise ConnectionAbortedError(f"{type(request).__name__} cannot be handled: {error}")
    fields: dict[str, Any] = {"error_code": error.code}
    if "error_message" in cls.field_options:
        fields["error_message"] = error.message
    return cls(**fields)
