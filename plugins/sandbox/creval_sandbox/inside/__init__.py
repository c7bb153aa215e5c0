"""The code that runs inside the sandbox: it uses only the standard library, and nothing from outside.

This folder is bound into the sandbox and imported there as the package `inside`. `launcher` waits for programs,
`watcher` watches the cases of one program, `case` becomes one case.
"""
