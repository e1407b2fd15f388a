"""TLS: a layer between a connection of the network and its handler."""
