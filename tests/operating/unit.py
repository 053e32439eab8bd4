#!/usr/bin/env python3
"""unit.py - a service manager as small as the lab needs it: runs ExecStart of one unit file, hears
what the service says of itself, and starts it anew as Restart= says.

    unit.py DIRECTORY UNIT-FILE     until TERM; "state" and "status" in DIRECTORY say how it is
"""
import os
import shlex
import signal
import socket
import subprocess
import sys
import time

LAB = int(os.environ["LAB_PID"])
asked_to_stop = []


def read_unit(path):
    """A key's last value; what the lab has no use for is not looked at."""
    unit = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            key, equals, value = line.strip().partition("=")
            if equals and not line.startswith("#"):
                unit[key] = value
    return unit


def write(directory, name, text):
    new = os.path.join(directory, name + ".new")
    with open(new, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    os.rename(new, os.path.join(directory, name))


def lab_is_there():
    try:
        os.kill(LAB, 0)
    except ProcessLookupError:
        return False
    return True


def start(directory, unit, log):
    # An abstract name: the path of a directory may be too long for one.
    name = os.path.relpath(directory, os.path.dirname(os.environ["LAB"]))
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    heard.bind("\0" + name)
    heard.settimeout(0.2)
    env = dict(os.environ)
    if unit.get("Type") == "notify":
        env["NOTIFY_SOCKET"] = "@" + name
    service = subprocess.Popen(shlex.split(unit["ExecStart"]), env=env, stdin=subprocess.DEVNULL,
                               stdout=log, stderr=log, start_new_session=True)
    write(directory, "pid", str(service.pid))
    write(directory, "state", "activating" if "NOTIFY_SOCKET" in env else "active")
    return heard, service


def listen(directory, heard):
    try:
        lines = heard.recv(8192).decode("utf-8", "replace").splitlines()
    except socket.timeout:
        return
    for line in lines:
        key, _, value = line.partition("=")
        if key == "READY" and value == "1":
            write(directory, "state", "active")
        elif key == "STATUS":
            write(directory, "status", value)


def run_once(directory, unit, log):
    """Its exit status, as systemd sees it."""
    heard, service = start(directory, unit, log)
    told = False
    deadline = float("inf")
    while service.poll() is None:
        listen(directory, heard)
        if (asked_to_stop or not lab_is_there()) and not told:
            service.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + float(unit.get("TimeoutStopSec", 30))
            told = True
        if time.monotonic() > deadline:
            os.killpg(service.pid, signal.SIGKILL)
    heard.close()
    return service.returncode


def main(directory, path):
    unit = read_unit(path)
    signal.signal(signal.SIGTERM, lambda *_: asked_to_stop.append(True))
    prevent = unit.get("RestartPreventExitStatus", "").split()
    with open(os.path.join(directory, "log"), "ab") as log:
        while True:
            status = run_once(directory, unit, log)
            write(directory, "exits", str(status))
            with open(os.path.join(directory, "all-exits"), "a", encoding="utf-8") as all_exits:
                all_exits.write("%d\n" % status)
            if asked_to_stop or not lab_is_there():
                break
            if str(status) in prevent or unit.get("Restart", "no") == "no":
                break
            time.sleep(float(unit.get("RestartSec", "0.1")))
    write(directory, "state", "inactive" if asked_to_stop else "failed")


main(sys.argv[1], sys.argv[2])
