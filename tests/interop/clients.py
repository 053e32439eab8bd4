"""clients.py - the lock clients of the interop suite: processes that are told in lines what to
do. What they are told is in docs/INTEROP.md."""

import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import Callable, Dict, List

ANSWER_S = 60  # longer than any wait of a case
START_S = 60
MARKED_MS = 6000  # the longest lease where masters have markers, and so the quarantine


class Broken(Exception):
    """What was expected did not come to be: the case has failed."""


class Late(Broken):
    """A waiter was not told in time. A machine that stood still does that too, so the case is
    played again: without its message the waiter is late each time."""


class Answer:
    """What will be said to a line."""

    def __init__(self, asked):
        self.asked = asked
        self.text = None
        self.at = 0.0
        self.event = threading.Event()

    def come(self, text):
        self.text, self.at = text, time.monotonic()
        self.event.set()

    def done(self):
        return self.event.is_set()

    def wait(self, seconds=ANSWER_S):
        if not self.event.wait(seconds):
            raise Broken(f"no answer within {seconds:.1f} s to: {self.asked}")
        return self.text


class Driver:
    """One process. A line that names a thread is answered when that thread is done with it."""

    def __init__(self, command, urls, ttl_ms, log):
        self.command = command
        self.owed = {}
        self.lock = threading.Lock()
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors,
                                            stdout=subprocess.PIPE, text=True, bufsize=1)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        said = self.send("", "hello", 1, "ttl_ms", ttl_ms, "nodes", *urls).wait(START_S)
        if not said.startswith("ok"):
            raise Broken(f"{command[0]} said: {said}")
        self.version = said[3:]

    def send(self, thread, *words):
        line = (f"@{thread} " if thread else "") + " ".join(str(word) for word in words)
        answer = Answer(line)
        with self.lock:
            self.owed.setdefault(thread, queue.Queue()).put(answer)
            try:
                self.process.stdin.write(line + "\n")
            except OSError:
                answer.come("no: the client is gone")
        return answer

    def read(self):
        for line in self.process.stdout:
            thread, text = "", line.rstrip("\n")
            if text.startswith("@"):
                thread, _, text = text[1:].partition(" ")
            self.owed[thread].get_nowait().come(text)
        for answers in list(self.owed.values()):
            while not answers.empty():
                answers.get().come("no: the client has ended")

    def stop(self):
        """It stands still when this is over, until it is killed."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        try:
            self.process.stdin.write("quit\n")
            self.process.stdin.close()
            self.process.wait(15)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self.kill()


@dataclass
class Client:
    """A kind of process. What can't be had has a reason instead of a command."""

    name: str
    kinds: List[str]
    command: List[str] = field(default_factory=list)
    missing: str = ""
    threads: bool = False    # does several things at once, and has a lease for each lock
    renews: bool = False     # renews what is taken without a lease
    extends: bool = True     # or when it is told to
    marked: List[str] = field(default_factory=list)  # arguments where masters have markers
    quarantines: bool = False  # is played beside ours where a master is in quarantine
    tells_loss: bool = True  # says when a lock that is released was another's
    impatient: bool = False  # gives up before the time that it is told
    refusal: str = "no held"  # what it says when another has it
    key: Callable[[str], str] = str  # what the key of a name is
    lacks: Dict[str, str] = field(default_factory=dict)  # kinds that it can't do, and why


REDISSON_KINDS = ["reentrant", "fenced", "fair", "write", "read", "reentrant on 3"]
WATCHED = " on a service"  # that Sentinels watch, in place of a master
WATCHED_KINDS = [kind + WATCHED for kind in ("reentrant", "fair", "write", "read")]
PLAIN_KINDS = ["plain", "plain on 3"]
SEVERAL_KINDS = PLAIN_KINDS + ["several", "several on 3"]


def made(peers, directory, *paths):
    """Why it is not there, or nothing."""
    try:
        with open(os.path.join(peers, directory, "skipped"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        there = all(os.path.exists(os.path.join(peers, directory, path)) for path in paths)
        return "" if there else "build_peers.sh has not made it"


def redisson(peers, directory, kinds, **rest):
    there = os.path.join(peers, directory)
    return Client(
        directory, kinds,
        ["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
         "-cp", f"{there}:{there}/lib/*", "Driver"],
        missing=made(peers, directory, "Driver.class"), threads=True, renews=True, **rest)


def spring(peers):
    there = os.path.join(peers, "spring")
    return Client(
        "spring", ["plain"],
        ["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
         "-cp", f"{there}:{there}/lib/*", "Driver"],
        missing=made(peers, "spring", "Driver.class"), key=lambda name: "spring:" + name)


def python(peers, name, kinds, **rest):
    there = os.path.join(peers, "python")
    return Client(name, kinds, [f"{there}/venv/bin/python", f"{there}/driver.py", name],
                  missing=made(peers, "python", "venv/bin/python"), **rest)


def servers(peers):
    """Names of servers beside the one that is installed: what runs each, or why it can't be had."""
    try:
        with open(os.path.join(peers, "servers", "list.txt"), encoding="ascii") as file:
            names = [line.split()[0] for line in file]
    except OSError:
        return []
    return [(name, os.path.join(peers, "servers", name, "redis-server"),
             made(peers, os.path.join("servers", name), "redis-server")) for name in names]


def clients(ours, peers):
    """The library, and everybody else."""
    node = ["node", os.path.join(peers, "node-redlock", "index.js")]
    no_node = made(peers, "node-redlock", "node_modules")
    lacks = {} if shutil.which("redis-server") else dict.fromkeys(WATCHED_KINDS, "no redis-server")
    return Client("ours", REDISSON_KINDS + WATCHED_KINDS + SEVERAL_KINDS, [ours], threads=True,
                  renews=True, marked=[str(MARKED_MS)], lacks=lacks), [
        redisson(peers, "redisson-4", REDISSON_KINDS + WATCHED_KINDS),
        redisson(peers, "redisson-3", REDISSON_KINDS, lacks={"fenced": "RFencedLock came with Redisson 3.19.0"}),
        # Not --best: with WithFailFast(true) it leaves keys behind, on the slowest of three.
        Client("redsync", PLAIN_KINDS, [os.path.join(peers, "redsync", "redsync"), "--tries"],
               missing=made(peers, "redsync", "redsync"), quarantines=True),
        Client("node-redlock-5", SEVERAL_KINDS, node + ["--best"], missing=no_node, renews=True,
               refusal="no"),
        Client("node-redlock-4", PLAIN_KINDS, node + ["--v4"], missing=no_node, impatient=True,
               refusal="no"),
        python(peers, "redis-py", ["plain"]),
        python(peers, "redlock-py", PLAIN_KINDS, extends=False, tells_loss=False),
        python(peers, "pottery", PLAIN_KINDS, key=lambda name: "redlock:" + name),
        Client("rslock", PLAIN_KINDS,
               [os.path.join(peers, "rslock", "target", "debug", "rslock-driver")],
               missing=made(peers, "rslock", "target/debug/rslock-driver"), tells_loss=False),
        Client("redislock", ["plain"], [os.path.join(peers, "redislock", "redislock")],
               missing=made(peers, "redislock", "redislock")),
        Client("redis-semaphore", PLAIN_KINDS,
               ["node", os.path.join(peers, "redis-semaphore", "index.js")],
               missing=made(peers, "redis-semaphore", "node_modules"), renews=True,
               tells_loss=False, key=lambda name: "mutex:" + name),
        spring(peers),
    ]
