"""The novelty judge of Appendix L: compare pairs of solutions, and rank by sorting."""
