"""What a topic demands of the keys and values of its records."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ottla.schemas.registered.subject_name import DEFAULT_CONTEXT, qualified


class PayloadCheck(Enum):
    """The values are those of the topic configs.

    SCHEMA_ID: the payload names a schema that is registered under the subject. FULL: it also is
    what that schema says.
    """

    NONE = "none"
    SCHEMA_ID = "schema-id"
    FULL = "full"


class SubjectNaming(Enum):
    """How a schema's subject is named. The values are the names of Confluent's strategies."""

    TOPIC = "TopicNameStrategy"
    RECORD = "RecordNameStrategy"
    TOPIC_RECORD = "TopicRecordNameStrategy"


class PartRule(NamedTuple):
    """For the keys or for the values."""

    check: PayloadCheck = PayloadCheck.NONE
    naming: SubjectNaming = SubjectNaming.TOPIC

    @property
    def needs_schema(self) -> bool:
        """Whether the id alone does not decide."""
        return self.check is PayloadCheck.FULL or (
            self.check is PayloadCheck.SCHEMA_ID and self.naming is not SubjectNaming.TOPIC
        )

    def subject(self, topic: str, *, is_key: bool, record_name: str | None) -> str | None:
        """The subject, without its context; None if the schema has no name and needs one."""
        if self.naming is SubjectNaming.TOPIC:
            return f"{topic}-{'key' if is_key else 'value'}"
        if record_name is None or self.naming is SubjectNaming.RECORD:
            return record_name
        return f"{topic}-{record_name}"


class SchemaRules(NamedTuple):
    """Of a topic. Without a dead letter topic, bad batches are refused."""

    key: PartRule = PartRule()
    value: PartRule = PartRule()
    context: str = DEFAULT_CONTEXT
    dead_letter_topic: str = ""

    def part(self, *, is_key: bool) -> PartRule:
        return self.key if is_key else self.value

    def qualified(self, subject: str) -> str:
        """The subject in the topic's context."""
        return qualified(self.context, subject)
