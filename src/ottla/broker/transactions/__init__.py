"""Transactional batches: verified, and appended in the producer's order."""
