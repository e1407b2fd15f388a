"""Minimal clients for simulated worlds, which record every response in the history."""

from ottla.simulation.clients.admin import SimulatedAdmin
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.clients.producer import SimulatedProducer

__all__ = ["SimulatedAdmin", "SimulatedConsumer", "SimulatedProducer"]
