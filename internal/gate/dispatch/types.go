// Package dispatch is the life of one tool call, from a name and arguments to
// a result: bind, decide, ask, run, apply, redact, cut, record. Every effect,
// whoever wants it, passes here. It knows no LSP.
package dispatch

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Request asks for one tool call.
type Request struct {
	Name      string
	Arguments json.RawMessage // nil means {}
	Session   string          // "" means the default session
	Mode      string          // of this call; "" means that of the session
	CallID    string          // "" means that dispatch makes one
	Emit      func(chunk string)
	RunBy     string // the agent that runs it itself, which is only explained here; "" means that we do
	Most      int    // bytes of the result's content, if that is less than the setting has; 0: no matter

	// Making hears of changes before they are made, and of the files as they are
	// then. An error keeps them from being made. Nil does nothing.
	Making func(workspace.Files, []workspace.Change) error

	// Whole is for a caller that could not read on in a cut result, because
	// nothing is kept for its next call: the result is not cut.
	Whole bool

	unread bool            // see Unread
	over   workspace.Files // see CallOver
	fresh  bool            // see CallFresh
	tool   *tools.Tool     // see CallOwn
	line   string          // likewise
	unsure bool            // see CallUnsure
	own    *Own            // see Permit
}

// Result is the envelope of a call: the ToolResult of docs/protocol.md.
type Result struct {
	CallID     string        `json:"callId"`
	Tool       string        `json:"tool"`
	OK         bool          `json:"ok"`
	Content    string        `json:"content"`
	Structured any           `json:"structured,omitempty"`
	Error      *Failure      `json:"error,omitempty"`
	Decision   Decision      `json:"decision"`
	Changes    []ChangeRef   `json:"changes,omitzero"`  // the dispatcher gives an empty list for none
	Checked    *Checked      `json:"checked,omitempty"` // of an edit that is held for review
	DurationMs int64         `json:"durationMs"`
	ApprovalMs int64         `json:"approvalMs"`
	Attempts   int           `json:"attempts"`
	Truncated  *Truncated    `json:"truncated,omitempty"`
	Images     []tools.Image `json:"images,omitempty"`

	// Notes are what is said of a call besides its text, for CallOwn and Permit alone.
	Notes []string `json:"-"`
}

// Checked is what is known of the problems that an edit brings, before anyone
// accepts it.
type Checked struct {
	State   string    `json:"state"`             // clean: none that was not there before the edit; problems; unknown
	New     []Problem `json:"new,omitempty"`     // the worst of them
	Total   int       `json:"total"`             // of them all
	AtLeast bool      `json:"atLeast,omitempty"` // there may be more
	Open    int       `json:"open,omitempty"`    // problems that pending edits of before bring
	Why     string    `json:"why,omitempty"`     // something is not known
	Later   bool      `json:"later,omitempty"`   // a later result says what is not known
	By      []string  `json:"by,omitempty"`      // the language servers that looked
}

// Problem is one of an edit. Lines and columns count from one.
type Problem struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Source   string `json:"source,omitempty"`
	Message  string `json:"message"`
}

// Failure is why a call failed.
type Failure struct {
	Code    tools.Code `json:"code"`
	Message string     `json:"message"`
}

// Decision is what was decided about a call, and by whom.
type Decision struct {
	Outcome string `json:"outcome"`        // allow or deny
	By      string `json:"by"`             // rule, user or mode
	Rule    string `json:"rule,omitempty"` // for a call that came to no decision, the code of its error
}

// ChangeRef names a file that a call changed.
type ChangeRef struct {
	Path  string `json:"path"`
	URI   string `json:"uri"`
	Kind  string `json:"kind"`  // create, modify, delete or rename
	State string `json:"state"` // applied or pending

	// Lines, of what a program wrote.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// Truncated says how much of a result is shown and how to get the rest.
type Truncated struct {
	ShownBytes int    `json:"shownBytes"`
	TotalBytes int    `json:"totalBytes"`
	Cursor     string `json:"cursor"`
}

// Page is one part of a result that was too long to show at once.
type Page struct {
	Success    bool   `json:"success"`
	Content    string `json:"content"`
	HasMore    bool   `json:"hasMore"`
	NextCursor string `json:"nextCursor,omitempty"`
	TotalBytes int    `json:"totalBytes"`
	Truncated  bool   `json:"truncated"`
	LeftBytes  int    `json:"-"` // what follows this page
}

// Explanation is what would be decided about a call; nothing is run.
type Explanation struct {
	Decision policy.Outcome `json:"decision"` // allow, ask or deny
	Rule     string         `json:"rule"`
	Reason   string         `json:"reason"`
	Effects  EffectList     `json:"effects"`
	Parts    []Part         `json:"parts,omitempty"` // of a command line: each command in it, and what else it does

	// Crosses is what of it would leave the session. Conditions are those on which its commands
	// run unasked; left out where the mode or the tool has none.
	Crosses    []effects.Effect    `json:"crosses"`
	Conditions []effects.Condition `json:"conditions,omitempty"`

	Floor string `json:"floor,omitempty"` // the machine's settings and what they bound, in words
}

// Part is what was decided about one piece of a command line.
type Part struct {
	Command  string         `json:"command"`
	Decision policy.Outcome `json:"decision,omitempty"` // left out: no rule speaks about it, so the mode decides
	Rule     string         `json:"rule"`
	Reason   string         `json:"reason"`
}

// EffectList is what a call would touch.
type EffectList struct {
	Access  tools.Access `json:"access"`
	Reads   []string     `json:"reads,omitempty"`
	Writes  []string     `json:"writes,omitempty"`
	Command string       `json:"command,omitempty"`
	Sandbox string       `json:"sandbox,omitempty"` // what the command would be confined by
	Hosts   []string     `json:"hosts,omitempty"`
}

// Ask is a question to a person: may this be done?
type Ask struct {
	ID            string // of the approval
	CallID        string
	Session       string
	AgentPath     []string
	Tool          string
	Title         string
	Brief         string          // of an edit: what changes, in at most three lines
	BriefAll      bool            // Brief tells all of it
	Reason        string          // why a person is asked
	Body          string          // what would be done: a diff, a command, arguments
	Detail        string          // Reason and Body; all three are redacted, with control characters made visible, uncut
	Arguments     json.RawMessage // redacted, uncut
	Diff          string          // of an edit, redacted
	Effects       EffectList
	Rule          string
	Irrecoverable bool
	Rememberable  bool   // an answer may hold for the session; else offering that would be a lie
	Pattern       string // what an answer with the scope Pattern holds for, as it is shown; "": no such answer may be offered
	Always        string // how commands begin that a rule for good may allow, which a person can make of the question; "": none may
	Packages      string // with Always, the digest of the packages that it may install; "": it is about no install
	Host          string // with Always, the host that it is; "": it is about commands
	Hash          string // of what is shown and would be done; an answer holds for it alone
	Expires       time.Time
}

// Answer is a person's answer.
type Answer struct {
	Allow  bool
	Scope  Scope
	Reason string // told to the model
	Typed  string // must be CONFIRM for what is irrecoverable
}

// Dismissed is the reason of a no that a person gave by closing the question.
const Dismissed = "the question was dismissed without an answer"

// Scope is how far an approval reaches.
type Scope string

// The scopes of an approval.
const (
	Once       Scope = "once"
	ForSession Scope = "session"
	Pattern    Scope = "pattern"
)

// Approver puts questions to a person. It returns an error when nobody can be
// asked, which means no. It is given up on when ctx ends.
type Approver interface {
	Approve(ctx context.Context, a Ask) (Answer, error)
}

// Noticer hears of calls that run unasked because nothing leaves their session. An Approver
// may be one.
type Noticer interface{ Unasked() }

// Destinations are the views of one session.
type Destinations interface {
	// Live is what the user sees: open buffers over the session's root. What is
	// applied to it reaches the editor or the disk.
	Live() workspace.View
	// Applied is Live for a tool whose changes nobody reviews: where that is
	// possible, what is applied to it can be taken back later.
	Applied(by workspace.Author) workspace.View
	// Pending is the review queue over Live; what is applied to it waits there,
	// with batch as part of what of the session is accepted only as a whole.
	Pending(by workspace.Author, batch bool) workspace.View
	// QueueCommit makes a commit of what is new in the session's batch wait until
	// the batch is accepted: of the files in the repository of the one named at, which is ""
	// where the workspace's own is meant. It returns how many commits of the batch wait.
	QueueCommit(ctx context.Context, session, message string, models []string, at string) (position int, err error)
	// HoldCommit makes a commit wait for its files, which wait one by one. Where none
	// of them does, waits is false: it is made when the user accepts it itself.
	HoldCommit(ctx context.Context, session string, commit workspace.Commit, models []string) (waits bool, err error)
	// ToDisk makes sure that the files of the session's root are on disk, but for
	// what is open or pending: for tools that look there themselves.
	ToDisk(ctx context.Context) error
	// Testing is called before programs test what the session sees with all that is
	// pending. What it returns is called with what they said, if all went well; nil:
	// nobody wants to know.
	Testing(ctx context.Context) func(tools.Report)
	// PendingCount is how many edits wait, for the results of tools that see the disk.
	PendingCount() int
}
