"""Clients of Apache Kafka 4 and Ottla in pure Python: producers, consumers and administration."""
