"""What a node does by itself: retention, flushes, compaction."""
