"""Provably optimal play (Algorithm 3 of paper 002): literal reference, pruned Python, and compiled kernel."""
