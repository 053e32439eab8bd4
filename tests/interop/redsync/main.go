// main.go - redsync as a client for redlock-chaos --client, see docs/CHAOS.md.
//
//	go build && redlock-chaos --client './redlock-chaos-redsync [--best | --tries]' ...
//
// By itself it is the README's example with the run's expiry, and all else at its default. With
// --best it is told to do what it can: not to wait for all masters where a majority has
// answered, to mind its time limits, and to try again soon; with --tries only the last of these.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

const version = "4.18.1" // as in go.mod

// What is not said here is go-redis's default, or redsync's.
type settings struct {
	best  bool
	tries bool
	ttl   time.Duration
	wait  time.Duration
	pools []redis.Pool
}

func (s *settings) connect(url string) error {
	options, err := goredislib.ParseURL(url)
	if err != nil {
		return err
	}
	if s.best {
		// Without the first one redsync's own time limit is not heeded: a master that does
		// not answer is then waited for, for five seconds, and then again.
		options.ContextTimeoutEnabled = true
		options.MaxRetries = -1
		options.DialTimeout = 500 * time.Millisecond
		// Nothing a lock needs; each costs a round trip on every new connection.
		options.DisableIdentity = true
	}
	s.pools = append(s.pools, goredis.NewPool(goredislib.NewClient(options)))
	return nil
}

func (s *settings) mutex(name string) *redsync.Mutex {
	options := []redsync.Option{redsync.WithExpiry(s.ttl)}
	if s.best {
		options = append(options, redsync.WithFailFast(true))
	}
	if s.best || s.tries {
		options = append(options, redsync.WithTries(1))
	}
	return redsync.New(s.pools...).NewMutex(name, options...)
}

// With --best and --tries: one try after the other until the time is up, which is what
// WithTries() and WithRetryDelayFunc() do, but for that they can't be told a time.
func (s *settings) lock(mutex *redsync.Mutex) error {
	giveUp := time.Now().Add(s.wait)
	for {
		err := mutex.LockContext(context.Background())
		if err == nil || !(s.best || s.tries) {
			return err
		}
		pause := time.Duration(10+rand.Intn(40)) * time.Millisecond
		if time.Now().Add(pause).After(giveUp) {
			return err
		}
		time.Sleep(pause)
	}
}

// One line, and why is not for machines.
func why(err error) string {
	var taken *redsync.ErrTaken
	switch {
	case err == nil:
		return ""
	case errors.As(err, &taken):
		return "held"
	default:
		return strings.Join(strings.Fields(err.Error()), " ")
	}
}

func refusal(word string, err error) string {
	text := word + " " + why(err)
	if len(text) > 200 {
		text = text[:200]
	}
	return strings.TrimSpace(text)
}

// It is known to be gone: a majority says that it is somebody else's, or nobody's.
func gone(err error) bool {
	var taken *redsync.ErrTaken
	return errors.As(err, &taken) || errors.Is(err, redsync.ErrLockAlreadyExpired)
}

type client struct {
	settings settings
	mutex    *redsync.Mutex
}

func (c *client) hello(words []string) string {
	// hello 1 ttl_ms N nodes URL...
	ttl, err := strconv.Atoi(words[2])
	if err != nil {
		return "no " + err.Error()
	}
	c.settings.ttl = time.Duration(ttl) * time.Millisecond
	for _, url := range words[4:] {
		if err := c.settings.connect(url); err != nil {
			return "no " + err.Error()
		}
	}
	return "ok redsync " + version
}

func (c *client) acquire(words []string) string {
	wait, _ := strconv.Atoi(words[1])
	c.settings.wait = time.Duration(wait) * time.Millisecond
	c.mutex = c.settings.mutex(words[0])
	if err := c.settings.lock(c.mutex); err != nil {
		return refusal("no", err)
	}
	return "ok"
}

func (c *client) validity() string {
	return fmt.Sprintf("ok %d", max(0, time.Until(c.mutex.Until()).Milliseconds()))
}

// What is said of an extension or a release.
func outcome(ok bool, err error) string {
	switch {
	case ok:
		return "ok"
	case gone(err):
		return refusal("gone", err)
	default:
		return refusal("no", err)
	}
}

// pairs PREFIX COUNT MS: that many goroutines, each with a lock of its own that it takes and
// releases for so long. Answers how many times, and within how many microseconds.
func (c *client) pairs(words []string) string {
	count, _ := strconv.Atoi(words[1])
	ms, _ := strconv.Atoi(words[2])
	begun := time.Now()
	until := begun.Add(time.Duration(ms) * time.Millisecond)
	var done atomic.Uint64
	var all sync.WaitGroup
	for i := range count {
		all.Add(1)
		go func() {
			defer all.Done()
			mutex := c.settings.mutex(fmt.Sprintf("%s:%d", words[0], i))
			for time.Now().Before(until) {
				if mutex.LockContext(context.Background()) != nil {
					continue
				}
				if ok, _ := mutex.Unlock(); ok {
					done.Add(1)
				}
			}
		}()
	}
	all.Wait()
	return fmt.Sprintf("ok %d %d", done.Load(), time.Since(begun).Microseconds())
}

func (c *client) answer(words []string) (answer string, ok bool) {
	switch words[0] {
	case "hello":
		return c.hello(words[1:]), true
	case "acquire":
		return c.acquire(words[1:]), true
	case "validity":
		return c.validity(), true
	case "extend":
		return outcome(c.mutex.Extend()), true
	case "release":
		return outcome(c.mutex.Unlock()), true
	case "pairs":
		return c.pairs(words[1:]), true
	default: // quit
		return "", false
	}
}

func main() {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	c := client{settings: settings{best: mode == "--best", tries: mode == "--tries"}}
	logging.Disable()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, ok := c.answer(strings.Fields(lines.Text()))
		if !ok {
			return
		}
		fmt.Println(answer)
	}
}
