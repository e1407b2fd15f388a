"""The producer: from records to acknowledged batches.

`producer.py` is what applications call. A record goes to a batch of its partition's queue
(accumulator.py, batch.py, topic_queues.py), `sender.py` sends the batches, `partition_queue.py`
keeps their order and sequence numbers, and `outcomes.py` says what an answer means.
"""
