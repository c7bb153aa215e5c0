"""Messages of systems that refuse a sandbox, and the fixes for the user."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["fix_of"]

_FIXES: Sequence[tuple[str, str]] = (
    (
        "Unknown option",
        "This bubblewrap is too old: version 0.8.0 or later is needed.",
    ),
    (
        "setting up uid map: Permission denied",
        "The system forbids user namespaces to this program (Ubuntu 24.04: AppArmor). Install the profile for bwrap of "
        "the package apparmor-profiles, or: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "RTM_NEWADDR",
        "The system forbids network namespaces to this program (AppArmor, or a container without CAP_NET_ADMIN). "
        "Install the profile for bwrap of the package apparmor-profiles; in a container: "
        "--security-opt apparmor=unconfined.",
    ),
    (
        "setting up uid map: Read-only file system",
        "The container mounts /proc read-only. Start it with --security-opt systempaths=unconfined, or run creval "
        "outside.",
    ),
    (
        "No permissions to create new namespace",
        "The system forbids user namespaces. Allow them: sysctl kernel.unprivileged_userns_clone=1; in a container: "
        "--security-opt seccomp=unconfined.",
    ),
    (
        "Creating new namespace failed",
        "The system forbids namespaces. Allow them: sysctl user.max_user_namespaces=10000; in a container: "
        "--security-opt seccomp=unconfined.",
    ),
    (
        "No space left on device",
        "User namespaces are used up or switched off: sysctl user.max_user_namespaces=10000",
    ),
    (
        "Operation not permitted",
        "The system refuses mounts or namespaces; in a container start it with --security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined, or run creval outside.",
    ),
    (
        "Can't find source path",
        "A part of the Python installation or of the system's libraries cannot be reached by the user that runs the "
        "sandbox.",
    ),
)


def fix_of(words: str) -> str:
    """Return the fix for a refusal, given the message of bubblewrap or the kernel."""
    for sign, fix in _FIXES:
        if sign in words:
            return fix
    return "Try: creval sandbox check. docs/sandbox.md lists what the sandbox needs."
