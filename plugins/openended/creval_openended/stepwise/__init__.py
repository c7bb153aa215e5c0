"""Step-by-step sampling: the number of steps, the value of a candidate, and the choice among candidates."""
