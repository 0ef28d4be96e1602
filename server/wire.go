package server

import (
	"encoding/json"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// The messages of docs/protocol.md that are not LSP's.

type pendingEdit struct {
	URI       string        `json:"uri"`
	Path      string        `json:"path"`
	From      string        `json:"from,omitempty"` // of a rename
	Kind      string        `json:"kind"`
	Revision  int64         `json:"revision"`
	Added     int           `json:"added"`
	Removed   int           `json:"removed"`
	State     string        `json:"state"`
	Session   string        `json:"session"`
	Tool      string        `json:"tool"`
	Command   string        `json:"command,omitempty"`
	Batch     bool          `json:"batch,omitempty"` // accepted only with everything of the session's batch
	UpdatedAt time.Time     `json:"updatedAt"`
	Hunks     []pendingHunk `json:"hunks"`

	// Problems counts what the edits would make worse in this file; absent while
	// that isn't known.
	Problems *problemCounts `json:"problems,omitempty"`
}

// pendingHunk counts lines from one, as a unified diff does.
type pendingHunk struct {
	ID       string   `json:"id"`
	Sessions []string `json:"sessions"` // whose it is
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	State    string   `json:"state"`
	Text     string   `json:"text"`
	Again    bool     `json:"again,omitempty"` // a person has rejected the same before

	Message *madeAfter `json:"message,omitempty"` // after which an agent made it
}

// queuedCommit is a commit that waits for a batch, or for its files.
type queuedCommit struct {
	Message string   `json:"message"`
	Session string   `json:"session"`
	Paths   []string `json:"paths"`            // none: what is staged then
	Models  []string `json:"models,omitzero"`  // that are named in it
	Error   string   `json:"error,omitempty"`  // why it was not made when it was tried
	ByFile  bool     `json:"byFile,omitzero"`  // it waits for its files, which are no batch
	Differs string   `json:"differs,omitzero"` // a patch: what it has and the hunks of its files don't show
}

func queuedCommits(list []pendingedits.Commit) []queuedCommit {
	out := make([]queuedCommit, len(list))
	for i, c := range list {
		out[i] = queuedCommit{c.Message, c.Session, append([]string{}, c.Files...), c.Models, c.Error, c.ByFile, c.Differs}
	}
	return out
}

// commitResult says what became of a queued commit.
type commitResult struct {
	Message string `json:"message"`
	ID      string `json:"id,omitempty"`    // of the commit that was made
	Error   string `json:"error,omitempty"` // why there is none; it waits on
}

func commitResults(list []pendingedits.CommitResult) []commitResult {
	var out []commitResult
	for _, c := range list {
		r := commitResult{Message: c.Message, ID: c.ID}
		if c.Err != nil {
			r.Error = c.Err.Error()
		}
		out = append(out, r)
	}
	return out
}

type failure struct {
	URI   string `json:"uri"`
	Error string `json:"error"`
}

// approveParams are those of the request sidecar/approve.
type approveParams struct {
	CallID        string              `json:"callId"`
	Session       string              `json:"session"`
	AgentPath     []string            `json:"agentPath"`
	Tool          string              `json:"tool"`
	Title         string              `json:"title"`
	Detail        string              `json:"detail"`
	Arguments     json.RawMessage     `json:"arguments"`
	Diff          string              `json:"diff,omitempty"`
	Effects       dispatch.EffectList `json:"effects"`
	Rule          string              `json:"rule,omitempty"`
	Irrecoverable bool                `json:"irrecoverable"`
	Rememberable  bool                `json:"rememberable"`      // else an answer holds once, whatever its scope
	Pattern       string              `json:"pattern,omitempty"` // what the scope pattern holds for; without it that scope holds once
	ID            string              `json:"id"`
	Hash          string              `json:"hash"`
	ExpiresAt     time.Time           `json:"expiresAt"`
}

type approveResult struct {
	Outcome string         `json:"outcome"`
	Scope   dispatch.Scope `json:"scope"`
	Reason  string         `json:"reason"`
	Typed   string         `json:"typed"`
}

type askParams struct {
	Question    string   `json:"question"`
	Options     []string `json:"options"`
	AllowCustom bool     `json:"allowCustom"`
}

type askResult struct {
	Answer string `json:"answer"`
}
