"""What a partition knows of its producers: idempotence and transactions."""
