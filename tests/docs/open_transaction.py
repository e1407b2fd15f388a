"""A producer with the transactional id billing, whose transaction stays open until Ctrl-C."""

from __future__ import annotations

import signal

from confluent_kafka import Producer

BOOTSTRAP = "127.0.0.1:9092"


def main() -> None:
    producer = Producer({"bootstrap.servers": BOOTSTRAP, "transactional.id": "billing"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", b"1 pear")
    producer.flush(30)
    print("a transaction is open")
    signal.sigwait({signal.SIGINT})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    main()
