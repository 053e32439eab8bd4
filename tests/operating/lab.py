"""lab.py - hosts without machines: each has a directory for its /etc and /var, an address of
127.0.0.0/8, and names that tests/operating/names.c looks up. No root is needed, and no network."""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

HOSTS = ["redis-1", "redis-2", "redis-3", "redis-4", "redis-5", "redis-6", "app-1", "app-2"]
BILLING = """#!/bin/sh
# What the service does: it works until TERM, and tells when. Where it is killed, it tells nothing.
say() { echo "$1 $REDLOCK_NAME $$ $(date +%s.%N)" >>"$LAB/holds"; }
say begin
trap 'say end; exit 143' TERM
while :; do
    sleep 0.5 &
    wait $!
    say works
done
"""


def free_network():
    """Of which nobody on this machine has the first host's port: three numbers."""
    while True:
        net = "127.%d.%d" % (random.randint(1, 250), random.randint(1, 250))
        with socket.socket() as probe:
            try:
                probe.bind((net + ".1", 6380))
                return net
            except OSError:
                continue


class Heart:
    """For how long nobody was scheduled: a lock that is lost then is no fault."""

    def __init__(self):
        self.longest = 0.0
        self.over = False
        self.thread = threading.Thread(target=self.beat, daemon=True)
        self.thread.start()

    def beat(self):
        last = time.monotonic()
        while not self.over:
            time.sleep(0.05)
            now = time.monotonic()
            self.longest = max(self.longest, now - last - 0.05)
            last = now

    def stop(self):
        self.over = True
        self.thread.join()


class Lab:
    def __init__(self, source, build, max_ttl, servers, plain=False):
        """plain: without TLS, for servers that are built so."""
        self.root = tempfile.mkdtemp(prefix="rl-lab.")
        self.source = os.path.abspath(source)
        self.build = os.path.abspath(build)
        self.net = free_network()
        self.plain = plain
        self.max_ttl = max_ttl
        self.ttl = max_ttl * 4 // 5
        self.heart = Heart()
        self.make_hosts()
        self.make_packages(servers)
        self.env = self.environment()

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def make_hosts(self):
        for host in HOSTS + ["here"]:
            for part in ["etc/redis", "etc/redlock", "etc/systemd/system", "var/lib/redis",
                         "usr/bin", "run", "tmp"]:
                os.makedirs(self.path(host, part))
            self.write("%s/usr/bin/billing" % host, BILLING, 0o755)
        os.makedirs(self.path("at"))
        os.makedirs(self.path("here", "sources", "packages"))
        for package in ["libredlock0", "redlock-tools"]:
            self.write("here/sources/packages/%s_0.1.0-1_amd64.deb" % package, "")
        os.symlink(os.path.join(self.source, "examples"), self.path("here", "sources", "examples"))
        lines = []
        for number, host in enumerate(HOSTS, 1):
            self.write(host + "/address", "%s.%d\n" % (self.net, number))
            lines.append("%s.%d %s.lab" % (self.net, number, host))
            self.write("at/" + host, host + "\n")
        self.write("here/etc/hosts", "\n".join(lines) + "\n")

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def make_packages(self, servers):
        os.makedirs(self.path("packages"))
        for package, server in servers.items():
            self.package(package, server)

    def package(self, name, server):
        """From now on the package `name` has this server."""
        path = self.path("packages", name)
        if os.path.exists(path):
            os.unlink(path)
        shutil.copy(os.path.realpath(server), path)

    def environment(self):
        env = dict(os.environ)
        env.pop("REDLOCK_NODES", None)
        env.update({
            "LAB": self.root, "LAB_HOST": "here", "LAB_PID": str(os.getpid()),
            "LAB_SOURCE": os.path.join(self.source, "tests", "operating"),
            "LAB_HOSTS": self.path("here", "etc", "hosts"),
            "LAB_REDIS_CLI": shutil.which("redis-cli") or shutil.which("valkey-cli"),
            "LAB_TTL": "%ds --grace %ds" % (self.ttl, max(1, self.ttl // 4)),
            "LD_PRELOAD": os.path.join(self.build, "tests", "operating", "names.so"),
            "REDLOCK": os.path.join(self.build, "bin", "redlock"),
            "LAB_PLAIN": "yes" if self.plain else "",
            "PATH": ":".join([os.path.join(self.source, "tests", "operating", "bin"),
                              os.path.join(self.build, "bin"), os.environ["PATH"]]),
        })
        return env

    def of_lab(self, text):
        """A block of the document, as it is in the lab."""
        text = text.replace("/etc/", self.path("here", "etc") + "/")
        text = re.sub(r"\b10\.0\.0\.(\d)\b", self.net + r".\1", text)
        if self.plain:
            text = text.replace("rediss:", "redis:").replace(" ca-file=ca.pem", "")
            text = re.sub(r"--tls --cacert \S+", "", text)
        text = re.sub(r"max-ttl 30s", "max-ttl %ds" % self.max_ttl, text)
        text = re.sub(r"max-ttl 1m", "max-ttl %ds" % (self.max_ttl + 2), text)
        return re.sub(r"(?m)^ttl 10s", "ttl %ds" % self.ttl, text)

    def run(self, text, limit):
        """Its exit status, and all that was printed."""
        shell = subprocess.Popen(["sh", "-eu", "-c", self.of_lab(text)], env=self.env,
                                 cwd=self.path("here", "sources"), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 start_new_session=True)
        try:
            out, _ = shell.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            out, _ = shell.communicate()
            out += "\nthe lab: it was not done within %d s\n" % limit
        return shell.returncode, out

    # ---- the holders ----

    def logs(self):
        for host, unit, path in self.units(HOSTS):
            for name in ("manager", "log"):
                yield host, unit, self.read(os.path.join(path, name)).strip()[-300:]

    def units(self, hosts=("app-1", "app-2")):
        for host in hosts:
            for unit in sorted(os.listdir(self.path(host, "run"))):
                yield host, unit, self.path(host, "run", unit)

    def faults(self):
        """What must not be: a lock that was lost, or one that two had."""
        faults = []
        for host, unit, path in self.units():
            log = self.read(path + "/log")
            if "was lost" in log or "74" in self.read(path + "/all-exits").split():
                faults.append("%s, %s: %s" % (host, unit, log.strip()[-400:]))
        return faults + self.overlaps()

    def thin(self):
        """A holder whose lock is not on each master, though all vote again; None: there is none."""
        deadline = time.monotonic() + 2 * self.max_ttl
        for host, unit, _ in list(self.units()):
            if not unit.startswith("billing-"):
                continue
            name = "billing:%s-%s" % (host, unit[len("billing-"):])
            while True:
                _, out = self.run("redlock inspect -n /etc/redlock/billing.conf " + name, 30)
                lines = [line for line in out.splitlines() if line.startswith("redis")]
                if lines and all("held by" in line for line in lines):
                    break
                if time.monotonic() > deadline:
                    return out
                time.sleep(0.2)
        return None

    def overlaps(self):
        """Somebody works, or ends, when another has begun."""
        holder, faults = {}, []
        for line in self.read(self.path("holds")).splitlines():
            what, name, pid, _ = line.split()
            if what == "begin":
                holder[name] = pid
            elif holder[name] != pid:
                faults.append("%s was had by %s and %s at once" % (name, pid, holder[name]))
        return faults[:3]

    def holders(self):
        return len([unit for _, unit, path in self.units() if unit.startswith("billing-") and
                    self.read(path + "/state").strip() == "active"])

    @staticmethod
    def read(path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except (FileNotFoundError, ProcessLookupError):
            return ""

    # ---- the end ----

    def managers(self):
        for host in HOSTS:
            for unit in os.listdir(self.path(host, "run")):
                pid = self.read(self.path(host, "run", unit, "manager.pid")).strip()
                if pid and "unit.py" in self.read("/proc/%s/cmdline" % pid):
                    yield int(pid)

    def lives(self, pid):
        """It is there, and has not ended."""
        return self.read("/proc/%d/stat" % pid).rpartition(")")[2].split()[:1] not in ([], ["Z"])

    def close(self):
        managers = list(self.managers())
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in filter(self.lives, managers):
                os.kill(pid, number)
            deadline = time.monotonic() + 15
            while any(map(self.lives, managers)) and time.monotonic() < deadline:
                time.sleep(0.05)
        self.end_all()
        self.heart.stop()
        shutil.rmtree(self.root)

    def end_all(self):
        """What still works in the lab's directories, or was started from them."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                where = os.readlink("/proc/%s/cwd" % pid)
            except OSError:
                continue
            if where == self.root or where.startswith(self.root + "/"):
                os.kill(int(pid), signal.SIGKILL)
                while self.lives(int(pid)):
                    time.sleep(0.01)
