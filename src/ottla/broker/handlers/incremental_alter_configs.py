"""IncrementalAlterConfigs, versions 0 to 1: single configs set, deleted, or lists of them changed.

This broker's loggers get their levels here (KIP-412); everything else is the controller's, and the
answer comes when it counts on this node. Errors per resource are those of the controller's
operation; INVALID_REQUEST for another broker or a resource named twice; KAFKA_STORAGE_ERROR for all
that the controller was asked for, if its disk fails.
"""

from __future__ import annotations

from collections import Counter

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.broker.loggers import check_logger_level, set_logger_level
from ottla.broker.resource_names import check_resource
from ottla.configs import ConfigAlteration, ConfigOperation, ConfigResourceType
from ottla.controller.operations import alter_configs as operation
from ottla.model import ErrorCode, KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
