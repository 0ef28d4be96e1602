package loop

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

var everything = flag.Bool("everything", false, "try many more seeds")

// chaos plays a model, a person and a process that end, go wrong and come back as chance
// has it.
type chaos struct {
	*rig
	*rand.Rand
	said  int            // prompts
	runs  map[string]int // how often a call was made, by its id at the gate
	mu    sync.Mutex
	begun chan bool // a tool that waits has begun
}

// TestRandom: whatever happens, each call has one result, in order, none is made twice,
// and each word of the person is heard once.
func TestRandom(t *testing.T) {
	seeds := uint64(12)
	if *everything {
		seeds = 100
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := &chaos{rig: newRig(t), Rand: rand.New(rand.NewPCG(seed, 1)), runs: map[string]int{}, begun: make(chan bool, 64)}
			for _, name := range []string{"read_one", "write_one"} {
				c.tool(name, func(ctx context.Context, call Call) (Outcome, error) {
					c.mu.Lock()
					c.runs[call.ID]++
					c.mu.Unlock()
					if strings.Contains(string(call.Args), "wait") {
						c.begun <- true
						<-ctx.Done()
						return Outcome{}, ctx.Err()
					}
					return Outcome{Text: "result of " + call.ID}, nil
				})
			}
			for range 60 {
				c.act()
			}
			c.finish()
		})
	}
}

// act does something, and answers the model if it is asked.
func (c *chaos) act() {
	switch c.IntN(8) {
	case 0, 1, 2:
		c.say(conversation.Queue)
	case 3:
		c.say(conversation.Steer)
	case 4:
		c.say(conversation.Interrupt)
	case 5:
		c.run.Cancel()
		c.run.Resume()
	case 6:
		c.run.Pause()
		c.run.Resume()
	case 7:
		c.restart()
		c.run.Resume()
	}
	for range c.IntN(4) {
		if !c.answer() {
			return
		}
	}
}

func (c *chaos) say(when string) {
	c.said++
	if _, err := c.run.Prompt(conversation.Item{Text: fmt.Sprintf("prompt-%d.", c.said)}, when); err != nil {
		c.Fatal(err)
	}
}

// answer answers one request; false if there is none now.
func (c *chaos) answer() bool {
	u := c.request()
	if u == nil {
		return false
	}
	c.check(u.Request)
	switch c.IntN(12) {
	case 0, 1, 2, 3, 4:
		var calls []model.Block
		for range 1 + c.IntN(3) {
			args := fmt.Sprintf(`{"n":%d}`, c.IntN(1_000_000))
			switch c.IntN(8) {
			case 0:
				args = `{"half`
			case 1:
				args = `{"wait":1}`
			}
			calls = append(calls, model.Block{ID: "same", Name: []string{"read_one", "write_one", "nonesuch"}[c.IntN(3)], Args: args})
		}
		u.call(calls...)
	case 5:
		u.hear(model.Piece{Kind: model.Text, Text: "half"})
		u.fail(&model.Failure{Cause: model.Cut, Message: "cut"})
	case 6:
		u.fail(&model.Failure{Cause: model.Limit, Message: "later", After: time.Hour})
	case 7:
		u.fail(&model.Failure{Cause: model.TooLong, Message: "too long"})
	case 8:
		u.answer(model.Answer{Stop: model.Length, Blocks: []model.Block{{Kind: model.Text, Text: "cut"}}})
	case 9:
		u.hear(model.Piece{Kind: model.Text, Text: "interrupted"})
		c.run.Cancel()
	default:
		u.say("done")
	}
	return true
}

// request waits for the next one; nil when the agent stops without asking.
func (c *chaos) request() *turn {
	events := c.run.Subscribe(c.seq())
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	happened := make(chan bool, 1)
	go func() {
		for {
			if _, err := events.Next(ctx); err != nil {
				return
			}
			select {
			case happened <- true:
			default:
			}
		}
	}()
	for c.run.Info().State == conversation.Running {
		select {
		case u := <-c.asked:
			return u
		case <-c.begun: // a tool waits for an interrupt
			c.run.Cancel()
		case <-happened:
		}
	}
	select {
	case u := <-c.asked:
		return u
	default:
		return nil
	}
}

// seq is the number of the latest event.
func (c *chaos) seq() int64 {
	_, next, err := c.run.History(0, 0, 0)
	if err != nil {
		c.Fatal(err)
	}
	return next
}

// check looks at a request.
func (c *chaos) check(q model.Request) {
	c.Helper()
	whole(c.T, q)
	text := read(q)
	if strings.Contains(text, "about to be shortened") {
		return
	}
	heard := map[int]bool{}
	for _, n := range prompts(text) {
		if heard[n] {
			c.Errorf("prompt %d is heard twice:\n%s", n, text)
		}
		heard[n] = true
	}
}

// prompts are those that a text has.
func prompts(text string) (all []int) {
	for _, word := range strings.Fields(text) {
		var n int
		if _, err := fmt.Sscanf(word, "prompt-%d.", &n); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// finish lets the agent come to its end, and looks at all.
func (c *chaos) finish() {
	c.restart()
	c.say(conversation.Queue)
	c.run.Resume()
	u := c.turn()
	c.check(u.Request)
	text := read(u.Request)
	if n := len(prompts(text)); n != c.said {
		c.Errorf("%d of %d prompts are heard:\n%s", n, c.said, text)
	}
	u.say("done")
	c.until("the end", func(e conversation.Event) bool {
		return e.Kind == conversation.Text && e.Role == "assistant" && e.Text == "done"
	})
	for id, n := range c.runs {
		if n != 1 {
			c.Errorf("%s was made %d times", id, n)
		}
	}
	results := map[string]int{}
	var calls []string
	for _, i := range c.items() {
		if i.Kind == Resulted {
			results[i.Result.Call]++
		}
		if i.Kind == Answered {
			for _, place := range i.Answer.calls() {
				calls = append(calls, callKey(i.N, place))
			}
		}
	}
	for _, key := range calls {
		if results[key] != 1 {
			c.Errorf("%s has %d results", key, results[key])
		}
	}
	heard := slices.ContainsFunc(c.events(), func(e conversation.Event) bool { return e.Kind == conversation.RunStart })
	if !heard {
		c.Error("the run has lost its beginning")
	}
}
