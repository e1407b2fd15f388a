"""`ottla quotas` against a node that has quotas."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ottla.cli.arguments.quota_values import parse_quotas
from ottla.cli.display.quota_texts import entity_text
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.main import make_app
from ottla.cli.quotas.entity_options import EntityOptions
from ottla.cli.quotas.run import alter_quotas, delete_quotas, describe_usage, list_quotas
from ottla.client.administration.admin import Admin
from ottla.model import ErrorCode
from ottla.quotas.usage import USAGE_TAG, QuotaUsage, encode_usage
from ottla.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
)
from ottla.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from ottla.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from ottla.wire.schema import Message
from tests.support.captured_terminal import captured_terminal, said
from tests.support.nodes.scripted_cluster import ScriptedCluster

ALICE = EntityOptions((("user", "alice"),))
EVERYTHING = EntityOptions(())
USAGE = QuotaUsage("producer_byte_rate", "alice", "", 1_500_000.0, 10_000_000.0, 0)


class Quotas:
    """The quotas of a cluster."""

    def __init__(self) -> None:
        self.stored: dict[tuple[tuple[str, str | None], ...], dict[str, float]] = {}
        self.error = ErrorCode.NONE

    def answer(self, request: Message) -> Message:
        if isinstance(request, DescribeClientQuotasRequest):
            return self._describe(request)
        if not isinstance(request, AlterClientQuotasRequest):
            return MetadataResponse(controller_id=-1)
        (entry,) = request.entries
        entity = tuple((part.entity_type, part.entity_name) for part in entry.entity)
        quotas = self.stored.setdefault(entity, {})
        for change in entry.ops:
            if change.remove:
                quotas.pop(change.key)
            else:
                quotas[change.key] = change.value
        result = AlterClientQuotasResponseEntryData(entity=entry.entity, error_code=self.error)
        return AlterClientQuotasResponse(entries=[result])

    def _describe(self, request: DescribeClientQuotasRequest) -> Message:
        response = DescribeClientQuotasResponse(
            entries=[
                EntryData(
                    entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in parts],
                    values=[ValueData(key=key, value=value) for key, value in quotas.items()],
                )
                for parts, quotas in self.stored.items()
                if quotas and {c.match for c in request.components} <= {name for _, name in parts}
            ]
        )
        if request.unknown_tags:
            response.unknown_tags = {USAGE_TAG: encode_usage([USAGE])}
        return response


def test_quotas_live_from_set_to_delete() -> None:
    quotas, terminal = Quotas(), captured_terminal()
    cluster = ScriptedCluster(quotas.answer)
    values = {"producer_byte_rate": 1e7, "request_percentage": 50.0}
    cluster.run(lambda admin: alter_quotas(admin, terminal, ALICE, values, as_json=False))
    assert quotas.stored == {ALICE.entity: values}
    terminal = captured_terminal()
    cluster.run(lambda admin: list_quotas(admin, terminal, EVERYTHING, as_json=False))
    assert "user alice" in said(terminal)
    assert "50 %" in said(terminal)
    terminal = captured_terminal()
    cluster.run(lambda admin: list_quotas(admin, terminal, EVERYTHING, as_json=True))
    assert json.loads(said(terminal)) == {"entity": {"user": "alice"}, "quotas": values}
    one = ["request_percentage"]
    cluster.run(lambda admin: delete_quotas(admin, terminal, ALICE, one, as_json=False))
    assert quotas.stored == {ALICE.entity: {"producer_byte_rate": 1e7}}
    cluster.run(lambda admin: delete_quotas(admin, terminal, ALICE, (), as_json=False))
    assert quotas.stored == {ALICE.entity: {}}
    with pytest.raises(CommandError, match="user alice has no quota"):
        cluster.run(lambda admin: delete_quotas(admin, terminal, ALICE, (), as_json=False))


def test_a_refused_quota_says_why() -> None:
    quotas, terminal = Quotas(), captured_terminal()
    quotas.error = ErrorCode.INVALID_REQUEST
    cluster = ScriptedCluster(quotas.answer)
    with pytest.raises(CommandError, match="Cannot change the quotas of user alice"):
        cluster.run(lambda admin: alter_quotas(admin, terminal, ALICE, {}, as_json=False))


def test_an_entity_names_the_user_first() -> None:
    assert entity_text((("client-id", None), ("user", "bob"))) == "user bob, default client-id"


def test_quotas_have_units() -> None:
    limits = parse_quotas(["topics_max=5", "retained_bytes_max=10GB"])
    assert limits == {"topics_max": 5.0, "retained_bytes_max": 10_000_000_000.0}
    with pytest.raises(CommandError, match="not a number"):
        parse_quotas(["topics_max=5kB"])
    parsed = parse_quotas(["producer_byte_rate=1.5MB", "request_percentage=0.5"])
    assert parsed == {"producer_byte_rate": 1_500_000, "request_percentage": 0.5}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("set", "producer_byte_rate=1"), "Say for whom"),
        (("set", "--user", "bob", "producer_byte_rate"), "KEY=VALUE"),
        (("set", "--user", "bob", "producer_byte_rat=1"), "is not a quota"),
        (("set", "--user", "bob", "producer_byte_rate=much"), "is not a number, such as"),
        (("set", "--user", "bob", "request_percentage=1MB"), "is not a number"),
        (("set", "--user", "bob", "--default-user", "request_percentage=1"), "not both"),
        (("set", "--user", "bob", "--ip", "::1", "request_percentage=1"), "cannot name a user"),
    ],
)
def test_mistakes_are_found_before_anything_connects(
    arguments: tuple[str, ...], complaint: str
) -> None:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        make_app("quotas"), ["quotas", *arguments], catch_exceptions=False
    )
    assert result.exit_code == ExitCode.USAGE
    assert complaint.replace("KEY=VALUE", "NAME=VALUE") in result.stderr


def test_usage_is_that_of_each_node() -> None:
    quotas, terminal = Quotas(), captured_terminal()
    ports: list[int] = []

    def answer(request: Message) -> Message:
        answered = quotas.answer(request)
        if isinstance(answered, MetadataResponse):
            node = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=ports[0])
            answered.brokers = [node]
        return answered

    async def describe(admin: Admin) -> None:
        ports.append(admin._cluster.settings.bootstrap[0].port)
        await describe_usage(admin, terminal, "alice", None, as_json=False)

    ScriptedCluster(answer).run(describe)
    assert "1.5 MB/s" in said(terminal)
    assert "10.0 MB/s" in said(terminal)
