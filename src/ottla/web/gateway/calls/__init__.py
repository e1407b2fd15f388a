"""The six plain calls: produce one or many messages, subscribe, poll, commit and seek."""
