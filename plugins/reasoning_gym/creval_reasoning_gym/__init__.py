"""The data sets of Reasoning Gym as tasks `reasoning_gym/NAME`."""
