"""The dependencies shared by the parts of one partition's group coordinator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ottla.coordinator.groups.consumer.topic_regexes import TopicRegexes
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.groups.settings import GroupSettings
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.state_machine import Timers
from ottla.metadata import MetadataImage
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice


@dataclass(frozen=True, slots=True)
class GroupContext:
    groups: Groups
    offsets: Offsets
    timers: Timers
    clock: Clock
    dice: Dice
    regexes: TopicRegexes
    # These can change while the coordinator is active.
    settings_now: Callable[[], GroupSettings]
    image_now: Callable[[], MetadataImage]
    metadata_offset_now: Callable[[], int]

    @property
    def settings(self) -> GroupSettings:
        return self.settings_now()

    @property
    def image(self) -> MetadataImage:
        return self.image_now()

    @property
    def metadata_offset(self) -> int:
        """The offset of the last metadata record in the image."""
        return self.metadata_offset_now()

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def new_id(self) -> str:
        """A UUID in the usual text form, for member ids."""
        text = self.dice.uuid().hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
