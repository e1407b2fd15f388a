"""The paths of Confluent's REST Proxy API, version 2."""
