"""ControllerRegistration, version 0: registers the endpoints and features of a controller."""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage
from ottla.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from ottla.wire.stored.cluster_metadata.brokers import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)


def register_controller(
    _image: MetadataImage, request: ControllerRegistrationRequest, _context: Context
) -> OperationOutcome[ControllerRegistrationResponse]:
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        end_points=[
            ControllerEndpoint(
                name=listener.name,
                host=listener.host,
                port=listener.port,
                security_protocol=listener.security_protocol,
            )
            for listener in request.listeners
        ],
        features=[
            ControllerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
    )
    return OperationOutcome([record], ControllerRegistrationResponse(error_message=None))
