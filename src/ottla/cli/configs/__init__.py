"""`ottla configs`: configs of topics, groups and brokers."""
