"""Files to a desired state. All files together are one: nothing may be in two of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from ottla.cli.cluster_file.acl_fields import read_acl
from ottla.cli.cluster_file.config_fields import read_resource
from ottla.cli.cluster_file.desired import DesiredQuotas, DesiredState, ManagedKind
from ottla.cli.cluster_file.fields import FieldReader
from ottla.cli.cluster_file.mistakes import Mistake, Place
from ottla.cli.cluster_file.quota_fields import read_quota
from ottla.cli.cluster_file.topic_fields import read_topic
from ottla.cli.cluster_file.user_fields import read_user
from ottla.cli.cluster_file.yaml_tree import YamlField, YamlTree, parse_yaml
from ottla.cli.display.quota_texts import entity_text

K = TypeVar("K")
V = TypeVar("V")

SECTIONS: Final = (
    "manages",
    "cluster",
    "brokers",
    "topics",
    "groups",
    "users",
    "acls",
    "quotas",
    "client_metrics",
)
# As the cluster checks it; the error here has a line.
_TOPIC_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_BROKER_ID: Final = re.compile(r"[0-9]{1,9}")


def parse_files(files: Iterable[tuple[str, str]]) -> tuple[DesiredState, list[Mistake]]:
    """Takes names and contents. The state is for use only if there are no mistakes."""
    reader = FieldReader()
    parts = _Sections(reader)
    for name, text in files:
        trees, mistakes = parse_yaml(name, text)
        reader.mistakes += mistakes
        for tree in trees:
            parts.read(tree)
    return parts.state, sorted(reader.mistakes)


class _Sections:
    """Adds the sections of one document after the other to the state."""

    def __init__(self, reader: FieldReader) -> None:
        self.state = DesiredState()
        self._reader = reader
        # Where each resource is, by its name in mistakes.
        self._places: dict[str, Place] = {}

    def read(self, document: YamlTree) -> None:
        fields = self._reader.fields(document, "a cluster file", SECTIONS)
        for name, field in fields.items():
            read: Callable[[YamlField], None] = getattr(self, f"_read_{name}")
            read(field)

    def _read_manages(self, field: YamlField) -> None:
        for name, found in self._reader.fields(field.value, "manages", tuple(ManagedKind)).items():
            patterns = self._reader.names(found.value, f"manages {name}")
            for pattern in patterns:
                if "*" in pattern[:-1]:
                    message = f"{pattern!r} has a * before its end; write a name or a prefix and *"
                    self._reader.add(found.place, message)
            kind = ManagedKind(name)
            self.state.manages[kind] = (*self.state.manages.get(kind, ()), *patterns)

    def _read_cluster(self, field: YamlField) -> None:
        self.state.cluster_place = self.state.cluster_place or field.place
        resource = read_resource(self._reader, field, "the cluster")
        for name, value in resource.configs.items():
            self._add(self.state.cluster, name, value, f"{name} of the cluster", value.place)

    def _read_brokers(self, field: YamlField) -> None:
        for name, found in self._reader.entries(field.value, "brokers").items():
            if not _BROKER_ID.fullmatch(name):
                message = f"{name!r} is not the id of a broker; defaults of all are in cluster:"
                self._reader.add(found.place, message)
                continue
            resource = read_resource(self._reader, found, f"broker {name}")
            self._add(self.state.brokers, int(name), resource, f"broker {name}", found.place)

    def _read_topics(self, field: YamlField) -> None:
        for name, found in self._reader.entries(field.value, "topics").items():
            if not _TOPIC_NAME.fullmatch(name) or name in (".", ".."):
                self._reader.add(
                    found.place,
                    f"{name!r} is not a name of a topic; it has 1 to 249 letters, digits, dots, "
                    "underscores and dashes",
                )
            topic = read_topic(self._reader, found, name)
            self._add(self.state.topics, name, topic, f"topic {name}", found.place)

    def _read_groups(self, field: YamlField) -> None:
        for name, found in self._reader.entries(field.value, "groups").items():
            if not name:
                self._reader.add(found.place, "the name of a group is empty; write a name")
            resource = read_resource(self._reader, found, f"group {name}")
            self._add(self.state.groups, name, resource, f"group {name}", found.place)

    def _read_users(self, field: YamlField) -> None:
        for name, found in self._reader.entries(field.value, "users").items():
            user = read_user(self._reader, found, name)
            self._add(self.state.users, name, user, f"user {name}", found.place)

    def _read_acls(self, field: YamlField) -> None:
        for item in self._reader.items(field.value, "acls"):
            for binding, place in read_acl(self._reader, item):
                if binding in self.state.acls:
                    first = self.state.acls[binding]
                    self._reader.add(place, f"this ACL is there twice, first at {first}")
                else:
                    self.state.acls[binding] = place

    def _read_quotas(self, field: YamlField) -> None:
        for item in self._reader.items(field.value, "quotas"):
            read = read_quota(self._reader, item)
            if read is not None:
                entity, place, limits = read
                what = f"the quota of {entity_text(entity)}"
                self._add(self.state.quotas, entity, DesiredQuotas(place, limits), what, place)

    def _read_client_metrics(self, field: YamlField) -> None:
        for name, found in self._reader.entries(field.value, "client_metrics").items():
            if not name:
                self._reader.add(found.place, "the name of a subscription is empty; write a name")
            what = f"client metrics {name}"
            resource = read_resource(self._reader, found, what)
            self._add(self.state.client_metrics, name, resource, what, found.place)

    def _add(self, known: dict[K, V], name: K, value: V, what: str, place: Place) -> None:
        if name in known:
            self._reader.add(place, f"{what} is there twice, first at {self._places[what]}")
            return
        known[name] = value
        self._places[what] = place
