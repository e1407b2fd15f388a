"""Files of a log made readable: from a path to rows, verdicts and statistics, without printing."""
