"""The supervisors' topic.

pipeline_topic.py   followed by every supervisor
shard_writer.py   the only writer of a partition, in transactions
"""
