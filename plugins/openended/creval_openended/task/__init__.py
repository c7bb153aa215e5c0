"""The components that task files name: scorers and baselines. The protocol is in `creval_openended.stepwise`."""
