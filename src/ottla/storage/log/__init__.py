"""A partition's log: opened, recovered, appended to, read, flushed, retained."""
