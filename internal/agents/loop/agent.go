package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// Model answers requests: *model.Client.
type Model interface {
	Ask(ctx context.Context, r model.Request, each func(model.Piece)) (model.Answer, error)
}

// Backend is a model, with what is known of it.
type Backend struct {
	Model
	Profile string // of the settings
	Name    string // of the model
	Window  int    // tokens that it takes; 0: not known
	Longest int    // tokens of an answer; 0: not known
	Vision  bool   // it sees images
	Paid    bool   // it is asked with a key
	Text    bool   // it writes its calls as text
	Effort  string

	// Price is what an answer costs, in US dollars, if that is known. nil: it is not.
	Price func(model.Usage) (cost float64, known bool)
}

// used is what an answer takes of a budget.
func (b Backend) used(u model.Usage) Usage {
	used := Usage{Tokens: u.Input + u.Output + u.CacheRead + u.CacheWrite}
	if b.Price != nil {
		used.Cost, _ = b.Price(u)
	}
	return used
}

// Tool is a tool that the model is offered.
type Tool struct {
	Name        string
	Title       string // for people
	Kind        string // for people: read, edit, execute, search, fetch or other
	Description string
	Schema      json.RawMessage
	Reads       bool // it changes nothing: a call that was cut off may be made again
	Beside      bool // calls run side by side with those of other such tools
}

// Call is a call of a tool, as the gate gets it.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
	Emit func(output string)
}

// Outcome is what came of a call.
type Outcome struct {
	Text   string // what the model reads
	Failed bool
	Files  []conversation.Location // that it changed
	URI    string                  // of the whole output, where it is kept
	Images []Picture
}

// Picture is a picture in the result of a call.
type Picture struct {
	MIME  string
	Data  []byte
	Words string // that name it to a model which sees none
}

// result is the outcome of a call as the journal has it.
func (o Outcome) result(call string) *Result {
	r := &Result{Call: call, Text: o.Text, Failed: o.Failed}
	for _, p := range o.Images {
		r.Images = append(r.Images, model.Block{Kind: model.Image, Media: p.MIME, Data: p.Data, Text: p.Words})
	}
	return r
}

// Host is where the agent works.
type Host interface {
	// Backend is the model of a profile; "" is the active one.
	Backend(profile string) (Backend, error)
	// Tools are what the model is offered.
	Tools() ([]Tool, error)
	// Call makes a call, through the gate. The error is ctx's.
	Call(ctx context.Context, c Call) (Outcome, error)
	// Facts are what the instructions tell of the workspace.
	Facts() Facts
	// Notes returns what happened since the last call, in sentences.
	Notes() []string
	// Pending are the names of the files whose changes wait for review.
	Pending() []string
	Listener
}

// Listener is called at moments of a conversation, and may hold something back.
type Listener interface {
	// Shortening is called before the conversation is made shorter, by itself or
	// by a person. An error says why it is not.
	Shortening(ctx context.Context, itself bool) error
	// Stopping is called before a turn ends with this last text; again: it was held up
	// before. The model gets the returned text and goes on; "" ends the turn.
	Stopping(ctx context.Context, last string, again bool) (more string)
}

// Options are what an Agent needs.
type Options struct {
	Run     *conversation.Run
	Journal string // its path
	Host    Host
	Profile string // of the settings; "" is the active one
	Budget  Budget // of a new conversation
	Task    string // of a sub-agent
	Parent  *Agent // whose budget it draws on; nil: nobody's
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
	Close   func() error     // after its end; nil does nothing
}

// Agent is the driver of a run.
type Agent struct {
	o    Options
	run  *conversation.Run
	host Host

	mu           sync.Mutex // of what follows, while the agent works and commands come
	journal      *journal
	transcript   *transcript
	tools        map[string]Tool
	profile      string
	caughtUp     bool // with the events of the run
	acceptsSteer bool // the turn takes what is prompted now
	paused       bool
	running      map[string]*running
	given        map[string]string // answers of people, by call, that came after a restart
	begun        time.Time         // this turn
	waited       time.Duration     // for people and sub-agents, in this turn
	waiting      int               // calls that wait so now
	since        time.Time         // the first of them did
	counted      time.Duration     // of this turn, in the budget
	pool         *pool
	repeats      repeats

	callsLeft   int64 // of the latest answer, as many as the budget has room for; only the turn uses it
	noSummaryAt int64 // tokens of the conversation when a model wrote no summary of it; only the turn uses it
}

var _ conversation.Driver = (*Agent)(nil)

// Reasons of run.end besides those of runs.
const (
	Paused  = "paused"
	Waiting = "waiting" // the provider takes no more for a while
)

// Open opens the conversation of a run, or begins it.
func Open(o Options) (*Agent, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	j, items, err := openJournal(o.Journal, o.Now)
	if err != nil {
		return nil, err
	}
	a := &Agent{o: o, run: o.Run, host: o.Host, journal: j, transcript: newTranscript(items), profile: o.Profile, given: map[string]string{}, running: map[string]*running{}}
	if a.transcript.budget == nil && o.Budget != (Budget{}) {
		if err := a.keep(Item{Kind: Raised, Budget: &o.Budget}); err != nil {
			return nil, errors.Join(err, j.log.Close())
		}
	}
	if o.Parent != nil && len(items) == 1 {
		if err := a.keep(Item{Kind: Drawn, Run: o.Run.Info().Parent}); err != nil {
			return nil, errors.Join(err, j.log.Close())
		}
	}
	a.pool = &pool{used: a.transcript.used}
	if o.Parent != nil {
		a.pool.parent = o.Parent.pool
	}
	if b := a.transcript.budget; b != nil {
		a.pool.budget = *b
	}
	if f := a.transcript.frame; f != nil && a.profile == "" {
		a.profile = f.Profile
	}
	return a, nil
}

// keep brings items to the journal and takes them in.
func (a *Agent) keep(items ...Item) error {
	list := make([]*Item, len(items))
	for k := range items {
		list[k] = &items[k]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept(list)
}

// kept is keep with mu held.
func (a *Agent) kept(list []*Item) error {
	if err := a.journal.append(list...); err != nil {
		return err
	}
	for _, i := range list {
		a.transcript.add(*i)
	}
	return nil
}

func (a *Agent) emit(e conversation.Event) { _ = a.run.Emit(e) } // after its end nobody listens

// Prompt implements runs.Driver. Without items the agent goes on where it stopped.
func (a *Agent) Prompt(ctx context.Context, items []conversation.Item) (reason string, err error) {
	a.mu.Lock()
	a.acceptsSteer, a.paused, a.waited, a.counted = true, false, 0, 0
	a.begun = time.Now() // which a clock that is set does not change
	a.mu.Unlock()
	end := End{}
	if err = a.takePrompts(items); err == nil {
		end, err = a.turn(ctx)
	}
	if err != nil {
		end.Reason = conversation.Failed
		if ctx.Err() != nil {
			end.Reason = conversation.Interrupted
		}
		end.Text = err.Error()
	}
	a.mu.Lock()
	a.acceptsSteer = false
	a.mu.Unlock()
	end.Took = a.clock()
	if kept := a.keep(Item{Kind: Ended, End: &end}); err == nil {
		err = kept
	}
	switch {
	case err != nil:
		return "", err
	case end.Text != "":
		a.emit(conversation.Event{Kind: conversation.Note, Reason: end.Reason, Text: end.Text, RetryAt: end.Again})
	}
	return end.Reason, nil
}

// clock counts in the budget what this turn has taken since it was counted last, and
// returns what it has taken in all.
func (a *Agent) clock() time.Duration {
	a.mu.Lock()
	more := max(0, time.Since(a.begun)-a.waited-a.counted)
	a.counted += more
	took := a.counted
	a.mu.Unlock()
	a.pool.settle(Usage{}, Usage{Time: more})
	return took
}

// Waits says that a call waits for people, or for a sub-agent, whose own time counts.
// Until over is called the time that goes by is not used.
func (a *Agent) Waits() (over func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting++; a.waiting == 1 {
		a.since = time.Now()
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.waiting--; a.waiting == 0 {
			a.waited += time.Since(a.since)
		}
	}
}

// learn asks for the tools.
func (a *Agent) learn() ([]Tool, error) {
	list, err := a.host.Tools()
	if err != nil {
		return nil, err
	}
	a.tools = map[string]Tool{}
	for _, t := range list {
		a.tools[t.Name] = t
	}
	return list, nil
}

// Steer implements conversation.Driver: the next request to the model has the item.
func (a *Agent) Steer(_ context.Context, i conversation.Item) error {
	p := a.promptOf(i)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.acceptsSteer {
		return conversation.ErrNoSteer
	}
	a.repeats.forget()
	return a.kept([]*Item{{Kind: Prompted, Prompt: p}})
}

// Pause implements runs.Pauser: what runs is finished, and no step begins.
func (a *Agent) Pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = true
}

// Begun reports whether the conversation has a prompt or an answer.
func (a *Agent) Begun() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.transcript.last > 0
}

// Unfinished implements runs.Pauser: whether a prompt without items has something to do.
func (a *Agent) Unfinished() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := len(a.transcript.live) - 1; k >= 0; k-- {
		switch i := a.transcript.live[k]; i.Kind {
		case Ended:
			return i.End.Reason != conversation.Done && i.End.Reason != conversation.Refused
		case Prompted, Answered, Started, Resulted:
			return true // the process ended in a turn
		}
	}
	return false
}

// Cancel implements runs.Driver. The end of Prompt's context is enough.
func (a *Agent) Cancel(context.Context) error { return nil }

// Close implements runs.Driver.
func (a *Agent) Close() error {
	a.mu.Lock()
	err := a.journal.log.Close()
	a.mu.Unlock()
	if a.o.Close != nil {
		err = errors.Join(err, a.o.Close())
	}
	return err
}

// Profile is that of the model that is asked now; "" is the active one.
func (a *Agent) Profile() string { return a.profileNow() }

// Task is that of a sub-agent; "" for others.
func (a *Agent) Task() string { return a.o.Task }

// Used is what was used, and the bounds.
func (a *Agent) Used() (Usage, Budget) { return a.pool.now() }

// Spend keeps what the sub-agent of a run has used. The budget has counted it already.
func (a *Agent) Spend(run string, u Usage) error {
	return a.keep(Item{Kind: Spent, Run: run, Usage: &u})
}

// Settle is Spend for the sub-agent of a process that ended before it did: what it used is
// kept in the journal of the run whose budget it drew on, once. beside is the path of a
// run's journal; nothing may have that one open.
func Settle(run string, beside func(run string) string) error {
	items, _, err := readItems(beside(run))
	if err != nil {
		return err
	}
	k := slices.IndexFunc(items, func(i Item) bool { return i.Kind == Drawn })
	if k < 0 {
		return nil
	}
	path := beside(items[k].Run)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // its run was deleted
	}
	j, had, err := openJournal(path, time.Now)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(had, func(i Item) bool { return i.Kind == Spent && i.Run == run }) {
		used := newTranscript(items).used
		err = j.append(&Item{Kind: Spent, Run: run, Usage: &used})
	}
	return errors.Join(err, j.log.Close())
}

// Raise sets the budget anew; what was used counts.
func (a *Agent) Raise(b Budget) error {
	if err := a.keep(Item{Kind: Raised, Budget: &b}); err != nil {
		return err
	}
	a.pool.raise(b)
	now, err := a.host.Backend(a.profileNow())
	if err == nil {
		a.noteUnpriced(now)
	}
	return nil // what is wrong with the model is reported at the next request
}

// noteUnpriced says that a bound of the cost is none, because nobody knows the price.
func (a *Agent) noteUnpriced(b Backend) {
	most := a.pool.cost()
	if most == 0 || b.Price != nil {
		return
	}
	a.emit(conversation.Event{Kind: conversation.Note, Reason: "budget", Text: fmt.Sprintf("The price of %s is not known: the bound of $%.2f does not hold for what it answers. Bound tokens or steps too.", b.Name, most)})
}

// Use has the agent ask another profile from the next step on. It fails when that has no
// model to ask.
func (a *Agent) Use(profile string) error {
	if _, err := a.host.Backend(profile); err != nil {
		return fmt.Errorf("the model was not switched: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.profile = profile
	return nil
}
