"""Log directories: lock, checkpoints and partitions."""
