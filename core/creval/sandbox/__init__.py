"""Runs model-written programs away from the user's files, network and environment. See docs/sandbox.md.

The face is `creval.sandbox.bubblewrap`; what runs within the sandbox is `creval.sandbox.inside`.
"""
