"""The configs set for a broker at each level, as texts.

Dynamic configs override static ones, and this broker's dynamic configs override those of the whole
cluster (KIP-226). Several names of the same setting are one setting: if a level sets one of the
names, it overrides all of them at the lower levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ottla.configs.definitions import BROKER_CONFIGS
from ottla.configs.entry import ConfigSource, ConfigSynonym
from ottla.configs.synonyms import broker_synonyms, described_synonyms

_DEFAULTS: Final[Mapping[str, str]] = {
    name: text
    for name, definition in BROKER_CONFIGS.items()
    if (text := definition.default_text) is not None
}


@dataclass(frozen=True, slots=True)
class ConfigLayers:
    """Texts by name. `repr` does not show them, because they may contain secrets."""

    static: Mapping[str, str] = field(repr=False)
    dynamic_default: Mapping[str, str] = field(default_factory=dict, repr=False)
    dynamic_broker: Mapping[str, str] = field(default_factory=dict, repr=False)

    def merged(self) -> dict[str, str]:
        """The effective texts, without defaults."""
        merged = dict(self.static)
        for level in (self.dynamic_default, self.dynamic_broker):
            for name, text in level.items():
                for synonym in broker_synonyms(name):
                    merged.pop(synonym, None)
                merged[name] = text
        return merged

    def synonyms(self, name: str, *, is_sensitive: bool) -> tuple[ConfigSynonym, ...]:
        """The config's sources, as Kafka lists them: starting where the name itself is first set.

        So `log.retention.ms` has no synonyms if it is not set, even if `log.retention.hours` is.
        """
        found = tuple(self._found(name, is_sensitive=is_sensitive))
        for index, synonym in enumerate(found):
            if synonym.name == name:
                return found[index:]
        return ()

    def _found(self, name: str, *, is_sensitive: bool) -> Iterator[ConfigSynonym]:
        for texts, source in (
            (self.dynamic_broker, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (self.static, ConfigSource.STATIC_BROKER_CONFIG),
            (_DEFAULTS, ConfigSource.DEFAULT_CONFIG),
        ):
            for synonym in described_synonyms(name):
                if synonym in texts:
                    yield ConfigSynonym(synonym, None if is_sensitive else texts[synonym], source)
