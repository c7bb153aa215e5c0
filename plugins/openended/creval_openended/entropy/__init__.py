"""Divergence of the candidates of one step: classes of meaning, their entropy, surface measures."""
