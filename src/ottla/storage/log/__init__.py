"""The log of one partition: opening, recovery, appends, reads, flushes and retention."""
