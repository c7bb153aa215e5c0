"""The components that task files name: scorers and players. The protocol stands in `creval_openended.stepwise`."""
