"""Baselines: systems without entities in their words, or without words in their entities."""
