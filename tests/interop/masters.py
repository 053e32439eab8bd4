"""masters.py - private Redis masters for the interop suite, and talking to them."""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time

START_S = 10

OWN = "libredlock:"  # what keys begin with that tell of the master, and of no lock
MARKER, QUARANTINE = OWN + "marker", OWN + "quarantine"
BROKEN = ":redlock:broken"  # who broke a lock by hand: stays for as long as the lock would have
KINDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib", "kinds")


def script(name):
    """A script of the library's, with what it includes."""
    with open(os.path.join(KINDS, name + ".lua"), encoding="ascii") as file:
        lines = file.read().splitlines(keepends=True)
    parts = [line.split() for line in lines]
    return "".join(script(part[2]) if part[:2] == ["--", "include"] else line
                   for line, part in zip(lines, parts))


def own_key(name, word):
    """This library's key of that word beside a lock."""
    return (name + "{}" if "}" in name else "{" + name + "}") + ":redlock:" + word


def server_program():
    return shutil.which("redis-server") or shutil.which("valkey-server")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Refused(Exception):
    """The master answered with an error."""


class Talk:
    """One connection; a command at a time, from any thread."""

    def __init__(self, port, host="127.0.0.1"):
        self.lock = threading.Lock()
        self.socket = socket.create_connection((host, port), START_S)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def ask(self, *words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            word = str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
        with self.lock:
            self.socket.sendall(b"".join(parts))
            return self.reply()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Refused(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2].decode(errors="backslashreplace")
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        if kind != b"+":
            raise OSError("the master is gone")
        return rest.decode()


class Master:
    def __init__(self, directory, program):
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        os.mkdir(directory)
        with open(os.path.join(directory, "log"), "wb") as log:
            self.process = subprocess.Popen(
                [program, "--port", str(self.port), "--bind", "127.0.0.1",
                 "--save", "", "--appendonly", "no", "--dir", directory],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.talk = self.reach()
        self.ask = self.talk.ask

    def reach(self):
        give_up = time.monotonic() + START_S
        while True:
            try:
                return Talk(self.port)
            except OSError:
                if self.process.poll() is not None or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)

    def end(self):
        self.talk.close()
        self.process.kill()
        self.process.wait()


class Masters:
    """So many, in a directory of their own."""

    def __init__(self, count, program, marked=False):
        self.marked = marked  # ours asks for their markers, which each case sets anew
        self.directory = tempfile.mkdtemp(prefix="redlock-interop.")
        self.all = [Master(os.path.join(self.directory, str(i)), program) for i in range(count)]
        self.urls = [master.url for master in self.all]

    def end(self):
        for master in self.all:
            master.end()
        shutil.rmtree(self.directory)

    def keys(self):
        """All keys of locks, of each."""
        return [[key for key in master.ask("KEYS", "*")
                 if not key.startswith(OWN) and not key.endswith(BROKEN)]
                for master in self.all]

    def mark(self):
        """As `redlock init` does: they are new, and keep what they are told from now on."""
        self.forget()
        init = script("marker/marker_init")
        for master in self.all:
            master.ask("EVAL", init, 2, MARKER, QUARANTINE, "nonce", 0)

    def quarantine(self, place):
        """By hand: it ends when that is told."""
        self.all[place].ask("SET", QUARANTINE, "maintenance")

    def end_quarantine(self, place):
        self.all[place].ask("DEL", QUARANTINE)

    def told(self):
        """What is there, for people."""
        try:
            return self.tell()
        except OSError as error:
            return f"a master can't be asked: {error}"

    def tell(self):
        texts = []
        for place, (master, keys) in enumerate(zip(self.all, self.keys())):
            for key in keys:
                kind = master.ask("TYPE", key)
                value = {"string": ["GET", key], "hash": ["HGETALL", key],
                         "zset": ["ZRANGE", key, 0, -1], "list": ["LRANGE", key, 0, -1]}
                value = master.ask(*value[kind]) if kind in value else kind
                texts.append(f"{key} = {value} for {master.ask('PTTL', key)} ms on master {place}")
        return "; ".join(texts)

    def forget(self):
        for master in self.all:
            master.ask("FLUSHALL")

    def listeners(self, text):
        """How many subscriptions to channels with that text in their names, on all masters."""
        count = 0
        for master in self.all:
            channels = [name for name in master.ask("PUBSUB", "CHANNELS") if text in name]
            if channels:
                count += sum(master.ask("PUBSUB", "NUMSUB", *channels)[1::2])
        return count

    def writes(self):
        """How many commands that may take a lock the first master has done."""
        count = 0
        for line in self.all[0].ask("INFO", "commandstats").splitlines():
            if line.startswith(("cmdstat_set:", "cmdstat_eval:", "cmdstat_evalsha:")):
                fields = dict(field.split("=") for field in line.split(":")[1].split(","))
                # A script that is not known there is sent again.
                count += int(fields["calls"]) - int(fields.get("failed_calls", 0))
        return count
