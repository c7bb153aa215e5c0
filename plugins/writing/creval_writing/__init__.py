"""Short creative pieces: a rubric, and pairs against a fixed pool with Bradley-Terry strengths."""
