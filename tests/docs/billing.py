"""Two members of the group billing, which read the topic orders until they are interrupted."""

from __future__ import annotations

from contextlib import suppress

from confluent_kafka import Consumer

BOOTSTRAP = "127.0.0.1:9092"


def member(number: int) -> Consumer:
    made = Consumer(
        {
            "bootstrap.servers": BOOTSTRAP,
            "group.id": "billing",
            "group.protocol": "consumer",
            "client.id": f"app-{number}",
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    made.subscribe(["orders"])
    return made


def main() -> None:
    """Says so once each member has partitions, and their offsets are committed."""
    members = [member(number) for number in range(2)]
    is_said = False
    with suppress(KeyboardInterrupt):
        while True:
            for each in members:
                if each.poll(0.05) is not None:
                    each.commit(asynchronous=False)
            if not is_said and all(each.assignment() for each in members):
                print("both have partitions")
                is_said = True
    for each in members:
        each.close()


if __name__ == "__main__":
    main()
