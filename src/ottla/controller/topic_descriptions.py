"""The configs of new topics in CreateTopics responses (KIP-525)."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.configs import NodeConfig, describe_topic
from ottla.wire.messages.create_topics import CreatableTopicConfigs


class TopicDescriptions:
    """Valid as long as the configs of the node do not change.

    Most topics have no configs of their own; their description is computed once.
    """

    def __init__(self, node: NodeConfig) -> None:
        self._node = node
        self._plain: list[CreatableTopicConfigs] | None = None

    def of_topic(self, configs: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        if configs:
            return self._describe(configs)
        if self._plain is None:
            self._plain = self._describe({})
        return self._plain

    def _describe(self, configs: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        return [
            CreatableTopicConfigs(
                name=entry.name,
                value=entry.value,
                read_only=entry.is_read_only,
                config_source=entry.source,
                is_sensitive=entry.is_sensitive,
            )
            for entry in describe_topic(self._node.topic_config(configs), node=self._node)
        ]
