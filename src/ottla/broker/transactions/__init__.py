"""Verification of transactional batches with the transaction coordinator (KIP-890)."""
