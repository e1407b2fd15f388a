"""Suggests the config that the user may have meant by an unknown name."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.configs.definitions import BROKER_CONFIGS, DYNAMIC_BROKER_CONFIGS, TOPIC_CONFIGS
from ottla.configs.synonyms import TOPIC_SYNONYMS, listener_base_name


def near_broker_config(name: str) -> str | None:
    """The broker config that a topic config falls back to, or else the most similar name."""
    if name in TOPIC_SYNONYMS:
        return TOPIC_SYNONYMS[name][0].name
    known = (*BROKER_CONFIGS, *DYNAMIC_BROKER_CONFIGS)
    base = listener_base_name(name)
    if base is not None:
        near = _most_similar(base, known)
        return None if near is None else f"{name.removesuffix(base)}{near}"
    return _most_similar(name, known)


def near_topic_config(name: str) -> str | None:
    """The topic config that overrides a broker config, or else the most similar name."""
    for topic_config, synonyms in TOPIC_SYNONYMS.items():
        if name in (synonym.name for synonym in synonyms):
            return topic_config
    return _most_similar(name, TOPIC_CONFIGS)


def unknown_config_text(name: str) -> str:
    """An error text for an unknown name, with a similar name if there is one."""
    near = near_broker_config(name)
    suggestion = "" if near is None else f"; did you mean {near}?"
    return f"{name} is not a broker config of Kafka{suggestion}"


def _most_similar(name: str, known: Iterable[str]) -> str | None:
    # Imported late: a node whose names are all known does not need it.
    from difflib import get_close_matches

    found = get_close_matches(name.lower(), list(known), n=1)
    return found[0] if found else None
