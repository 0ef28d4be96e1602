package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/model"
)

// version is that of the journal's format. A journal of a later one is refused.
const version = 1

// Kind says what an item of the journal is.
type Kind string

// The kinds.
const (
	Begins    Kind = "begin"   // the first item
	Framed    Kind = "frame"   // how requests begin from here on
	Prompted  Kind = "said"    // a message for the model besides results
	Noted     Kind = "note"    // a note for its next step
	Answered  Kind = "answer"  // the model's answer
	Started   Kind = "start"   // calls that may have taken effect from here on
	Asking    Kind = "asking"  // a call waits for a person
	Allowed   Kind = "allowed" // and goes on
	Resulted  Kind = "result"
	Pruned    Kind = "prune"   // results that are no longer sent
	Compacted Kind = "compact" // a summary stands for what was before
	Restored  Kind = "restore" // a summary no longer does
	Rewound   Kind = "rewind"  // what was after another item is void
	Returned  Kind = "return"  // a rewind is void, and what came after it
	Forked    Kind = "fork"    // what is before comes from another conversation
	Spent     Kind = "spent"   // by a sub-agent, or for what is no answer, from the budget of all
	Drawn     Kind = "drawn"   // on the budget of another run
	Worked    Kind = "work"    // what the agent has set out to do is this now
	Raised    Kind = "raise"   // the budget is another now
	Ended     Kind = "end"     // the agent has stopped
)

// Item is one entry of the journal. Kind says which of the other members it has.
type Item struct {
	N    int       `json:"n"` // from 1, without gaps
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`

	Version int             `json:"version,omitempty"` // of Begins
	Frame   *Frame          `json:"frame,omitempty"`
	Prompt  *Prompt         `json:"said,omitempty"` // of Prompted and Noted
	Answer  *Answer         `json:"answer,omitempty"`
	Calls   []string        `json:"calls,omitempty"` // of Started and Pruned; one of Asking and Allowed
	Result  *Result         `json:"result,omitempty"`
	Summary *Summary        `json:"summary,omitempty"`
	To      int             `json:"to,omitempty"` // of Rewound: the last item that holds; of Returned: the Rewound or Returned one; of Restored: the Compacted one
	Usage   *Usage          `json:"usage,omitempty"`
	Run     string          `json:"run,omitempty"` // of Drawn: whose budget it is; of Spent: the sub-agent's
	Budget  *Budget         `json:"budget,omitempty"`
	Work    json.RawMessage `json:"work,omitempty"` // a steps.State
	End     *End            `json:"end,omitempty"`
}

// Frame is what every request begins with.
type Frame struct {
	System   string       `json:"system"`
	Tools    []model.Tool `json:"tools"`
	ToolText string       `json:"toolText,omitempty"`
	Profile  string       `json:"profile"` // of the settings
	Model    string       `json:"model"`
	Why      string       `json:"why"` // it is another one than before
}

// Prompt is a message for the model: of a person, or of the server.
type Prompt struct {
	By    string        `json:"by"`           // person, or server
	ID    string        `json:"id,omitempty"` // of the prompt
	Text  string        `json:"text"`
	Parts []model.Block `json:"parts,omitempty"` // images
	Notes bool          `json:"news,omitempty"`  // all that was noted before
}

// Who says something.
const (
	byPerson = "person"
	byServer = "server"
)

// Answer is the model's answer to one request.
type Answer struct {
	// After is the last item that the request for it had: what came later stands
	// after it.
	After int `json:"after"`

	Blocks []model.Block `json:"blocks"`
	Long   map[int]int   `json:"long,omitempty"` // bytes of arguments that were cut, by the place of the call
	Stop   model.Stop    `json:"stop"`
	Usage  model.Usage   `json:"usage"`
	Cost   float64       `json:"cost,omitempty"`
	Model  string        `json:"model,omitempty"`
}

// shownOfLong is how much is kept of arguments that are too long to be used, in bytes.
const shownOfLong = 2 << 10

// tidy makes an answer one that can be sent back: arguments that are too long to be used
// are cut, so that they don't fill the window, and no two calls have one id.
func (a *Answer) tidy() {
	seen := map[string]bool{}
	for _, place := range a.calls() {
		b := &a.Blocks[place]
		if len(b.Args) > maxArgs {
			if a.Long == nil {
				a.Long = map[int]int{}
			}
			a.Long[place] = len(b.Args)
			b.Args, b.Raw = strings.ToValidUTF8(b.Args[:shownOfLong], ""), nil
		}
		if b.ID == "" || seen[b.ID] {
			b.ID, b.Raw = fmt.Sprintf("call_%d_%d", a.After, place), nil
		}
		seen[b.ID] = true
	}
}

// interrupted is the Stop of an answer of which only a part came.
const interrupted model.Stop = "interrupted"

// Result is what came of a call.
type Result struct {
	Call   string        `json:"call"` // see callKey
	Text   string        `json:"text"`
	Failed bool          `json:"failed,omitempty"`
	Images []model.Block `json:"images,omitempty"`
}

// Summary stands for the items through Through.
type Summary struct {
	Through int    `json:"through"`
	Text    string `json:"text"`            // the whole message that the model reads in their place
	Before  int64  `json:"before"`          // tokens of the conversation before it
	After   int64  `json:"after,omitempty"` // and about how many after it
}

// Usage is what was used of a budget.
type Usage struct {
	Tokens int64         `json:"tokens,omitempty"`
	Calls  int64         `json:"calls,omitempty"`
	Steps  int64         `json:"steps,omitempty"`
	Time   time.Duration `json:"time,omitempty"`
	Cost   float64       `json:"cost,omitempty"`
}

// End is why the agent stopped.
type End struct {
	Reason string        `json:"reason"` // as runs has them, or one of Paused and Waiting
	Text   string        `json:"text,omitempty"`
	Again  *time.Time    `json:"again,omitempty"` // of Waiting
	Took   time.Duration `json:"took"`            // of work, without the time that people took
}

// callKey names a call: the number of the item that has it, and its place there. What
// models call their calls may come twice.
func callKey(answer, place int) string { return fmt.Sprintf("%d.%d", answer, place) }

// empty reports whether an answer has nothing for anybody: neither text nor calls.
func (a *Answer) empty() bool { return len(a.calls()) == 0 && textOf(a.Blocks) == "" }

// calls are the places of the calls among the blocks of an answer.
func (a *Answer) calls() (places []int) {
	for i, b := range a.Blocks {
		if b.Kind == model.Call {
			places = append(places, i)
		}
	}
	return places
}
