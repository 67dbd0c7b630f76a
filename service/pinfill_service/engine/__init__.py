"""Runs the model: graph, KV slots, sampling and the one thread that drives them."""
