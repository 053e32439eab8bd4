"""period.py - one period of one name: three servers fire, and it is judged at its end."""

from clockwork import now
from server import Firing
from times import SERVERS


class Period:
    def __init__(self, stage, play, name, with_kill):
        self.stage, self.play, self.name = stage, play, name
        self.with_kill = with_kill
        self.began = now()
        self.firings = []
        times, draw = stage.times, stage.draw
        if play.wrong:
            skews = [times.skew * place / (SERVERS - 1) for place in range(SERVERS)]
            job = (times.short_job, 0)
        else:
            skews = [draw.uniform(0, times.skew) for _ in range(SERVERS)]
            if draw.random() < 0.3:
                skews[0], skews[-1] = 0, times.skew
            draw.shuffle(skews)
            short = draw.random() < 0.3
            job = (draw.uniform(0, times.short_job if short else times.job),
                   3 if draw.random() < 0.2 else 0)
        for place, skew in enumerate(skews):
            stage.clock.at(self.began + skew, self.fire, place, job)
        self.first = min(range(SERVERS), key=skews.__getitem__)
        self.victim = self.first if draw.random() < 0.7 else draw.randrange(SERVERS)

    def fire(self, place, job):
        firing = Firing(self.stage, place, self.play, self.name, job)
        self.firings.append(firing)
        if self.with_kill and place == self.victim:
            draw = self.stage.draw
            # Most of what can go wrong goes wrong while it takes the lock, and starts the job.
            early = draw.random() < 0.5
            self.stage.clock.after(draw.uniform(0, 0.03 if early else job[0] + 0.1),
                                   self.kill, firing)

    def kill(self, firing):
        alive = [one for one in [firing, *self.firings] if one.status is None]
        if alive:
            whom = self.stage.draw.choices(
                [["redlock"], ["redlock", "guard"], ["redlock", "job"], ["guard"], ["job"]],
                [6, 1, 1, 1, 1])[0]
            before = bool(alive[0].starts())
            self.stage.killed(alive[0].kill(whom), before)

    def starts(self):
        return sorted(start for firing in self.firings for start in firing.starts())

    def fault(self):
        """What is wrong with it, or nothing."""
        starts = self.starts()
        least = 0 if self.with_kill else self.play.fewest
        if not least <= len(starts) <= self.play.most:
            return f"ran {len(starts)} times"
        amiss = [one for one in self.firings if one.is_amiss()]
        return f"server {amiss[0].place} ended with {amiss[0].status}" if amiss else ""

    def began_again_after(self):
        """How long after the first firing the job began again, if it did: below --at-least no
        stall of the machine explains that."""
        starts = self.starts()
        return starts[1] - min(one.at for one in self.firings) if len(starts) > 1 else None

    def text(self):
        return "; ".join(one.text(self.began) for one in self.firings)

    def forget(self):
        for one in self.firings:
            one.forget()
