"""The clients of `ottla.client` for programs without an event loop: the same names, methods that
wait. All of a process share one thread, in which heartbeats go on between the calls."""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names

if TYPE_CHECKING:
    from ottla.client.sync.admin import Admin
    from ottla.client.sync.consumer import Consumer
    from ottla.client.sync.producer import Producer
    from ottla.client.sync.share_consumer import ShareConsumer
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Admin": "ottla.client.sync.admin",
            "Consumer": "ottla.client.sync.consumer",
            "Producer": "ottla.client.sync.producer",
            "ShareConsumer": "ottla.client.sync.share_consumer",
        },
    )

__all__ = ["Admin", "Consumer", "Producer", "ShareConsumer"]
