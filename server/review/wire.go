package review

import (
	"slices"
	"time"

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

	TakenStart int `json:"takenStart,omitempty"` // as newStart, in the side taken; there where the file is in conflict

	Message *madeAfter `json:"message,omitempty"` // after which an agent made it
}

// QueuedCommit is a commit that waits for a batch, or for its files.
type QueuedCommit struct {
	Message string   `json:"message"`
	Session string   `json:"session"`
	Paths   []string `json:"paths"`            // Nothing: what is staged then
	Models  []string `json:"models,omitzero"`  // that are named in it
	Error   string   `json:"error,omitempty"`  // why it was not made when it was tried
	ByFile  bool     `json:"byFile,omitzero"`  // it waits for its files, which are no batch
	Branch  string   `json:"branch,omitempty"` // that the workspace is on then: a new one
	Merges  []string `json:"merges,omitzero"`  // its parents after the first one: it is a merge
	Differs string   `json:"differs,omitzero"` // a patch: what it has and the hunks of its files don't show
	Ref     string   `json:"ref,omitzero"`     // it is no commit, but a new tag or branch, or a switch: tag, branch, switch
}

func queuedCommits(list []pendingedits.Commit) []QueuedCommit {
	out := make([]QueuedCommit, len(list))
	for i, c := range list {
		out[i] = QueuedCommit{c.Message, c.Session, append([]string{}, c.Files...), c.Models, c.Error, c.ByFile, c.Branch, c.Merges, c.Differs, string(c.Ref.Kind)}
	}
	return out
}

// CommitResult says what became of a queued commit.
type CommitResult struct {
	Message string `json:"message"`
	ID      string `json:"id,omitempty"`    // of the commit that was made
	Error   string `json:"error,omitempty"` // why there is Nothing; it waits on
}

func commitResults(list []pendingedits.CommitResult) []CommitResult {
	var out []CommitResult
	for _, c := range list {
		r := CommitResult{Message: c.Message, ID: c.ID}
		if c.Err != nil {
			r.Error = c.Err.Error()
		}
		out = append(out, r)
	}
	return out
}

// madeAfter is the request after which a pending change was made.
type madeAfter struct {
	Run    string `json:"run"`
	Seq    int64  `json:"seq"`
	Number int    `json:"number"`
	Text   string `json:"text"`
}

func (q *Queue) messageOf(h pendingedits.Hunk) *madeAfter {
	if q.Requests == nil {
		return nil
	}
	run, r, ok := q.Requests.Request(h.Sessions, h.ID)
	if !ok {
		return nil
	}
	return &madeAfter{run, r.Seq, r.Number, r.Text}
}

// Listed is the queue as the client is told it.
type Listed struct {
	Revision int64          `json:"revision"`
	Batch    bool           `json:"batch"`
	Edits    []pendingEdit  `json:"edits"`
	Commits  []QueuedCommit `json:"commits"`

	Verified *pendingedits.Verified `json:"verified,omitempty"`

	// Problems are those that the edits would bring, also to files that none of
	// them is of.
	Problems []locatedProblem `json:"problems,omitempty"`
}

// reviewList is a list as the client is told it; session is whose it is, or "".
func (q *Queue) reviewList(list pendingedits.List, session string) Listed {
	var verified *pendingedits.Verified
	if q.Store.Locked() == nil {
		verified = q.Store.Verified()
	}
	batch := slices.ContainsFunc(list.Commits, func(c pendingedits.Commit) bool { return !c.ByFile }) || slices.ContainsFunc(list.Edits, func(e pendingedits.Edit) bool { return e.Batch })
	return Listed{
		Revision: list.Revision, Batch: batch || q.batch(session),
		Edits: q.pendingEdits(list.Edits), Commits: queuedCommits(list.Commits),
		Problems: q.locate(list.Edits), Verified: verified,
	}
}
