"""Golden trajectories for fine-tuning: optimal games as conversations with a symbolic knowledge book."""
