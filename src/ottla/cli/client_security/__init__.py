"""TLS and SASL of the commands' connections, from Kafka's and librdkafka's client properties."""
