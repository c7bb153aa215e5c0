"""Step-by-step sampling: how many steps, what a candidate is worth, which one is taken."""
