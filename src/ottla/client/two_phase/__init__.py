"""Two-phase commit over transactions: tasks prepare, a driver decides, all or nothing is committed.

Each task of a batch writes its rows in a transaction of its own and leaves it open (`prepare`). The
driver writes the list of transactions to a journal topic, and only then commits them one by one.
Once the decision is in the journal the batch counts as written: the next driver completes it.
decisions.py has the states, commitment.py what the driver does. The Spark sink is built on this.
"""
