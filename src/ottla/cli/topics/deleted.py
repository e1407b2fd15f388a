"""`ottla topics deleted`, `undelete` and `purge` at work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ottla.cli.connection import cluster_errors
from ottla.cli.connection.admin_connection import doing
from ottla.cli.display.cells import NOTHING, count, moment, size
from ottla.cli.display.confirmation import confirm
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.topics.hanging import abort_hanging
from ottla.cli.topics.run import Outcomes
from ottla.client.administration.admin import Admin
from ottla.client.administration.deleted_topics import DeletedTopicDescription
from ottla.client.errors import ClientError, TopicAlreadyExistsError
from ottla.model import uuid_to_text
from ottla.runtime.system_clock import SystemClock


async def list_deleted(admin: Admin, terminal: Terminal, *, as_json: bool) -> None:
    topics = await _deleted(admin)
    sizes = await _sizes(admin)
    if as_json:
        for topic in topics:
            terminal.print_json(_as_json(topic, sizes))
    elif not topics:
        terminal.notice("There are no deleted topics that can be restored.")
    else:
        table = new_table(
            "topic",
            "id",
            "partitions",
            "deleted (UTC)",
            "kept until (UTC)",
            "size",
            right=("partitions", "size"),
        )
        for topic in topics:
            table.add_row(
                topic.name,
                uuid_to_text(topic.topic_id),
                str(topic.partitions),
                moment(topic.deleted_ms)[:-4],
                moment(topic.until_ms)[:-4],
                NOTHING if sizes is None else size(sizes[topic.resource_name]),
            )
        terminal.stdout.print(table)


async def undelete(
    admin: Admin,
    terminal: Terminal,
    name: str,
    *,
    topic_id: str | None,
    new_name: str | None,
    as_json: bool,
) -> None:
    before_ms = SystemClock().now_ms()
    chosen = max(await _chosen(admin, [name], topic_id), key=lambda topic: topic.deleted_ms)
    with doing(f"undelete topic {name}"):
        try:
            restored = await admin.undelete_topic(chosen, name=new_name)
        except TopicAlreadyExistsError:
            raise CommandError(
                f"There is a topic {new_name or name} already.",
                "Restore the deleted one under another name, with --as NAME.",
                exit_code=ExitCode.REFUSED,
            ) from None
    aborted = await abort_hanging(admin, terminal, restored.name, before_ms=before_ms)
    if as_json:
        fields = {"topic": restored.name, "outcome": "restored", "aborted_transactions": aborted}
        terminal.print_json(fields | {"topic_id": uuid_to_text(chosen.topic_id)})
    else:
        partitions = count(chosen.partitions, "partition")
        terminal.stdout.print(f"restored {restored.name} ({partitions})", markup=False)


async def purge(
    admin: Admin,
    terminal: Terminal,
    names: Sequence[str],
    *,
    topic_id: str | None,
    is_confirmed: bool,
    as_json: bool,
) -> ExitCode:
    chosen = await _chosen(admin, names, topic_id)
    if not is_confirmed:
        what = ", ".join(topic.resource_name for topic in chosen)
        confirm(f"Remove {what} with all records? They cannot be restored afterwards.")
    outcomes = Outcomes(terminal, as_json=as_json)
    with doing("purge deleted topics"):
        results = await admin.purge_deleted_topics(chosen)
    for topic in chosen:
        error = results.error(topic.resource_name)
        if error is None:
            outcomes.succeed(topic.resource_name, "purged")
        else:
            what = f"purge {topic.resource_name}"
            outcomes.fail(topic.resource_name, cluster_errors.refused(what, error))
    return outcomes.worst


async def _deleted(admin: Admin) -> list[DeletedTopicDescription]:
    with doing("list the deleted topics"):
        return await admin.list_deleted_topics()


async def _chosen(
    admin: Admin, names: Sequence[str], topic_id: str | None
) -> list[DeletedTopicDescription]:
    """The deleted topics of these names, or the one that has this id, too."""
    found = await _deleted(admin)
    chosen = [
        topic
        for topic in found
        if topic.name in names and topic_id in (None, uuid_to_text(topic.topic_id))
    ]
    for name in names:
        if not any(topic.name == name for topic in chosen):
            which = name if topic_id is None else f"{name} with the id {topic_id}"
            raise CommandError(
                f"There is no deleted topic {which}.",
                "`ottla topics deleted` shows those that can be restored.",
                exit_code=ExitCode.REFUSED,
            )
    return chosen


async def _sizes(admin: Admin) -> Counter[str] | None:
    """The bytes of all replicas by name; None if this user may not see log directories."""
    try:
        described = (await admin.describe_log_dirs()).all()
    except ClientError:
        return None
    sizes: Counter[str] = Counter()
    for directories in described.values():
        for directory in directories:
            for replica in directory.replicas:
                sizes[replica.topic] += replica.size_in_bytes
    return sizes


def _as_json(topic: DeletedTopicDescription, sizes: Counter[str] | None) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "topic_id": uuid_to_text(topic.topic_id),
        "partitions": topic.partitions,
        "deleted_ms": topic.deleted_ms,
        "until_ms": topic.until_ms,
        "size": None if sizes is None else sizes[topic.resource_name],
    }
