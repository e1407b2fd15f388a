"""The difference between two images, compared with the delta of the records between them."""

from contextlib import suppress

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ottla.configs import ConfigResource, ConfigResourceType
from ottla.metadata import MetadataDelta, MetadataError, MetadataImage, apply
from ottla.metadata.difference import difference
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.topics import RemoveTopicRecord
from tests.support.controller.cluster_images import applied, broker, one_broker, topic, uuid
from tests.support.controller.metadata_deltas import assert_leads
from tests.support.controller.metadata_strategies import metadata_records

ORDERS = ConfigResource(ConfigResourceType.TOPIC, "orders")


def config(value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=2, resource_name="orders", name="segment.ms", value=value)


def take(image: MetadataImage, records: list[Message]) -> MetadataDelta:
    """Applies what can be applied."""
    delta = MetadataDelta()
    for record in records:
        with suppress(MetadataError):
            apply(image, record, delta)
    return delta


RECORDS = st.lists(metadata_records, max_size=30)


@given(first=RECORDS, then=RECORDS)
@settings(max_examples=300, deadline=None)
def test_difference_has_the_changes_of_the_records_between(
    first: list[Message], then: list[Message]
) -> None:
    before = MetadataImage()
    take(before, first)
    after = before.copy()
    replayed = take(after, then)
    # No cluster gives an id to a second topic.
    assume(not replayed.topics_created.keys() & replayed.topics_removed.keys())
    found = difference(before, after)
    assert_leads(before, replayed, after)
    assert_leads(before, found, after)
    # It contains nothing that the records did not.
    for name in ("brokers_changed", "controllers_changed", "features_changed"):
        assert getattr(found, name).items() <= getattr(replayed, name).items()
    for topic_id, partitions in found.partitions_changed.items():
        assert partitions.items() <= replayed.partitions_changed[topic_id].items()
    for resource, names in found.configs_changed.items():
        assert names <= replayed.configs_changed[resource]
    assert difference(after, after).is_empty


@given(first=RECORDS, then=RECORDS)
@settings(max_examples=100, deadline=None)
def test_difference_of_any_two_images_leads_from_one_to_the_other(
    first: list[Message], then: list[Message]
) -> None:
    before, after = MetadataImage(), MetadataImage()
    take(before, first)
    take(after, then)
    # A topic stays what it is called, and its partitions stay.
    for topic_id in before.topics.by_id.keys() & after.topics.by_id.keys():
        was, now = before.topics.by_id[topic_id], after.topics.by_id[topic_id]
        assume(was.name == now.name and was.partitions.keys() <= now.partitions.keys())
    assert_leads(before, difference(before, after), after)


def test_equal_images_differ_in_nothing() -> None:
    image = one_broker(topic("orders", [1]))
    assert difference(image, image.copy()).is_empty


def test_new_topic_comes_with_its_partitions_and_configs() -> None:
    before = one_broker()
    after = applied(before, [*topic("orders", [1], [1], topic_id=uuid(7)), config("1")])
    delta = difference(before, after)
    assert delta == MetadataDelta(
        topics_created={uuid(7): after.topics.by_id[uuid(7)]},
        partitions_changed={uuid(7): {0: None, 1: None}},
        configs_changed={ORDERS: {"segment.ms"}},
    )


def test_removed_topic_takes_its_configs_along_in_silence() -> None:
    before = one_broker(topic("orders", [1], topic_id=uuid(7)), config("1"))
    after = applied(before, [RemoveTopicRecord(topic_id=uuid(7))])
    delta = difference(before, after)
    assert delta == MetadataDelta(topics_removed={uuid(7): before.topics.by_id[uuid(7)]})


def test_topic_made_anew_has_new_configs_though_they_be_the_same() -> None:
    before = one_broker(topic("orders", [1], topic_id=uuid(7)), config("1"))
    after = applied(
        before,
        [
            RemoveTopicRecord(topic_id=uuid(7)),
            *topic("orders", [1], topic_id=uuid(8)),
            config("1"),
        ],
    )
    delta = difference(before, after)
    assert list(delta.topics_removed) == [uuid(7)]
    assert list(delta.topics_created) == [uuid(8)]
    assert delta.configs_changed == {ORDERS: {"segment.ms"}}


def test_delta_has_a_changed_broker_as_it_was() -> None:
    before = one_broker()
    after = applied(before, [broker(1, epoch=200), broker(2)])
    delta = difference(before, after)
    assert delta == MetadataDelta(brokers_changed={1: before.brokers[1], 2: None})
