"""Runs model-written programs away from the user's files, network and environment. See docs/sandbox.md.

The sandbox is `creval_sandbox.bubblewrap`; what runs within it is `creval_sandbox.inside`.
`creval_sandbox.code` scores programs in tasks.
"""
