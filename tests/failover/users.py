"""users.py - the programs that contend, and the judge of what they saw."""

import collections
import os
import subprocess
import threading

Hold = collections.namedtuple("Hold", "who name begin end token lost")
SECOND = 1e6


class Users:
    """One list's contenders: the command `contend` in one or more places, and what they tell."""

    def __init__(self, contend, directory, text):
        self.contend, self.directory = contend, directory
        self.holds, self.grants, self.trespasses, self.late = [], [], [], set()
        self.losses = []  # texts
        self.programs, self.readers, self.begun = [], [], []
        self.lock = threading.Lock()
        os.makedirs(directory)
        self.list = os.path.join(directory, "redlock.conf")
        self.write_list(text)

    def write_list(self, text):
        with open(self.list, "w", encoding="ascii") as file:
            file.write(text)

    def start(self, *what):
        program, reader = self.begin(*what)
        self.programs.append(program)
        self.readers.append(reader)
        self.begun.append(what)

    def start_again(self):
        """One program after the other, with the list as it is now."""
        for place, what in enumerate(self.begun):
            self.end_one(place)
            self.programs[place], self.readers[place] = self.begin(*what)

    def begin(self, who, source, names, contenders, idle, ttl_ms):
        log = open(os.path.join(self.directory, f"{who}.err"), "ab")
        program = subprocess.Popen(
            [*self.contend, self.list, self.directory, str(names), str(contenders), str(idle),
             str(ttl_ms), who, source],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1)
        log.close()
        reader = threading.Thread(target=self.read, args=(program.stdout,), daemon=True)
        reader.start()
        return program, reader

    def read(self, stream):
        for line in stream:
            kind, who, name, *numbers = line.split()
            with self.lock:
                if kind == "loss":
                    self.losses.append(line.strip())
                elif kind == "hold":
                    begin, end, token, lost = map(int, numbers)
                    self.holds.append(Hold(who, name, begin / SECOND, end / SECOND, token, lost))
                elif kind == "grant":
                    self.grants.append((int(numbers[0]) / SECOND, who, int(name)))
                elif kind == "trespass":
                    self.trespasses.append((who, name))
                else:
                    self.late.add(name)

    def idle_ask(self, third):
        for program in self.programs:
            program.stdin.write(f"{third}\n")
            program.stdin.flush()

    def first_grant(self, since, who="", least_name=0):
        with self.lock:
            times = [at for at, user, name in self.grants
                     if at >= since and user.startswith(who) and name >= least_name]
        return min(times, default=None)

    def ended(self):
        """A program that is not there any more, and what it said."""
        for program in self.programs:
            if program.poll() is not None:
                return f"a program of users ended with {program.returncode}: {self.said()}"
        return None

    def said(self):
        texts = []
        for name in sorted(os.listdir(self.directory)):
            if name.endswith(".err"):
                with open(os.path.join(self.directory, name), encoding="utf-8",
                          errors="replace") as file:
                    texts += file.read().splitlines()[-5:]
        return " / ".join(texts)

    def end_one(self, place):
        program = self.programs[place]
        program.stdin.close()
        try:
            program.wait(30)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
        self.readers[place].join()
        return program.returncode

    def end(self):
        return [self.end_one(place) for place in range(len(self.programs))]

    # ---- the judge ----

    def overlaps(self):
        """Pairs of holds of one name of which one begins before the other ends."""
        pairs, last = [], {}
        for hold in sorted(self.holds, key=lambda one: one.begin):
            before = last.get(hold.name)
            if before and hold.begin < before.end:
                pairs.append((before, hold))
            if not before or hold.end > before.end:
                last[hold.name] = hold
        return pairs

    def fallen_tokens(self):
        """Holds whose token is not above that of an earlier hold of the name."""
        fallen, highest = [], {}
        for hold in sorted(self.holds, key=lambda one: one.begin):
            if hold.token and hold.token <= highest.get(hold.name, 0):
                fallen.append(hold)
            highest[hold.name] = max(highest.get(hold.name, 0), hold.token)
        return fallen

    def unexcused_trespasses(self):
        return [one for one in self.trespasses if one[1] not in self.late]

    def gap(self, since, until):
        """The longest time between two grants to anybody."""
        with self.lock:
            times = sorted(at for at, _, _ in self.grants if since <= at <= until)
        times = [since, *times, until]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def lost(self, since, until):
        with self.lock:
            return sum(hold.lost for hold in self.holds if since <= hold.end <= until)
