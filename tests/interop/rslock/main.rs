// main.rs - rslock as a client of tests/interop/suite.py, see docs/INTEROP.md.
//
// Its settings are its defaults, but for the TTL and the tries: one after the other, until the
// time is up. A release does not say whether the lock was lost before.

use rslock::{Lock, LockError, LockManager};
use std::io::BufRead;
use std::time::{Duration, Instant};

const VERSION: &str = "0.10.0"; // as in Cargo.toml
const RETRY: Duration = Duration::from_millis(20);

struct Client {
    manager: LockManager,
    ttl: Duration,
    lock: Option<Lock>,
}

fn one_line(text: String) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(200).collect()
}

impl Client {
    // hello 1 ttl_ms N nodes URL...
    fn new(words: &[&str]) -> Client {
        let urls: Vec<String> = words[5..].iter().map(|url| url.to_string()).collect();
        let mut manager = LockManager::new(urls);
        manager.set_retry(1, RETRY);
        let ttl = Duration::from_millis(words[3].parse().expect("a TTL in ms"));
        Client { manager, ttl, lock: None }
    }

    async fn acquire(&mut self, name: &str, wait: Duration) -> String {
        let give_up = Instant::now() + wait;
        loop {
            match self.manager.lock(name.as_bytes(), self.ttl).await {
                Ok(lock) => {
                    self.lock = Some(lock);
                    return "ok".to_string();
                }
                Err(LockError::Unavailable) if Instant::now() + RETRY > give_up => {
                    return "no held".to_string();
                }
                Err(LockError::Unavailable) => tokio::time::sleep(RETRY).await,
                Err(error) => return format!("no {}", one_line(error.to_string())),
            }
        }
    }

    async fn extend(&mut self) -> String {
        let Some(lock) = self.lock.take() else { return "no lock".to_string() };
        match self.manager.extend(&lock, self.ttl).await {
            Ok(longer) => {
                self.lock = Some(longer);
                "ok".to_string()
            }
            Err(LockError::Unavailable) => {
                self.lock = Some(lock);
                "gone".to_string()
            }
            Err(error) => format!("no {}", one_line(error.to_string())),
        }
    }

    async fn release(&mut self) -> String {
        match self.lock.take() {
            Some(lock) => {
                self.manager.unlock(&lock).await;
                "ok".to_string()
            }
            None => "gone: no lock".to_string(),
        }
    }

    // pairs PREFIX COUNT MS: that many tasks, each with a lock of its own that it takes and
    // releases for so long. Answers how many times, and within how many microseconds.
    async fn pairs(&self, prefix: &str, count: usize, time: Duration) -> String {
        let begun = Instant::now();
        let tasks: Vec<_> = (0..count)
            .map(|i| {
                let (manager, ttl) = (self.manager.clone(), self.ttl);
                let name = format!("{prefix}:{i}");
                tokio::spawn(async move {
                    let mut done = 0u64;
                    while begun.elapsed() < time {
                        if let Ok(lock) = manager.lock(name.as_bytes(), ttl).await {
                            manager.unlock(&lock).await;
                            done += 1;
                        }
                    }
                    done
                })
            })
            .collect();
        let mut done = 0;
        for task in tasks {
            done += task.await.expect("a task");
        }
        format!("ok {done} {}", begun.elapsed().as_micros())
    }

    async fn answer(&mut self, words: &[&str]) -> String {
        match words {
            ["acquire", name, wait, ..] => {
                let wait = Duration::from_millis(wait.parse().expect("a time in ms"));
                self.acquire(name, wait).await
            }
            ["extend", ..] => self.extend().await,
            ["release", ..] => self.release().await,
            ["pairs", prefix, count, ms] => {
                let time = Duration::from_millis(ms.parse().expect("a time in ms"));
                self.pairs(prefix, count.parse().expect("a number"), time).await
            }
            _ => "no such verb".to_string(),
        }
    }
}

#[tokio::main]
async fn main() {
    let mut client: Option<Client> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words[0], &mut client) {
            ("quit", _) => break,
            ("hello", _) => {
                client = Some(Client::new(&words));
                println!("ok rslock {VERSION}");
            }
            (_, Some(known)) => println!("{}", known.answer(&words).await),
            _ => println!("no hello yet"),
        }
    }
}
