"""Files of client properties, and the properties of librdkafka."""
