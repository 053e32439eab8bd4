// index.js - node-redlock as a client for redlock-chaos --client, see docs/CHAOS.md.
//
//   npm ci && redlock-chaos --client 'node .../index.js [--best | --v4]' ...
//
// By itself it is acquire(), extend() and release() of the README's example, version 5, all
// settings at their defaults, those of ioredis too. --v4 is the same with version 4. With --best
// version 5 is told to do what it can: using(), which extends by itself and tells of a loss;
// connections that give up in time and repeat nothing; one attempt a call, and many calls.
"use strict";

const readline = require("readline");
const Redis = require("ioredis");
const Redlock4 = require("redlock4");
const { default: Redlock5 } = require("redlock");
const { dependencies } = require("./package.json");

const best = process.argv.includes("--best");
const v4 = process.argv.includes("--v4");

const namesOf = (name) => name.split(","); // that are to be taken together
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const oneLine = (error) => `${error.message}`.split(/\s+/).join(" ").slice(0, 200);

function connect(url, ttl) {
  const client = best
    ? new Redis(url, {
        // Without a limit of its own a command waits for as long as its master is silent.
        commandTimeout: Math.max(20, Math.floor(ttl / 10)),
        connectTimeout: 500,
        enableOfflineQueue: false,
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
        retryStrategy: (times) => Math.min(10 * times, 200),
      })
    : new Redis(url);
  client.on("error", () => {}); // it connects again; the library counts what failed
  return client;
}

// using() shows its routine nothing but a signal. The lock that it holds passes through here.
class Watched extends Redlock5 {
  async acquire(...words) {
    return (this.now = await super.acquire(...words));
  }
  async extend(...words) {
    return (this.now = await super.extend(...words));
  }
}

// The README's way: what acquire() and extend() return is the lock.
class ByHand {
  constructor(clients, ttl) {
    this.ttl = ttl;
    this.redlock = v4 ? new Redlock4(clients) : new Redlock5(clients);
  }
  async acquire(name) {
    this.lock = await this.redlock.acquire(namesOf(name), this.ttl);
  }
  expiration() {
    return this.lock.expiration;
  }
  async extend() {
    this.lock = await this.lock.extend(this.ttl);
  }
  release() {
    return v4 ? this.lock.unlock() : this.lock.release();
  }
}

class ByUsing {
  constructor(clients, ttl) {
    this.ttl = ttl;
    this.redlock = new Watched(clients, {
      // Version 5 counts a lock's expiration from before its first attempt: with attempts that
      // go on for longer than the TTL it would be over before it began.
      retryCount: 0,
      automaticExtensionThreshold: Math.floor(ttl / 2),
    });
  }
  // Resolved when the lock is held; the routine then waits for release().
  once(name) {
    return new Promise((held, refused) => {
      this.ended = this.redlock.using(namesOf(name), this.ttl, (signal) => {
        this.signal = signal;
        held();
        return new Promise((done) => (this.done = done));
      });
      this.ended.catch(refused);
    });
  }
  async acquire(name, wait) {
    const giveUp = Date.now() + wait;
    for (;;) {
      try {
        return await this.once(name);
      } catch (error) {
        const pause = 10 + Math.random() * 40;
        if (Date.now() + pause > giveUp) throw error;
        await sleep(pause);
      }
    }
  }
  expiration() {
    return this.signal.aborted ? 0 : this.redlock.now.expiration;
  }
  async extend() {
    if (this.signal.aborted) throw this.signal.error;
  }
  release() {
    this.done();
    return this.ended;
  }
}

let client;
let clients;

// pairs PREFIX COUNT MS: that many at once, each with a lock of its own that it takes and
// releases for so long. Answers how many times, and within how many microseconds.
async function pairs(prefix, count, ms) {
  const begun = performance.now();
  let done = 0;
  const user = async (i) => {
    const redlock = v4 ? new Redlock4(clients) : new Redlock5(clients);
    while (performance.now() < begun + ms) {
      const lock = await redlock.acquire([`${prefix}:${i}`], client.ttl);
      await (v4 ? lock.unlock() : lock.release());
      done++;
    }
  };
  await Promise.all(Array.from({ length: count }, (_, i) => user(i)));
  return `ok ${done} ${Math.round(1000 * (performance.now() - begun))}`;
}

async function answer(verb, words) {
  switch (verb) {
    case "hello": {
      // hello 1 ttl_ms N nodes URL...
      const ttl = Number(words[2]);
      clients = words.slice(4).map((url) => connect(url, ttl));
      client = best ? new ByUsing(clients, ttl) : new ByHand(clients, ttl);
      return `ok node-redlock ${dependencies[v4 ? "redlock4" : "redlock"].replace(/.*@/, "")}`;
    }
    case "acquire":
      await client.acquire(words[0], Number(words[1]));
      return "ok";
    case "validity":
      return `ok ${Math.max(0, Math.floor(client.expiration() - Date.now()))}`;
    case "pairs":
      return pairs(words[0], Number(words[1]), Number(words[2]));
    case "extend":
    case "release":
      await client[verb]();
      return "ok";
  }
}

async function main() {
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("close", () => process.exit(0)); // whatever still waits for a master
  for await (const line of lines) {
    const [verb, ...words] = line.split(" ");
    if (verb === "quit") break;
    try {
      console.log(await answer(verb, words));
    } catch (error) {
      const over = verb === "extend" && client.expiration() <= Date.now();
      console.log(`${over ? "gone" : "no"} ${oneLine(error)}`);
    }
  }
  process.exit(0);
}

main();
