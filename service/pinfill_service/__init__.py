"""Pinfill's local service: a language model that never prefills the same prompt prefix twice."""

__version__ = "0.1.0"
