"""hosts.py - a network of this process's own, in which addresses can be kept from each other. No
root is needed where the kernel lets users have one."""

import os
import random
import subprocess
import sys

INSIDE = "FAILOVER_NETWORK"
CUT = "10"  # the place of our rules among those of routing; the addresses of this host are behind


def ip(*words, must=True):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if must and done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.returncode == 0


def enter():
    """The program begins again in a network of its own. False: there is none to be had."""
    if os.environ.get(INSIDE):
        ip("link", "set", "lo", "up")
        ip("rule", "add", "pref", "100", "lookup", "local")
        ip("rule", "del", "pref", "0")
        # What a server connects from where its own address does not get through.
        ip("rule", "add", "pref", "20", "from", "127.0.0.1", "blackhole")
        return True
    test = ["unshare", "-Urn", "ip", "rule", "add", "pref", "100", "lookup", "local"]
    try:
        if subprocess.run(test, capture_output=True, check=False).returncode != 0:
            return False
    except FileNotFoundError:
        return False
    os.environ[INSIDE] = "yes"
    os.execvp("unshare", ["unshare", "-Urn", sys.executable, "-B", *sys.argv])


def cut(these, those):
    for one in these:
        for other in those:
            ip("rule", "add", "pref", CUT, "from", one, "to", other, "blackhole")
            ip("rule", "add", "pref", CUT, "from", other, "to", one, "blackhole")


def heal():
    while os.environ.get(INSIDE) and ip("rule", "del", "pref", CUT, must=False):
        pass


def network():
    return f"127.{random.randint(1, 250)}"
