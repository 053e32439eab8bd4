"""service.py - real servers and Sentinels, each on an address of its own of 127.0.0.0/8."""

import os
import shutil
import signal
import subprocess
import time

from wire import ask

SERVER_PORT = 6379
SENTINEL_PORT = 26379
DOWN_AFTER_MS = 500
FAILOVER_TIMEOUT_MS = 2000
START_S = 20


class Amiss(Exception):
    """What must be did not come about."""


def await_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Amiss(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.02)


class Process:
    """A server, or a Sentinel with its file."""

    def __init__(self, directory, host, port, template=None, settings=()):
        self.directory = os.path.join(directory, host)
        self.host, self.port, self.template, self.settings = host, port, template, settings
        self.address = (host, port)
        self.process, self.paused = None, False
        os.makedirs(self.directory)

    def start(self, *more):
        args = ["--port", str(self.port), "--bind", self.host, "--bind-source-addr", self.host,
                "--dir", self.directory, "--protected-mode", "no", *self.settings, *more]
        if self.template is None:
            args += ["--save", "", "--appendonly", "no", "--replica-announce-ip", self.host,
                     "--repl-diskless-sync-delay", "0"]
        else:
            path = os.path.join(self.directory, "sentinel.conf")
            if not os.path.exists(path):
                with open(path, "w", encoding="ascii") as file:
                    file.write(self.template)
            args = [path, "--sentinel"] + args
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(["redis-server", *args], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        await_until(lambda: self.ask("PING") == "PONG", START_S, f"{self.host} answers")

    def forget(self):
        """What it has learnt is gone; at its next start it has its template again."""
        shutil.rmtree(self.directory)
        os.makedirs(self.directory)

    def ask(self, *words, timeout=1.0):
        return ask(self.address, *words, timeout=timeout)

    def info(self, section="replication"):
        text = self.ask("INFO", section) or ""
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process, self.paused = None, False

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def end(self):
        if self.process:
            self.kill()


class Watchers:
    """Three Sentinels of some services."""

    def __init__(self, directory, net, first_masters):
        self.directory, self.net, self.every = directory, net, []
        template = "".join(self.template(name, host) for name, host in first_masters)
        self.all = [self.make(template) for _ in range(3)]

    @staticmethod
    def template(name, host):
        return (f"sentinel monitor {name} {host} {SERVER_PORT} 2\n"
                f"sentinel down-after-milliseconds {name} {DOWN_AFTER_MS}\n"
                f"sentinel failover-timeout {name} {FAILOVER_TIMEOUT_MS}\n")

    def make(self, template):
        host = f"{self.net}.{len(self.every) + 11}"
        self.every.append(Process(self.directory, host, SENTINEL_PORT, template))
        return self.every[-1]

    def one_more(self, name, host):
        """Of a service whose master that is now."""
        return self.make(self.template(name, host))

    def hosts(self):
        return ",".join(f"{one.host}:{one.port}" for one in self.all)

    def start(self):
        for one in self.all:
            one.start()


class Service:
    def __init__(self, directory, net, name, settings=()):
        self.name = name
        self.servers = [Process(directory, f"{net}.{number}", SERVER_PORT, None, settings)
                        for number in (1, 2, 3)]
        self.watchers = None

    def start(self):
        self.servers[0].start()
        for server in self.servers[1:]:
            server.start("--replicaof", self.servers[0].host, str(SERVER_PORT))
        for server in self.servers[1:]:
            await_until(lambda: server.info().get("master_link_status") == "up", START_S,
                        f"{server.host} follows")

    def node(self):
        return f"node redis+sentinel://{self.watchers.hosts()}/{self.name}\n"

    def server_at(self, host):
        return next(server for server in self.servers if server.host == host)

    def others(self, server):
        return [one for one in self.servers if one is not server]

    def told(self, watcher):
        """SENTINEL MASTER of one of them, as a dictionary; empty where it does not answer."""
        words = watcher.ask("SENTINEL", "MASTER", self.name) or []
        return dict(zip(words[::2], words[1::2]))

    def priority(self, server):
        """As each Sentinel knows it."""
        known = []
        for watcher in self.watchers.all:
            replicas = watcher.ask("SENTINEL", "REPLICAS", self.name) or []
            each = [dict(zip(one[::2], one[1::2])) for one in replicas]
            known += [one["slave-priority"] for one in each if one["ip"] == server.host]
        return known

    def know(self, server):
        """A majority of its Sentinels has asked this run of that server."""
        run = server.info("server").get("run_id")
        told = [self.told(watcher).get("runid") for watcher in self.watchers.all]
        return told.count(run) > len(told) // 2

    def differs(self):
        """Sentinels name different masters."""
        return len({self.told(watcher).get("ip") for watcher in self.watchers.all}) > 1

    def text(self):
        told = [self.told(watcher) for watcher in self.watchers.all]
        named = ", ".join(f"{one['ip']} in term {one['config-epoch']} ({one['flags']})" if one else
                          "nobody" for one in told)
        roles = ", ".join(f"{one.host} is {one.info().get('role')}" for one in self.servers)
        return f"Sentinels name {named}; {roles}"

    def tell_watchers(self, setting, milliseconds):
        for watcher in self.watchers.all:
            watcher.ask("SENTINEL", "SET", self.name, setting, milliseconds)

    def is_well(self):
        """All run, one is the master that all Sentinels name, and all others follow it."""
        told = [self.told(watcher) for watcher in self.watchers.all]
        if not all(told) or len({(one["ip"], one["config-epoch"]) for one in told}) != 1:
            return False
        others = str(len(told) - 1)
        if any(one["flags"] != "master" or one["num-other-sentinels"] != others for one in told):
            return False
        master = self.server_at(told[0]["ip"])
        if master.info().get('role') != "master":
            return False
        for server in self.others(master):
            info = server.info()
            if info.get("master_link_status") != "up" or info.get("master_host") != master.host:
                return False
        return all(self.knows_replicas(watcher) for watcher in self.watchers.all)

    def knows_replicas(self, watcher):
        replicas = watcher.ask("SENTINEL", "REPLICAS", self.name) or []
        flags = [dict(zip(one[::2], one[1::2]))["flags"] for one in replicas]
        return flags == ["slave", "slave"]
