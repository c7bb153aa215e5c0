"""Run model-written programs isolated from the user's files, network and environment. See docs/sandbox.md.

The sandbox is `creval_sandbox.bubblewrap`; the code that runs inside it is `creval_sandbox.inside`.
`creval_sandbox.code` scores programs in tasks.
"""
