"""Configs of topics, brokers, groups and other resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ottla.client.administration.requests import (
    ANY_NODE,
    AdminRequests,
    Outcomes,
    node_error,
    outcome,
    require,
)
from ottla.client.administration.results import Results
from ottla.client.errors import ClientError
from ottla.configs.alteration import ConfigAlteration, ConfigOperation
from ottla.configs.entry import ConfigSource, ConfigSynonym
from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.configs.value import ConfigType
from ottla.model import ErrorCode
from ottla.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.list_config_resources import ListConfigResourcesRequest

# Only the broker itself knows these, and accepts changes of them.
_OF_ONE_BROKER: Final = (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)

# The configs to change, with None for one to take away; or changes of any kind.
ConfigChanges = Mapping[str, str | None] | Iterable[ConfigAlteration]


@dataclass(frozen=True, slots=True)
class DescribedConfig:
    """A config with its effective value, which is None if it has none or is sensitive. `synonyms`
    and `documentation` are empty unless requested."""

    name: str
    value: str | None
    source: ConfigSource
    type: ConfigType
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[ConfigSynonym, ...] = ()
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        return self.source is ConfigSource.DEFAULT_CONFIG


class ConfigOperations(AdminRequests):
    """The methods of `Admin` for configs."""

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        names: Iterable[str] | None = None,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, dict[str, DescribedConfig]]:
        """The configs of each resource, all or those of these names, by name and in order."""
        chosen = None if names is None else list(names)

        async def exchange(
            node_id: int, keys: Sequence[ConfigResource]
        ) -> Outcomes[ConfigResource, dict[str, DescribedConfig]]:
            request = DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=key.type, resource_name=key.name, configuration_keys=chosen
                    )
                    for key in keys
                ],
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            )
            answer = await self._ask_node(node_id, request)
            return {
                _resource(each): outcome(_configs(each), each.error_code, each.error_message)
                for each in answer.results
            }

        async def attempt(
            keys: Sequence[ConfigResource],
        ) -> Outcomes[ConfigResource, dict[str, DescribedConfig]]:
            return await self._by_node({key: _place(key) for key in keys}, exchange)

        return await self._each("describe configs", resources, attempt, timeout)

    async def alter_configs(
        self,
        changes: Mapping[ConfigResource, ConfigChanges],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Changes these configs and no others; those of one resource together or not at all."""
        altered = {resource: _alterable(resource, each) for resource, each in changes.items()}

        async def exchange(
            node_id: int, keys: Sequence[ConfigResource]
        ) -> Outcomes[ConfigResource, None]:
            request = IncrementalAlterConfigsRequest(
                resources=[altered[key] for key in keys], validate_only=validate_only
            )
            answer = await self._ask_node(node_id, request)
            return {
                _resource(each): outcome(None, each.error_code, each.error_message)
                for each in answer.responses
            }

        async def attempt(keys: Sequence[ConfigResource]) -> Outcomes[ConfigResource, None]:
            return await self._by_node({key: _place(key) for key in keys}, exchange)

        return await self._each("change configs", changes, attempt, timeout)

    async def list_config_resources(
        self,
        types: Iterable[ConfigResourceType] = (),
        *,
        timeout: float | None = None,
    ) -> list[ConfigResource]:
        """The resources that have configs, of these types or of all."""
        request = ListConfigResourcesRequest(resource_types=sorted(types))

        async def attempt() -> Any:
            answer = await self._cluster.send_to_any(request)
            require(answer.error_code)
            return answer

        answer = await self._retrying("list the resources with configs", attempt, timeout)
        return sorted(
            ConfigResource(ConfigResourceType(each.resource_type), each.resource_name)
            for each in answer.config_resources
        )


def _place(resource: ConfigResource) -> int | ClientError:
    if resource.type not in _OF_ONE_BROKER or not resource.name:
        return ANY_NODE
    if not resource.name.isdecimal():
        return node_error(ErrorCode.INVALID_REQUEST, f"{resource.name!r} is not the id of a broker")
    return int(resource.name)


def _alterable(resource: ConfigResource, changes: ConfigChanges) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=resource.type,
        resource_name=resource.name,
        configs=[
            AlterableConfig(name=each.name, config_operation=each.operation, value=each.value)
            for each in alterations(changes)
        ],
    )


def alterations(changes: ConfigChanges) -> list[ConfigAlteration]:
    if not isinstance(changes, Mapping):
        return list(changes)
    return [
        ConfigAlteration(
            name, ConfigOperation.DELETE if value is None else ConfigOperation.SET, value
        )
        for name, value in changes.items()
    ]


def _resource(result: Any) -> ConfigResource:
    return ConfigResource(ConfigResourceType(result.resource_type), result.resource_name)


def _configs(result: DescribeConfigsResult) -> dict[str, DescribedConfig]:
    return {
        each.name: DescribedConfig(
            each.name,
            each.value,
            _source(each.config_source),
            _type(each.config_type),
            each.read_only,
            each.is_sensitive,
            tuple(
                ConfigSynonym(synonym.name, synonym.value, _source(synonym.source))
                for synonym in each.synonyms
            ),
            each.documentation or None,
        )
        for each in sorted(result.configs, key=lambda each: each.name)
    }


def _source(code: int) -> ConfigSource:
    """A newer cluster may have more."""
    try:
        return ConfigSource(code)
    except ValueError:
        return ConfigSource.UNKNOWN


def _type(code: int) -> ConfigType:
    try:
        return ConfigType(code)
    except ValueError:
        return ConfigType.UNKNOWN
