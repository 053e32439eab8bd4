// index.js - redis-semaphore as a client of tests/interop/suite.py, see docs/INTEROP.md.
//
// One master: its Mutex. More: its RedlockMutex. It renews by itself, and does not say at a
// release that a lock was lost before. All settings are its defaults, but for the TTL.
"use strict";

const readline = require("readline");
const Redis = require("ioredis");
const { Mutex, RedlockMutex } = require("redis-semaphore");
const { dependencies } = require("./package.json");

let clients;
let ttl;
let mutex;
let lost;

function make(name, wait) {
  const options = {
    lockTimeout: ttl,
    acquireTimeout: Math.max(wait, 1),
    onLockLost: (error) => (lost = error),
  };
  if (wait === 0) options.acquireAttemptsLimit = 1;
  return clients.length === 1
    ? new Mutex(clients[0], name, options)
    : new RedlockMutex(clients, name, options);
}

async function answer(verb, words) {
  switch (verb) {
    case "hello":
      // hello 1 ttl_ms N nodes URL...
      ttl = Number(words[2]);
      clients = words.slice(4).map((url) => new Redis(url));
      return `ok redis-semaphore ${dependencies["redis-semaphore"]}`;
    case "acquire":
      lost = undefined;
      mutex = make(words[0], Number(words[1]));
      return (await mutex.tryAcquire()) ? "ok" : "no held";
    case "release":
      await mutex.release();
      return lost ? "gone" : "ok";
    default:
      return "no such verb";
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
      console.log(`no ${`${error.message}`.split(/\s+/).join(" ").slice(0, 200)}`);
    }
  }
  process.exit(0);
}

main();
