"""Messages that rest on disk: in the metadata log, in internal topics, beside a partition's log."""
