"""`ottla transactions`: transactional ids and their transactions."""
