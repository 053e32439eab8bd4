"""scene.py - what a case of the interop suite has to do with: two libraries, and a name."""

import itertools
import time

from clients import MARKED_MS, WATCHED, Broken, Late
from masters import own_key

LEASE_MS = 30000   # of a lock that nobody waits to run out
WAKE_S = 5         # a waiter has it so soon after a release: far less than the lease
POLL_S = 1         # one of ours that will be told asks by itself no sooner after its last try
POLLS = 6          # tries of ours behind a stranger's lock, within
POLLS_S = 4        # this: it would be two seconds at most, or six of a waiter that will be told
LEFT_S = 8         # and so soon nothing is left on the masters
WATCH_MS = 1500    # the lease of what is renewed

numbers = itertools.count(1)


def await_true(what, condition, within=10):
    give_up = time.monotonic() + within
    while not condition():
        if time.monotonic() > give_up:
            raise Broken(f"not within {within} s: {what}")
        time.sleep(0.01)


class Waiting:
    """A try that goes on."""

    def __init__(self, side, kind, wait_ms):
        self.side, self.words = side, side.words(kind, wait_ms)
        self.asked = time.monotonic()
        self.give_up = self.asked + wait_ms / 1000
        self.answer = side.send(*self.words)

    def done(self):
        return self.answer.done()

    def got(self, within):
        """When it was got."""
        deadline = time.monotonic() + within
        while True:
            text = self.answer.wait(max(0.1, deadline - time.monotonic()))
            if text.startswith("ok"):
                self.side.scene.granted(text)
                return self.answer.at
            if not self.side.client.impatient or time.monotonic() > min(deadline, self.give_up):
                raise Broken(f"{self.side} did not get it: {text}")
            self.answer = self.side.send(*self.words)

    def woken(self, since, by):
        """It was got soon after `since`; where both are told of releases: because `by` told it.
        Redisson's would sleep until the lease is over. Ours would ask by itself, but not yet: no
        other reason is left where all that it did took less than that pause.
        (Redisson misses a writer's message between a refusal and its sleep.)"""
        told = self.side.client.threads and by.client.threads
        try:
            at = self.got(self.side.scene.lease_ms / 2000 if told else WAKE_S)
        except Broken as broken:
            raise (Late if told else Broken)(str(broken)) from broken
        if told and self.side.client.name == "ours" and at - self.asked >= POLL_S:
            raise Late(f"{self.side} had it {at - since:.3f} s after {by} released it, and "
                       f"{at - self.asked:.3f} s after it asked: it may have asked again")
        return at - since

    def polls(self):
        """The holder will tell it nothing, and so it asks again and again."""
        masters = self.side.scene.masters
        tries = masters.writes()
        try:
            await_true(f"{self.side} tries {POLLS} times",
                       lambda: masters.writes() - tries >= POLLS, POLLS_S)
        except Broken as broken:
            raise Late(str(broken)) from broken

    def not_got(self, within):
        text = self.answer.wait(within)
        if not text.startswith("no"):
            raise Broken(f"{self.side} was to give up: {text}")


class Side:
    """A thread of one of the two libraries."""

    def __init__(self, scene, client, thread, driver, lease_ms, name):
        self.scene, self.client, self.thread, self.driver = scene, client, thread, driver
        self.lease_ms = lease_ms  # 0: it is renewed
        self.name = name or scene.name_for(client)

    def __str__(self):
        return f"{self.thread} ({self.client.name})"

    def send(self, *words):
        return self.driver.send(self.thread if self.client.threads else "", *words)

    def words(self, kind, wait_ms):
        lease = [self.lease_ms] if self.client.threads and self.lease_ms else []
        return ["acquire", self.name, wait_ms, kind or self.scene.kind] + lease

    def expect(self, what, *words):
        text = self.send(*words).wait()
        if not text.startswith(what):
            raise Broken(f"{self} was to say {what} to {' '.join(str(w) for w in words)}: {text}")
        return text

    def take(self, kind=None):
        """It is free, and nobody is in the way. (There are clients that have yet to connect.)"""
        Waiting(self, kind, 2000).got(WAKE_S)

    def refused(self, kind=None):
        self.expect(self.client.refusal, *self.words(kind, 0))

    def begin(self, kind=None, wait_ms=LEASE_MS):
        """Wait for it, and return once the waiting has begun: all tries that come before it are
        over, so that only a message, or time, can bring the next."""
        waiters, tries = self.scene.waiters(), self.scene.masters.writes()
        waiting = Waiting(self, kind, wait_ms)

        def waits():
            more = self.scene.masters.writes() - tries
            if self.client.threads and not waiters:
                # One try, the subscription, and another; ours of plain locks is there already.
                enough = 1 if self.scene.kind == "plain" else 2
                return self.scene.waiters() and more >= enough
            # Threads of one client share a subscription, and who only polls has none.
            return self.scene.waiters() > waiters or more
        await_true(f"{self} waits", lambda: waiting.done() or waits())
        return waiting

    def release(self, kind=None):
        """Give it up; since when others may have it."""
        began = time.monotonic()
        self.expect("ok", "release", self.name, kind or self.scene.kind)
        return began

    def release_lost(self, kind=None):
        """It is not ours any more, and that is known."""
        tells = self.client.tells_loss and (self.client.name == "ours" or not self.scene.quorum or
                                            self.scene.kind == "plain")
        self.expect(("gone", "no") if tells else "", "release", self.name, kind or self.scene.kind)

    def ask(self, verb, kind=None):
        return self.expect("ok", verb, self.name, kind or self.scene.kind)[3:]

    def renew(self):
        """Keep what was taken without a lease."""
        if not self.client.renews:
            self.expect("ok", "extend")


class Scene:
    """A case: the masters, a fresh name, `one` library and the `other`."""

    def __init__(self, stage, kind, one, other, braced=False, marked=False):
        self.stage, self.kind = stage, kind.split(" ")[0]
        self.quorum = kind.endswith(" on 3")
        if kind.endswith(WATCHED):
            self.masters = stage.watched()
        else:
            self.masters = stage.masters(3 if self.quorum else 1, marked)
        self.lease_ms = MARKED_MS if self.masters.marked else LEASE_MS
        if marked:
            self.masters.mark()
        number = next(numbers)
        self.name = f"interop:{{{number}}}:x" if braced else f"interop:{number}"
        if kind.startswith("several"):
            self.kind, self.name = "plain", f"{self.name},{self.name}:b"
        self.first, self.second = one, other
        self.peer, self.ours = (one, other) if other.name == "ours" else (other, one)
        self.killed = []
        self.longest_ms = 0  # of the leases that were asked for
        self.token = 0  # the last that was told, of a lock with fencing tokens
        self.reentered = False  # an inner hold has the token of the hold around it
        self.noted = ""  # a figure, of what a case is about

    def name_for(self, client):
        """Both sides must mean the same key."""
        return self.name if client.key(self.name) == self.key else self.key

    @property
    def key(self):
        return self.peer.key(self.name)

    def side(self, client, thread, lease_ms=None, alone=False, name=None):
        """With no lease it is renewed, or the case has to see to it; alone: may be killed. It
        wants the scene's lock, or that of another name."""
        lease_ms = self.lease_ms if lease_ms is None else lease_ms
        self.longest_ms = max(self.longest_ms, lease_ms or WATCH_MS)
        ttl_ms = WATCH_MS if not lease_ms else self.lease_ms if client.threads else lease_ms
        driver = self.stage.driver(client, self.masters, thread, ttl_ms, alone)
        if alone:
            self.killed.append(driver)
        return Side(self, client, thread, driver, lease_ms, name)

    def one(self, thread="ann", **rest):
        return self.side(self.first, thread, **rest)

    def other(self, thread="bob", **rest):
        return self.side(self.second, thread, **rest)

    def waiters(self):
        """Who waits in a way that the masters know of."""
        first = self.masters.all[0]
        name = self.key.split(",")[0]
        queued = first.ask("ZCARD", own_key(name, "queue")) if self.kind == "plain" else 0
        return queued + self.masters.listeners(name if "{" in name else "{" + name)

    def beside(self, prefix):
        """Redisson's key of that prefix: what has braces in its name gets no others."""
        return f"{prefix}:{self.key}" if "{" in self.key else f"{prefix}:{{{self.key}}}"

    def outlasts(self, lease_ms):
        """No inner hold of that lease has made the lock's shorter."""
        for master in self.masters.all:
            left_ms = master.ask("PTTL", self.key)
            if left_ms <= lease_ms:
                raise Broken(f"{self.key} has {left_ms} ms left, of {self.lease_ms}")

    def check_leases(self):
        """No lock, and no reader's lease, outlasts what was asked for."""
        names = self.key.split(",")
        for master, keys in zip(self.masters.all, self.masters.keys()):
            for key in keys:
                if key not in names and "rwlock_timeout" not in key:
                    continue
                left_ms = master.ask("PTTL", key)
                if left_ms == -1 or left_ms > self.longest_ms:
                    raise Broken(f"{key} has {left_ms} ms of {self.longest_ms}")

    def owners(self):
        """Who has it how often, as Redisson writes it on the first master."""
        fields = self.masters.all[0].ask("HGETALL", self.key)
        return {name: int(value) for name, value in zip(fields[::2], fields[1::2])
                if name != "mode"}

    def count(self, count, *sides):
        """It is had so often, and each of those who have it says so."""
        # One of three masters may be the last to hear of it.
        await_true(f"the first master's count is {count}",
                   lambda: sum(self.owners().values()) == count)
        for side in sides:
            if not (self.quorum and side.client.name != "ours"):  # RedissonRedLock can't tell
                side.expect(f"ok {count // len(sides)}", "count", side.name, self.kind)

    @property
    def counter(self):
        return self.beside("redisson_lock_token")

    def granted(self, text):
        """Somebody has it, with a fencing token or without. It is above all earlier ones, but that of
        an inner hold may be the outer hold's."""
        if not self.kind.startswith("fenced"):
            return
        token = int(text.split()[1])
        if token <= self.token:
            if sum(self.owners().values()) < 2:
                raise Broken(f"the token {token} comes after {self.token}")
            self.reentered = True
        self.token = max(self.token, token)
        self.check_counter()

    def check_counter(self):
        """A counter that ends would begin anew."""
        left_ms = self.masters.all[0].ask("PTTL", self.counter)
        if left_ms != -1:
            raise Broken(f"{self.counter} has {left_ms} ms left")

    def forget(self):
        """The masters lose all that they have; Redisson's next token is 1."""
        self.masters.forget()
        self.token = 0

    def end_counter(self):
        """It stays when the lock is gone, and says which token was the last. An inner hold raises it
        also where it then has the token of the hold around it."""
        self.check_counter()
        last = int(self.masters.all[0].ask("GET", self.counter))
        if last < self.token or last > self.token and not self.reentered:
            raise Broken(f"{self.counter} is {last}, and the last token was {self.token}")
        self.masters.all[0].ask("DEL", self.counter)

    def end(self):
        for driver in self.killed:
            driver.end()
        if self.kind.startswith("fenced"):
            self.end_counter()
        await_true("nothing is left", lambda: not any(self.masters.keys()), LEFT_S)


    def give_up(self):
        """Nobody knows what they do now."""
        for driver in self.killed:
            driver.kill()
        self.stage.clear()
