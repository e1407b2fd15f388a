"""ApiVersions, versions 0 to 4: the APIs of this node and the features of the cluster.

An unsupported version gets UNSUPPORTED_VERSION in a version 0 response, so that any client can read
the supported versions. Versions below 4 omit features whose lowest version is 0 (KIP-1022). Produce
is advertised from version 0 for old versions of librdkafka, though 0 to 2 are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ottla.broker.control.cluster_features import ClusterFeatures
from ottla.broker.network.handling import HandledApi, RequestContext, handles
from ottla.model import ErrorCode
from ottla.security.acls.rights import NO_RIGHTS
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_CLIENT_WORD = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")
_NAMED_FROM_VERSION = 3
_ZERO_SHOWN_FROM_VERSION = 4


@handles(ApiKey.API_VERSIONS, rights=NO_RIGHTS)
def api_versions(
    context: RequestContext,
    request: ApiVersionsRequest,
    *,
    features: ClusterFeatures,
    apis: Mapping[int, HandledApi],
) -> ApiVersionsResponse:
    return describe_apis(context, request, features, apis)


def describe_apis(
    context: RequestContext,
    request: ApiVersionsRequest,
    features: ClusterFeatures,
    apis: Mapping[int, HandledApi],
) -> ApiVersionsResponse:
    """The response for a listener that serves `apis`."""
    version = context.api_version
    if version >= _NAMED_FROM_VERSION and not (
        _CLIENT_WORD.fullmatch(request.client_software_name)
        and _CLIENT_WORD.fullmatch(request.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    if version >= _NAMED_FROM_VERSION and context.connection is not None:
        software = request.client_software_name, request.client_software_version
        context.connection.session.software = software
    return ApiVersionsResponse(
        api_keys=[api.advertised for api in apis.values()],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in features.supported.items()
            if lowest > 0 or version >= _ZERO_SHOWN_FROM_VERSION
        ],
        finalized_features_epoch=features.finalized_epoch,
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in features.finalized.items()
        ],
    )
