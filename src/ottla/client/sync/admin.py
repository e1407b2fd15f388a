"""The administration of clusters for programs without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack, overload

from ottla.client.administration.admin import Admin as AsyncAdmin
from ottla.client.administration.settings import AdminProperties
from ottla.client.cluster import ClientSeams
from ottla.client.sync.loop_thread import LoopThread

P = ParamSpec("P")
T = TypeVar("T")


class WaitingMethod(Generic[P, T]):
    """The method of the same name that waits for the result: with the same arguments and the same
    documentation."""

    def __init__(
        self, method: Callable[Concatenate[AsyncAdmin, P], Coroutine[Any, Any, T]]
    ) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, face: None, owner: type[Admin]) -> Self: ...

    @overload
    def __get__(self, face: Admin, owner: type[Admin]) -> Callable[P, T]: ...

    def __get__(self, face: Admin | None, owner: type[Admin]) -> Self | Callable[P, T]:
        if face is None:
            return self
        method = partial(self._method, face.client)

        def call(*arguments: P.args, **keywords: P.kwargs) -> T:
            return face.thread.run(partial(method, *arguments, **keywords))

        return update_wrapper(call, self._method)


class Admin:
    """`ottla.client.Admin` with methods that wait, for use in any thread.

    with Admin(bootstrap_servers="127.0.0.1:9092") as admin:
        admin.create_topic("orders", partitions=6)
    """

    def __init__(
        self,
        properties: Mapping[str, Any] | None = None,
        /,
        *,
        seams: ClientSeams | None = None,
        **keywords: Unpack[AdminProperties],
    ) -> None:
        """Raises ConfigError."""
        self.thread = LoopThread.shared()
        self.client = self.thread.call(lambda: AsyncAdmin(properties, seams=seams, **keywords))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    close = WaitingMethod(AsyncAdmin.close)

    create_topics = WaitingMethod(AsyncAdmin.create_topics)
    create_topic = WaitingMethod(AsyncAdmin.create_topic)
    delete_topics = WaitingMethod(AsyncAdmin.delete_topics)
    delete_topic = WaitingMethod(AsyncAdmin.delete_topic)
    list_deleted_topics = WaitingMethod(AsyncAdmin.list_deleted_topics)
    undelete_topic = WaitingMethod(AsyncAdmin.undelete_topic)
    purge_deleted_topics = WaitingMethod(AsyncAdmin.purge_deleted_topics)
    create_partitions = WaitingMethod(AsyncAdmin.create_partitions)
    list_topics = WaitingMethod(AsyncAdmin.list_topics)
    describe_topics = WaitingMethod(AsyncAdmin.describe_topics)
    describe_topic = WaitingMethod(AsyncAdmin.describe_topic)
    describe_eligible_leaders = WaitingMethod(AsyncAdmin.describe_eligible_leaders)

    describe_configs = WaitingMethod(AsyncAdmin.describe_configs)
    alter_configs = WaitingMethod(AsyncAdmin.alter_configs)
    list_config_resources = WaitingMethod(AsyncAdmin.list_config_resources)

    list_offsets = WaitingMethod(AsyncAdmin.list_offsets)
    delete_records = WaitingMethod(AsyncAdmin.delete_records)

    list_groups = WaitingMethod(AsyncAdmin.list_groups)
    describe_groups = WaitingMethod(AsyncAdmin.describe_groups)
    describe_group = WaitingMethod(AsyncAdmin.describe_group)
    delete_groups = WaitingMethod(AsyncAdmin.delete_groups)
    remove_group_members = WaitingMethod(AsyncAdmin.remove_group_members)

    list_group_offsets = WaitingMethod(AsyncAdmin.list_group_offsets)
    describe_share_group = WaitingMethod(AsyncAdmin.describe_share_group)
    list_share_group_offsets = WaitingMethod(AsyncAdmin.list_share_group_offsets)
    alter_share_group_offsets = WaitingMethod(AsyncAdmin.alter_share_group_offsets)
    alter_group_offsets = WaitingMethod(AsyncAdmin.alter_group_offsets)
    delete_group_offsets = WaitingMethod(AsyncAdmin.delete_group_offsets)

    list_transactions = WaitingMethod(AsyncAdmin.list_transactions)
    describe_transactions = WaitingMethod(AsyncAdmin.describe_transactions)
    describe_producers = WaitingMethod(AsyncAdmin.describe_producers)
    describe_delays = WaitingMethod(AsyncAdmin.describe_delays)
    fence_producers = WaitingMethod(AsyncAdmin.fence_producers)
    abort_transaction = WaitingMethod(AsyncAdmin.abort_transaction)

    describe_cluster = WaitingMethod(AsyncAdmin.describe_cluster)
    describe_features = WaitingMethod(AsyncAdmin.describe_features)
    update_features = WaitingMethod(AsyncAdmin.update_features)
    unregister_broker = WaitingMethod(AsyncAdmin.unregister_broker)

    describe_quorum = WaitingMethod(AsyncAdmin.describe_quorum)
    add_voter = WaitingMethod(AsyncAdmin.add_voter)
    remove_voter = WaitingMethod(AsyncAdmin.remove_voter)

    elect_leaders = WaitingMethod(AsyncAdmin.elect_leaders)
    alter_partition_reassignments = WaitingMethod(AsyncAdmin.alter_partition_reassignments)
    list_partition_reassignments = WaitingMethod(AsyncAdmin.list_partition_reassignments)

    describe_log_dirs = WaitingMethod(AsyncAdmin.describe_log_dirs)
    alter_replica_log_dirs = WaitingMethod(AsyncAdmin.alter_replica_log_dirs)

    describe_user_scram_credentials = WaitingMethod(AsyncAdmin.describe_user_scram_credentials)
    alter_user_scram_credentials = WaitingMethod(AsyncAdmin.alter_user_scram_credentials)

    describe_acls = WaitingMethod(AsyncAdmin.describe_acls)
    create_acls = WaitingMethod(AsyncAdmin.create_acls)
    delete_acls = WaitingMethod(AsyncAdmin.delete_acls)

    create_delegation_token = WaitingMethod(AsyncAdmin.create_delegation_token)
    describe_delegation_tokens = WaitingMethod(AsyncAdmin.describe_delegation_tokens)
    renew_delegation_token = WaitingMethod(AsyncAdmin.renew_delegation_token)
    expire_delegation_token = WaitingMethod(AsyncAdmin.expire_delegation_token)

    describe_client_quotas = WaitingMethod(AsyncAdmin.describe_client_quotas)
    alter_client_quotas = WaitingMethod(AsyncAdmin.alter_client_quotas)
    describe_quota_usage = WaitingMethod(AsyncAdmin.describe_quota_usage)
