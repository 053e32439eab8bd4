// main.go - bsm/redislock as a client of tests/interop/suite.py, see docs/INTEROP.md.
//
// It knows one master; the first of the list is taken. Its settings are its defaults, but for
// the TTL and the pause between two tries.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

const version = "0.9.4" // as in go.mod
const retry = 20 * time.Millisecond

type client struct {
	ttl    time.Duration
	locker *redislock.Client
	lock   *redislock.Lock
}

func (c *client) hello(words []string) string {
	// hello 1 ttl_ms N nodes URL...
	ttl, err := strconv.Atoi(words[2])
	if err != nil {
		return "no " + err.Error()
	}
	options, err := redis.ParseURL(words[4])
	if err != nil {
		return "no " + err.Error()
	}
	c.ttl = time.Duration(ttl) * time.Millisecond
	c.locker = redislock.New(redis.NewClient(options))
	return "ok redislock " + version
}

func (c *client) acquire(words []string) error {
	wait, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	options := &redislock.Options{}
	tries := wait / int(retry.Milliseconds())
	if tries > 0 {
		options.RetryStrategy = redislock.LimitRetry(redislock.LinearBackoff(retry), tries)
	}
	limit := c.ttl
	if waits := time.Duration(wait) * time.Millisecond; waits > limit {
		limit = waits
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c.lock, err = c.locker.Obtain(ctx, words[0], c.ttl, options)
	return err
}

func (c *client) say(err error) string {
	text := ""
	if err != nil {
		text = " " + strings.Join(strings.Fields(err.Error()), " ")
	}
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, redislock.ErrLockNotHeld):
		return "gone" + text
	default:
		return "no" + text
	}
}

func (c *client) answer(words []string) string {
	ctx := context.Background()
	switch words[0] {
	case "hello":
		return c.hello(words[1:])
	case "acquire":
		err := c.acquire(words[1:])
		if errors.Is(err, redislock.ErrNotObtained) || errors.Is(err, context.DeadlineExceeded) {
			return "no held"
		}
		return c.say(err)
	case "extend":
		err := c.lock.Refresh(ctx, c.ttl, nil)
		if errors.Is(err, redislock.ErrNotObtained) {
			return "gone"
		}
		return c.say(err)
	case "release":
		return c.say(c.lock.Release(ctx))
	}
	return "no such verb"
}

func main() {
	c := client{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if words[0] == "quit" {
			return
		}
		fmt.Println(c.answer(words))
	}
}
