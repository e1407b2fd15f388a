"""One module per API. Each opens with its versions and the errors that it answers."""
