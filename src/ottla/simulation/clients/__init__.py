"""Clients for simulated worlds: small, and honest about everything that they are told."""

from ottla.simulation.clients.admin import SimulatedAdmin
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.clients.producer import SimulatedProducer

__all__ = ["SimulatedAdmin", "SimulatedConsumer", "SimulatedProducer"]
