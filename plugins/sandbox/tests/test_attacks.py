"""Every attack is contained by the real bubblewrap, in both modes, as root's launcher and as another user's."""

from __future__ import annotations

import json
import secrets
import threading
from pathlib import Path

import pytest
from support.commands import creval

from creval.plugin.programs import CaseResult, Limits, Program, ProgramLanguage, SandboxError, StopReason
from creval_sandbox import command
from creval_sandbox.attack import Attack
from creval_sandbox.attacks import ATTACKS
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.command import DEVICES
from creval_sandbox.conversation import Executable
from creval_sandbox.filters import Profile
from creval_sandbox.findings import Finding, run_attack
from creval_sandbox.mounts import Mount, mounts
from creval_sandbox.worker import Worker


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_contained(sandbox: BubblewrapSandbox, attack: Attack) -> None:
    finding = run_attack(sandbox, attack)
    assert finding.held, finding.result


def test_an_attack_that_came_through_would_be_seen() -> None:
    through = CaseResult(0, None, b"BREACH\n", b"", None, 0.0, 0.0, 0)
    assert not any(Finding(attack, through).held for attack in ATTACKS)


def test_a_key_of_the_environment_is_nowhere(sandbox: BubblewrapSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-" + secrets.token_hex(16)
    monkeypatch.setenv("OPENROUTER_API_KEY", key)
    program = "import os, gc\nprint(dict(os.environ))\nprint(sorted(os.listdir('/')), os.path.exists('/proc/self'))\n"
    result = sandbox.run_now(Program(program), [b""])[0]
    assert result.succeeded
    assert key.encode() not in result.stdout
    assert b"False" in result.stdout


def test_no_mount_but_the_scratch_folder_is_writable_and_none_outlives_a_program(sandbox: BubblewrapSandbox) -> None:
    program = """
import os
writable = []
for folder, folders, files in os.walk("/"):
    if folder.count("/") > 3:
        folders.clear()
    try:
        open(folder + "/mine", "w").close()
        writable.append(folder)
    except OSError:
        pass
print(sorted(writable), os.path.exists("/tmp/of-another"))
open("/tmp/of-another", "w").write("secret")
"""
    for _ in range(2):
        assert sandbox.run_now(Program(program), [b""])[0].stdout == b"['/tmp'] False\n"


def test_every_mount_is_read_only_and_devices_can_be_used(sandbox: BubblewrapSandbox) -> None:
    targets = ["/", *DEVICES, *(mount.target for mount in sandbox._workers[0]._mounts if mount.link is None)]
    program = f"""
import os
print([path for path in {targets} if not os.statvfs(path).f_flag & os.ST_RDONLY])
with open("/dev/null", "w") as null, open("/dev/urandom", "rb") as random:
    null.write("x" * 100000)
    print(len(random.read(8)))
"""
    assert sandbox.run_now(Program(program), [b""])[0].stdout == b"[]\n8\n"


def test_nothing_starts_where_a_mount_is_writable(box: BubblewrapSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = command._mount
    monkeypatch.setattr(
        command,
        "_mount",
        lambda mount: ("--bind", "/usr/share", "/mine") if mount.target == "/mine" else bound(mount),
    )
    worker = Worker(box._manner, [*mounts(), Mount("/mine", Path("/usr/share"))])
    with pytest.raises(SandboxError, match="/mine is writable"):
        worker.run(Executable(b"print(1)", Profile.PYTHON), [b""], Limits())
    worker.end()


def test_files_and_threads_of_one_case_do_not_reach_the_next(sandbox: BubblewrapSandbox) -> None:
    program = """
import os, sys, builtins, math
print(os.listdir("/tmp"), hasattr(math, "poison"), hasattr(builtins, "poison"))
math.poison = builtins.poison = 1
os.makedirs("/tmp/a/b/c")
open("/tmp/a/b/c/d", "w").write(input())
os.chmod("/tmp/a", 0)
"""
    results = sandbox.run_now(Program(program), [b"1", b"2", b"3"])
    assert [result.stdout for result in results] == [b"[] False False\n"] * 3


def test_what_a_case_does_to_its_folder_does_not_reach_the_next(sandbox: BubblewrapSandbox) -> None:
    program = """
import os
print(oct(os.stat("/tmp").st_mode), os.access("/tmp", os.W_OK))
os.chmod("/tmp", 0o555) if input() == "lock" else os.utime("/tmp", (1, 1))
"""
    results = sandbox.run_now(Program(program), [b"lock", b"turn", b"lock"])
    assert [result.stdout for result in results] == [b"0o41777 True\n"] * 3


def test_a_watcher_that_vanishes_is_held_against_the_program(sandbox: BubblewrapSandbox) -> None:
    """The launcher dies while a program runs, as if the program had done it: the verdict is the program's own."""
    worker = sandbox._workers[0]
    results: list[CaseResult] = []
    limits = Limits(cpu_seconds=5, wall_seconds=60)
    running = threading.Thread(
        target=lambda: results.extend(sandbox.run_now(Program("import time\ntime.sleep(60)"), [b""], limits))
    )
    running.start()
    seen, family = 0, 4 if sandbox._manner.nested else 3
    while seen < 5:
        running.join(0.05)
        assert running.is_alive(), results
        launcher = worker._launcher
        seen = seen + 1 if launcher is not None and _case_sleeps(launcher[0].process.pid, family) else 0
    assert launcher is not None
    launcher[0].process.kill()
    running.join()
    assert [result.stop for result in results] == [StopReason.TAMPERED]
    assert not results[0].succeeded
    assert sandbox.run_now(Program("print(1)"), [b""])[0].stdout == b"1\n"


def _case_sleeps(pid: int, generations: int) -> bool:
    """Whether the case of a sandbox waits: the last of launcher (if any), watcher, process 1 of the case, and case.

    The watcher of the program before it may have ended, and not be collected yet.
    """
    family = [state for state in map(_state, _descendants(pid)) if state != "Z"]
    return family == ["S"] * generations


def _descendants(pid: int) -> list[int]:
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return children + [deeper for child in children for deeper in _descendants(child)]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def test_compiled_programs_cannot_do_more(sandbox: BubblewrapSandbox) -> None:
    source = r"""
#include <cstdio>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/ptrace.h>
#include <sched.h>
int main() {
    int breaches = 0;
    breaches += fork() >= 0;
    breaches += socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    breaches += unshare(CLONE_NEWUSER) == 0;
    breaches += ptrace(PTRACE_ATTACH, 1, 0, 0) == 0;
    breaches += syscall(SYS_memfd_create, "x", 0) >= 0;
    breaches += std::fopen("/x", "w") != nullptr;
    breaches += std::fopen("/etc/passwd", "r") != nullptr;
    char* const arguments[] = {(char*)"env", nullptr};
    breaches += execv("/usr/bin/env", arguments) == 0;
    for (int fd = 3; fd < 64; fd++) breaches += close(fd) == 0;
    printf("%d breaches\n", breaches);
}
"""
    result = sandbox.run_now(Program(source, ProgramLanguage.CPP), [b""])[0]
    assert (result.stdout, result.exit_code) == (b"0 breaches\n", 0)


@pytest.mark.parametrize(
    "source",
    [
        '#include "/etc/passwd"\nint main() {}',
        '#include "/root/.bashrc"\nint main() {}',
        "template<int n> struct A { typename A<n + 1>::type x; using type = int; };\nint main() { A<0> a; }",
        'int main() { static_assert(__has_include("/etc/hostname"), "not there"); }',
    ],
)
def test_the_compiler_reads_nothing_of_the_user(sandbox: BubblewrapSandbox, source: str) -> None:
    results = sandbox.run_now(Program(source, ProgramLanguage.CPP), [b"", b""])
    assert [result.stop for result in results] == [StopReason.NOT_COMPILED] * 2
    assert b"root:" not in results[0].stderr


def test_the_check_command_proves_it(tmp_path: Path) -> None:
    done = creval(tmp_path, "sandbox", "check", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(done.stdout)
    assert record["sandbox"].startswith("bubblewrap ")
    assert [attack["attack"] for attack in record["attacks"]] == [attack.name for attack in ATTACKS]
    assert all(attack["contained"] for attack in record["attacks"])
