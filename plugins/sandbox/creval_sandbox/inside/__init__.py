"""What runs within the sandbox: standard library only, and nothing of what is outside.

This folder is bound into the sandbox and imported there as the package `inside`. `launcher` waits for programs,
`watcher` watches the cases of one program, `case` becomes one case.
"""
