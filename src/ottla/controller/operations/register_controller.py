"""ControllerRegistration, version 0: registers the endpoints and features of a controller."""

from __future__ import annotations

from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import MetadataImage
from ottla.metadata.broker import feature_structs, listener_structs, version_ranges
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
        end_points=listener_structs(ControllerEndpoint, request.listeners),
        features=feature_structs(ControllerFeature, version_ranges(request.features)),
    )
    return OperationOutcome([record], ControllerRegistrationResponse(error_message=None))
