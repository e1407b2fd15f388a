"""Log directories: their lock, their checkpoints, their partitions."""
