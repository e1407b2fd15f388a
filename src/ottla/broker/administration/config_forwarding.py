"""The answers to a request that alters configs, some from this node, others from the controller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ottla.broker.network.handling import RequestContext
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.controller.operations.alter_configs import resource_answer
from ottla.model import KafkaError
from ottla.wire.messages.alter_configs import AlterConfigsRequest
from ottla.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest

A = TypeVar("A")


async def forward_others(
    changes: MetadataChanges,
    context: RequestContext,
    request: AlterConfigsRequest | IncrementalAlterConfigsRequest,
    here: Mapping[int, A],
    struct: Callable[..., A],
) -> list[A]:
    """The answers of all resources in their order: those of `here`, by index, and the controller's
    for the other resources, which are made of `struct` if it cannot be reached."""
    others: list[Any] = [each for index, each in enumerate(request.resources) if index not in here]
    answers: Iterator[A] = iter(())
    if others:
        forwarded = type(request)(resources=others, validate_only=request.validate_only)
        try:
            response = await changes.request(forwarded, context.api_version, context.rights)
            answers = iter(response.responses)
        except KafkaError as error:
            answers = iter([resource_answer(struct, resource, error) for resource in others])
    return [here.get(index) or next(answers) for index in range(len(request.resources))]
