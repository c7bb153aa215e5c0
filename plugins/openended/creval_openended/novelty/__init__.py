"""The novelty judge of Appendix L: pairs of solutions compared, and ranked by sorting."""
