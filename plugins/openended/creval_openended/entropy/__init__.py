"""What the candidates of one step say about divergence: classes of meaning, their entropy, surface measures."""
