"""The topic of schemas, and which instance writes to it.

    topic.py        the topic: created if it does not exist, read from its start, and followed
    appending.py    transactions of the writer: many requests in each
    membership.py   the group of all instances, which elects the writer
    probing.py      notices that the writer's process is gone, before the group does
    store.py        puts these together

**Safety** does not depend on the group. Every writer writes transactions with one transactional id,
and initializes its producer before it reads the topic to its end and writes: from then on the
cluster refuses whatever an earlier writer still sends. So no record of an earlier writer can appear
behind the point up to which the new one has read, and no id is given twice.
"""
