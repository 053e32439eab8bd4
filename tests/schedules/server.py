"""server.py - one firing of one server's cron: redlock run, its job, its end, or its killing."""

import os
import signal
import subprocess

from clockwork import now

HELD = 75

# It tells when it began, by the clock that the program goes by, and fails where it is to fail.
JOB = 'read -r up rest </proc/uptime; echo "$up" >>"$1"; sleep "$2"; exit "$3"'


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []  # it has ended


def handles(pid, parent):
    """One that can't lead to another process of that number, or none where it has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return []
    if pid in children(parent):
        return [handle]
    os.close(handle)
    return []


class Firing:
    def __init__(self, stage, place, play, name, job):
        self.at = now()
        self.place = place
        self.told = os.path.join(stage.directory, f"{name}.{place}")
        self.seconds, self.job_status = job
        self.killed = self.status = None
        masters = stage.well if play.wrong else stage.masters
        with open(self.told + ".err", "wb") as log:
            self.process = subprocess.Popen(
                [stage.redlock, "run", *play.options(), name, "--", "sh", "-c", JOB, "job", self.told,
                 f"{self.seconds:.3f}", str(self.job_status)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "REDLOCK_NODES": masters.list},
                start_new_session=True)
        stage.clock.watch(self.process, self.over)

    def over(self):
        self.status = self.process.returncode

    def starts(self):
        """When its job began: once, or never; more would be wrong, and are told."""
        try:
            with open(self.told, encoding="ascii") as file:
                return [float(line) for line in file.read().split()]
        except FileNotFoundError:
            return []

    def kill(self, whom):
        """KILL to redlock, its guard or its job, as far as they are there; returns who was."""
        redlock = self.process.pid
        there = {"redlock": [os.pidfd_open(redlock)], "guard": [], "job": []}
        for guard in children(redlock):
            there["guard"] += handles(guard, redlock)
            for job in children(guard):
                there["job"] += handles(job, guard)
        hit = [one for one in whom if there[one]]
        for one in hit:
            for handle in there[one]:
                try:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # it ended in this moment
        for handle in sum(there.values(), []):
            os.close(handle)
        if hit:
            self.killed = "+".join(hit)
        return hit

    def is_amiss(self):
        """What it ended with is not what its job, or another's lock, explains."""
        if self.killed or self.status is None:
            return self.status is None
        return self.status != (self.job_status if self.starts() else HELD)

    def text(self, since):
        began = ", ".join(f"{start - since:.2f} s" for start in self.starts())
        with open(self.told + ".err", encoding="utf-8", errors="replace") as file:
            said = " / ".join(file.read().splitlines())
        return (f"server {self.place} fired at {self.at - since:.2f} s, "
                f"{f'ran at {began}' if began else 'did not run'}"
                f"{f', {self.killed} killed' if self.killed else ''}, "
                f"ended with {self.status}{f': {said}' if said else ''}")

    def forget(self):
        for path in (self.told, self.told + ".err"):
            if os.path.exists(path):
                os.remove(path)
