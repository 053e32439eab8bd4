"""plays.py - what is played: recipes that are right, and wrong ones, which must be seen to be."""

from dataclasses import dataclass

from times import SERVERS, duration


@dataclass(frozen=True)
class Play:
    title: str
    wait: float  # 0: --try
    at_least: float  # 0: without
    fewest: int  # how often a period may run the job
    most: int
    count: int  # how many periods, of the whole run
    kills: bool = False  # in each second period somebody is killed
    wrong: bool = False  # short jobs on servers that are as far apart as can be; no master dies
    ttl: float = 0  # 0: the node list's

    def options(self):
        """Of redlock run."""
        wait = ["--wait", duration(self.wait)] if self.wait else ["--try"]
        ttl = ["--ttl", duration(self.ttl)] if self.ttl else []
        return wait + ttl + (["--at-least", duration(self.at_least)] if self.at_least else [])


def right(times):
    wait, at_least = times.wait, times.at_least
    return {
        "recipe": Play("--wait W --at-least D: each period runs once", wait, at_least, 1, 1, 300),
        "stay": Play("D longer than one lease: each period runs once", wait, times.stay, 1, 1, 24),
        "try": Play("--try --at-least D: no period runs twice", 0, times.try_at_least, 0, 1, 300),
        # One of ten kills is of the guard or the job alone, or comes when all is over.
        "kills": Play("the recipe, redlock killed: never twice, and the next period runs once",
                      wait, at_least, 1, 1, 600, kills=True),
    }


def wrong(times):
    """Were these not seen to run the job more than once, nothing would be."""
    def play(title, wait, at_least, ttl=0):
        return Play(f"wrong, {title}: each period runs more than once", wait, at_least,
                    2, SERVERS, 12, wrong=True, ttl=ttl)
    return {
        "no-at-least": play("without --at-least", times.wait, 0),
        # Keys stay for a whole lease, too.
        "short-at-least": play("D below S", 0, times.skew / 2, times.skew / 2),
        "long-wait": play("W below D, S + W above D", times.long_wait, times.at_least),
    }


def plays(times):
    return {**right(times), **wrong(times)}
