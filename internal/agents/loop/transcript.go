package loop

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// transcript is the conversation as its journal has it. A request to the model is a function
// of it alone.
type transcript struct {
	live      []Item         // that hold: what was rewound is left out
	void      map[int][]Item // what held before a Rewound or Returned
	last      int            // the number of the latest item
	frame     *Frame         // the latest; nil: there is none
	results   map[string]*Result
	began     map[string]bool
	asking    map[string]bool
	allowed   map[string]bool
	pruned    map[string]bool
	promptIDs map[string]bool // ids of prompts, of those that are void too
	used      Usage
	budget    *Budget         // the latest that was set; nil: none was
	notes     []string        // not sent yet; a rewind leaves them
	summary   *Item           // the latest that was not restored; nil: there is none
	work      json.RawMessage // what the agent has set out to do; nil: nothing

	prefix prefix // of the latest answer
	sent   model.Sent
}

// prefix is what the messages before an answer are, which stay as they were sent.
type prefix struct {
	messages  messages
	at        int    // of the answer among what is live
	meanwhile []Item // that came meanwhile
}

func newTranscript(items []Item) *transcript {
	t := &transcript{promptIDs: map[string]bool{}, void: map[int][]Item{}}
	t.clear()
	for _, i := range items {
		t.add(i)
	}
	return t
}

func (t *transcript) clear() {
	t.frame, t.summary, t.work, t.prefix = nil, nil, nil, prefix{}
	t.results, t.began, t.asking, t.allowed, t.pruned = map[string]*Result{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
}

// maxNotes bounds the notes that wait: of more the latest.
const maxNotes = 64

// add takes in an item that is in the journal.
func (t *transcript) add(i Item) {
	t.last = i.N
	t.spend(i)
	if i.Kind == Prompted && i.Prompt.Notes {
		t.notes = nil
	}
	if i.Kind == Prompted && i.Prompt.ID != "" {
		t.promptIDs[i.Prompt.ID] = true
	}
	switch i.Kind {
	case Noted:
		t.notes = append(t.notes, i.Prompt.Text)
		if over := len(t.notes) - maxNotes; over > 0 {
			t.notes = slices.Delete(t.notes, 0, over)
		}
	case Rewound:
		t.void[i.N] = t.live
		t.keep(t.live, func(old Item) bool { return old.N <= i.To })
	case Returned:
		t.void[i.N] = t.live
		t.keep(t.void[i.To], func(Item) bool { return true })
	case Restored:
		t.keep(t.live, func(old Item) bool { return old.N != i.To })
	case Forked: // prompts of the other run have ids that come again in this one
		t.promptIDs, t.notes = map[string]bool{}, nil
		for k := range t.live {
			if s := t.live[k].Prompt; s != nil {
				t.live[k].Prompt = &Prompt{By: s.By, Text: s.Text, Parts: s.Parts}
			}
		}
		t.hold(i)
	default:
		t.hold(i)
	}
}

// keep has of a list those items hold that are wanted.
func (t *transcript) keep(list []Item, wanted func(Item) bool) {
	t.clear()
	t.live = nil
	for _, i := range list {
		if wanted(i) {
			t.hold(i)
		}
	}
}

// spend counts what an item has used, which stays used when the item is rewound.
func (t *transcript) spend(i Item) {
	switch i.Kind {
	case Answered:
		u := i.Answer.Usage
		t.used.Tokens += u.Input + u.Output + u.CacheRead + u.CacheWrite
		t.used.Cost += i.Answer.Cost
		t.used.Steps++
		t.used.Calls += int64(len(i.Answer.calls()))
	case Spent:
		t.used.add(*i.Usage)
	case Ended:
		t.used.Time += i.End.Took
	case Raised:
		t.budget = i.Budget
	case Forked:
		t.used, t.budget = Usage{}, nil
	}
}

func (u *Usage) add(v Usage) {
	u.Tokens += v.Tokens
	u.Calls += v.Calls
	u.Steps += v.Steps
	u.Time += v.Time
	u.Cost += v.Cost
}

func (u *Usage) sub(v Usage) {
	u.add(Usage{-v.Tokens, -v.Calls, -v.Steps, -v.Time, -v.Cost})
}

// hold takes in an item that is not void.
func (t *transcript) hold(i Item) {
	t.live = append(t.live, i)
	mark := func(m map[string]bool) {
		for _, c := range i.Calls {
			m[c] = true
		}
	}
	switch i.Kind {
	case Framed:
		t.frame = i.Frame
	case Started:
		mark(t.began)
	case Asking:
		mark(t.asking)
	case Allowed:
		mark(t.allowed)
	case Pruned:
		mark(t.pruned)
		t.prefix = prefix{}
	case Resulted:
		if t.results[i.Result.Call] == nil { // the model got the first one
			t.results[i.Result.Call] = i.Result
		}
	case Compacted:
		t.summary = &i
		t.prefix = prefix{}
	case Worked:
		t.work = i.Work
	}
}

// open are the calls of the latest answer that have no result, in their order.
func (t *transcript) open() (answer *Item, places []int) {
	for k := len(t.live) - 1; k >= 0; k-- {
		i := &t.live[k]
		if i.Kind != Answered {
			continue
		}
		for _, place := range i.Answer.calls() {
			if t.results[callKey(i.N, place)] == nil {
				places = append(places, place)
			}
		}
		return i, places
	}
	return nil, nil
}

// messages are what the model is sent after its frame. They only grow at the end, but
// for what is pruned, compacted or rewound.
func (t *transcript) messages() []model.Message {
	m, meanwhile := slices.Clone(t.prefix.messages), t.prefix.meanwhile
	say := func(through int) {
		for len(meanwhile) > 0 && meanwhile[0].N <= through {
			m.user(blocksOf(meanwhile[0].Prompt)...)
			meanwhile = meanwhile[1:]
		}
	}
	begin := 0
	if t.summary != nil {
		begin = t.summary.Summary.Through
		if m == nil {
			m.user(model.Block{Kind: model.Text, Text: t.summary.Summary.Text})
		}
	}
	latest := len(t.live) - 1
	for latest >= 0 && t.live[latest].Kind != Answered {
		latest--
	}
	for k := t.prefix.at; k < len(t.live); k++ {
		i := &t.live[k]
		if i.N <= begin {
			continue
		}
		switch i.Kind {
		case Prompted:
			meanwhile = append(meanwhile, *i)
		case Answered:
			say(i.Answer.After)
			if k == latest {
				t.prefix = prefix{slices.Clone(m), k, slices.Clone(meanwhile)}
			}
			m.assistant(i.Answer.Blocks)
			for _, place := range i.Answer.calls() {
				m.user(t.result(i, place))
			}
		}
	}
	say(t.last)
	return m
}

// forget has the messages made anew.
func (t *transcript) forget() { t.prefix = prefix{} }

// result is what the model reads of a call.
func (t *transcript) result(answer *Item, place int) model.Block {
	call := answer.Answer.Blocks[place]
	key := callKey(answer.N, place)
	b := model.Block{Kind: model.Result, ID: call.ID, Name: call.Name}
	switch r := t.results[key]; {
	case r == nil: // it is asked for while it runs, for a look at the conversation
		b.Text, b.Failed = "(it runs)", true
	case t.pruned[key]:
		b.Text = prunedText(call.Name, key, r)
	default:
		b.Text, b.Failed, b.Images = r.Text, r.Failed, r.Images
	}
	return b
}

func prunedText(tool, key string, r *Result) string {
	return fmt.Sprintf("[This result of %s, %d bytes, was taken out to save room. read_result with the cursor %q shows it again.]", tool, len(r.Text), pastPrefix+key)
}

// pastPrefix begins the cursors of results that were pruned.
const pastPrefix = "past-"

func blocksOf(w *Prompt) []model.Block {
	var all []model.Block
	if text := w.Text; text != "" {
		if w.By == byServer {
			text = note(text)
		}
		all = append(all, model.Block{Kind: model.Text, Text: text})
	}
	return append(all, w.Parts...)
}

// messages joins what one side says in a row.
type messages []model.Message

func (m *messages) user(blocks ...model.Block) { m.say(model.User, blocks) }

func (m *messages) assistant(blocks []model.Block) { m.say(model.Assistant, blocks) }

func (m *messages) say(role model.Role, blocks []model.Block) {
	if len(blocks) == 0 {
		return
	}
	if n := len(*m); n > 0 && (*m)[n-1].Role == role {
		(*m)[n-1].Blocks = slices.Concat((*m)[n-1].Blocks, blocks)
		return
	}
	*m = append(*m, model.Message{Role: role, Blocks: slices.Clone(blocks)})
}

// request is what the model is asked now.
func (t *transcript) request() model.Request {
	return model.Request{System: t.frame.System, Tools: t.frame.Tools, ToolText: t.frame.ToolText, Messages: t.messages(), Sent: &t.sent}
}
