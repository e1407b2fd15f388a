"""TLS and SASL of a client's connections, from Kafka's and librdkafka's client properties."""
