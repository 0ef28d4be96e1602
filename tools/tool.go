// Package tools says what a tool is: data, one function, and an access class
// that follows from the constructor. It knows neither modes nor clients, and
// nothing here runs a tool: that is dispatch's work.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Access is what a tool can do to the world.
type Access string

// The access classes.
const (
	Read Access = "read" // changes nothing
	Edit Access = "edit" // changes files, returned as data
	Exec Access = "exec" // changes anything else
)

// DefaultTimeout bounds a call whose tool names no other bound.
const DefaultTimeout = 60 * time.Second

// Def is the data of a tool.
type Def struct {
	Name        string // verb_object, lower snake case, at most 64 bytes
	Title       string // for people
	Description string // for models: what it does, when to use another tool
	Example     string // arguments of a call that is valid, as JSON; "": made from the schema
	Category    string // files, search, …
	Tags        []string
	Core        bool     // always in a model's list; the other tools are found by tool_search
	AlwaysAsk   bool     // a person is asked whatever the mode and the settings allow
	Asks        bool     // it may ask on the way, with Call.MayWrite: a person's answer is waited for besides its time-out
	Interactive bool     // waits for a person: no time-out but the approval's
	Untrusted   bool     // output comes from outside (web, MCP): dispatch wraps it
	Network     bool     // it reaches hosts; one that is new to a session may be asked about
	SeesDisk    bool     // it looks at the disk, not at the view: its result says what is pending
	MaySee      bool     // it looks at the disk, and with pending: true at what the view has
	OnDisk      bool     // programs that it asks look at the disk: what the session has is put there first, pending edits aside
	InOrder     bool     // calls of one answer are made one after the other, although it only reads: they depend on each other
	Idempotent  bool     // a second run with the same arguments changes nothing more; what only reads need not say it
	Names       []string // of other tools that its results may name: they come into a model's list with that
	Override    bool     // stands in for a built-in tool of the same name
	// Wrote names the tool whose programs wrote the changes that this one returns, in
	// the world of their session: what allowed them to run allows these changes
	// too, but for files that a person is always asked about. "": its changes are
	// decided on as those of a tool that edits.
	Wrote string

	InWorld bool          // all that it runs, runs in the world of the caller's session
	Tests   bool          // its programs test the files: its structured result is a TestReport
	Timeout time.Duration // 0 means DefaultTimeout
	Output  any           // a value of the struct that Result.Structured is; NoOutput{} if there is never one
	Also    []Form        // what else it can be
}

// TestReport is the structured result of a tool that tests.
type TestReport interface {
	TestReport() Report
}

// Report is what tests said.
type Report struct {
	Command        string
	Counted        bool // Passed and Failed are known
	Passed, Failed int
}

// Call is what one call gives its tool besides the arguments.
type Call struct {
	ID      string
	Session string
	Files   workspace.Files // the view of the caller's session and mode
	Emit    func(chunk string)
	Most    int // bytes of the result's text that are shown at once

	Held bool // what is changed waits for review
	Drop bool // nothing that programs make outlives the session

	Fresh bool // programs see no output that other sessions hold

	// Unasked says that programs may run only where nothing leaves their world without a
	// decision: nobody was asked about them.
	Unasked bool

	// Looks says that a command line only looks by its words, which nobody was asked about.
	// So they must mean what they say, whatever earlier commands left.
	Looks Looks

	// Frozen, when set, is all that a command may find otherwise than when it was decided on.
	// It fails with ErrNotFrozen where that is not so, and then nothing has run.
	Frozen *Frozen

	Gate Gate // nil: nobody minds, or asks

	Known Known // nil: nobody remembers
}

// Looks is what a command line that only looks gets of what earlier commands left.
type Looks string

// The kinds of Looks; the zero value is a line that may do more.
const (
	LooksFiles   Looks = "files"   // the state of its session, and nothing of git's history that may hold secrets
	LooksClean   Looks = "clean"   // no state either
	LooksHistory Looks = "history" // git's history, and no state
)

// Frozen is a command that was allowed because of the files that it reads. It runs without the
// state of its session: nothing that earlier commands left decides what its words mean.
type Frozen struct {
	Program string       // is looked up where no command can put one
	Dir     string       // where it begins
	Files   []FrozenFile // as they must be where it runs
	Env     []string     // variables that it gets, NAME=value
	Scratch []string     // variables that it gets with a new directory in each
}

// FrozenFile is a file by its name, relative to the directory; in the home it begins with ~/.
type FrozenFile struct {
	Name string
	Sum  string // SHA-256 of its text, in hex; "": there must be none
}

// ErrNotFrozen says that a command would not find what it was decided on with.
var ErrNotFrozen = errors.New("the files are not those that it was decided on with")

// Known is what the caller's session knows of the texts of files, by their real names.
type Known interface {
	// Saw notes that the session was shown a file, or a part of it.
	Saw(name string, data []byte, whole bool)
	// Gone notes that it was shown that there is no such file.
	Gone(name string)
	// Changed reports whether a file is another than the session knows, and what it knows:
	// nil if that is not kept. Of a file that it has not read it knows nothing.
	Changed(name string, now []byte) (was []byte, changed bool)
}

// Gate decides, and is told, what a call does on the way.
type Gate interface {
	// MayWrite decides about files that the call would write besides what its
	// Effects say, and asks where that is needed: for what is known only on the way.
	MayWrite(ctx context.Context, w Writes) error
	// MadeCommit gets a commit that a program made, and that only programs of its
	// session see.
	MadeCommit(workspace.Commit)
	// WroteOutput counts files of output that programs wrote to the workspace.
	WroteOutput(files int)
	// SawFiles is called when the programs that a call ran saw its files as they are,
	// with all that is pending or not saved.
	SawFiles()
	// AtEnd has something done when the call is over, with its changes made or refused.
	AtEnd(func())
}

// AtEnd does as Gate.AtEnd, at once where there is none.
func (c *Call) AtEnd(f func()) {
	if c.Gate == nil {
		f()
		return
	}
	c.Gate.AtEnd(f)
}

// MayWrite does as Gate.MayWrite.
func (c *Call) MayWrite(ctx context.Context, w Writes) error {
	if c.Gate == nil || len(w.Files) == 0 {
		return nil
	}
	return c.Gate.MayWrite(ctx, w)
}

// MadeCommit does as Gate.MadeCommit.
func (c *Call) MadeCommit(commit workspace.Commit) {
	if c.Gate != nil {
		c.Gate.MadeCommit(commit)
	}
}

// WroteOutput does as Gate.WroteOutput.
func (c *Call) WroteOutput(files int) {
	if c.Gate != nil && files > 0 {
		c.Gate.WroteOutput(files)
	}
}

// SawFiles does as Gate.SawFiles.
func (c *Call) SawFiles() {
	if c.Gate != nil {
		c.Gate.SawFiles()
	}
}

// Result is what reading and executing tools return.
type Result struct {
	Text       string  // what the model reads
	Structured any     // optional; a value of one of the structs that the Def names
	Truncated  bool    // the tool itself left something out and says so in Text
	Untrusted  bool    // Text comes from outside, although that of the tool does not always: dispatch wraps it
	Images     []Image // Text names them
}

// Page is a part of a result that was cut.
type Page struct {
	Content    string
	Next       string // cursor of the page that follows, "" at the end
	LeftBytes  int    // how much follows this page
	TotalBytes int    // of the whole result
}

// Effects are what one call would do, derived from its arguments, for the
// policy and for the person who is asked. An argument struct may have the
// method Effects() Effects.
type Effects struct {
	ReadOnly   bool   // this call changes nothing although its tool could
	Title      string // what would be done, for the person who is asked, where the tool knows more of it than Command says
	Command    string // the line that would be run
	Shell      bool   // Command is read by a shell: policy looks at each command in it
	Background bool   // Command goes on after the call

	// Dir is where Command begins for a session; nil: a person must be asked about it wherever
	// it begins.
	Dir func(session string) string

	Confined      bool     // Command is no line for a shell, and runs in the sandbox all the same
	Hosts         []string // network hosts that would be contacted
	Paths         []string // files touched besides Changes
	Writes        Writes   // files that are written or deleted besides Changes, by a program of the tool's
	Irrecoverable string   // why it can't be undone, else ""
	OnDisk        bool     // it can't be done in the world of the session, although its tool is InWorld
	Waits         bool     // where edits wait for review, all that it does waits with them
	Change        string   // what of something else would change, for the person who is asked: old → new
	Warns         string   // what the person who is asked is to know besides, else ""

	// Commit is set for a call that makes a commit and can wait: in a mode
	// whose edits are accepted as one batch it is queued and runs after them.
	Commit *QueuedCommit
}

// Writes are files that a call writes or deletes in one go, without their texts:
// what git checks out, for one.
type Writes struct {
	Files   []Written
	Version string // of what is written: nothing else is done than what was decided about
}

// Written is one of them.
type Written struct {
	Path string // the file's name in the view
	Link string // the target of the link that it becomes, "" when it does not
}

// QueuedCommit is a commit that can wait.
type QueuedCommit struct {
	Message string // as the tool would check it: not empty
}

// Queued is the structured result of a commit that waits.
type Queued struct {
	Position int  `json:"position" jsonschema:"among the commits of the batch, from one"`
	Queued   bool `json:"queued" jsonschema:"always true"`
}

// Bound is a call whose arguments are valid: ready to be decided on and run.
type Bound struct {
	Args    any // the decoded argument struct (json.RawMessage for Raw tools)
	Effects Effects
	Repairs []string // slips in the arguments that were put right, to be told to the model
	plan    func(context.Context, workspace.Files) error
	run     func(context.Context, *Call) (Result, []workspace.Change, error)
}

// Plan works out what depends on files besides arguments (see Planned): once,
// before anything is decided. A failure ends the call.
func (b *Bound) Plan(ctx context.Context, files workspace.Files) error {
	if b.plan == nil {
		return nil
	}
	plan := b.plan
	b.plan = nil
	return plan(ctx, files)
}

// Run runs the tool. An Edit tool returns changes, and one of NewExecEdit may;
// nothing is applied.
func (b *Bound) Run(ctx context.Context, c *Call) (Result, []workspace.Change, error) {
	return b.run(ctx, c)
}

// Source is where a tool came from.
type Source struct {
	Kind   SourceKind
	Server string // the MCP server, for SourceMCP
	Tool   string // the server's own name of the tool, for SourceMCP
	Path   string // the plugin's manifest, for SourcePlugin
}

// SourceKind is builtin, mcp or plugin.
type SourceKind string

// The kinds of source.
const (
	SourceBuiltin SourceKind = "builtin"
	SourceMCP     SourceKind = "mcp"
	SourcePlugin  SourceKind = "plugin"
)

// Tool is a definition with its access class, source, schema and function.
// Make one with NewRead, NewEdit, NewExec, NewExecEdit, NewReadEdit, Raw or RawProgram.
type Tool struct {
	Def
	Access Access
	Source Source

	schema *jsonschema.Schema
	forms  []form                 // of the structured part; nil: not declared
	json   func() json.RawMessage // schema, encoded when somebody asks for it
	bind   func(args json.RawMessage) (*Bound, error)
}

// Repeatable reports whether a call that failed may be made again without asking
// anybody. An Edit tool is not run again: other edits wait for what it finds.
func (t *Tool) Repeatable() bool {
	return !t.Interactive && (t.Access == Read || t.Access == Exec && t.Idempotent)
}

// InputSchema is the JSON schema (2020-12) of the arguments, encoded.
func (t *Tool) InputSchema() json.RawMessage { return t.json() }

// Bind validates and decodes args. A failure is an *Error with the code
// InvalidArguments that names the field and what was expected.
func (t *Tool) Bind(args json.RawMessage) (*Bound, error) { return t.bind(args) }
