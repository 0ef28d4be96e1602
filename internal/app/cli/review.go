package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/verify"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// reviewVerbs are what `review` can do.
var reviewVerbs = map[string]func(context.Context, *cli, reviewWords) error{
	"list":    showEdits,
	"diff":    showDiff,
	"accept":  decide(reviewAccept, "accepted"),
	"reject":  rejectChosen,
	"undo":    decide(reviewUndo, "restored"),
	"redo":    decide(reviewRedo, "restored"),
	"history": showHistory,
	"verify":  showVerified,
	"output":  reviewOutput,
}

// What is asked about the queue.
var (
	reviewList    = query[reviewWords, pendingedits.List]{name: "review list", queue: app.QueueAlways, answer: listEdits}
	reviewDiff    = query[reviewWords, reviewText]{name: "review diff", queue: app.QueueAlways, answer: diffEdits}
	reviewAccept  = query[reviewWords, reviewOutcome]{name: "review accept", queue: app.QueueAlways, decides: true, answer: acceptEdits}
	reviewReject  = query[reviewWords, reviewOutcome]{name: "review reject", queue: app.QueueAlways, decides: true, answer: rejectEdits}
	reviewUndo    = query[reviewWords, reviewOutcome]{name: "review undo", queue: app.QueueAlways, decides: true, answer: turning(undoTo)}
	reviewRedo    = query[reviewWords, reviewOutcome]{name: "review redo", queue: app.QueueAlways, decides: true, answer: turning(redoTo)}
	reviewHistory = query[reviewWords, []pendingedits.Past]{name: "review history", queue: app.QueueAlways, answer: pastEdits}
	reviewVerify  = query[reviewWords, verify.Result]{name: "review verify", queue: app.QueueAlways, decides: true, answer: verifyEdits}
)

// reviewWords choose edits.
type reviewWords struct {
	Dir    string   `json:"dir"`              // what paths are relative to; "": the names of the folders
	Chosen []string `json:"chosen"`           // paths and ids of hunks; none: all
	Reason string   `json:"reason,omitempty"` // of a rejection

	Seen []string `json:"seen,omitempty"` // ids of hunks, where the person was asked about all of them

	Command string `json:"command,omitempty"` // that verifies; "": the project's tests
}

type reviewText struct {
	Diff string `json:"diff"`
}

// reviewOutcome is what was done, to which files.
type reviewOutcome struct {
	What    string        `json:"what,omitempty"` // undo or redo
	Done    []string      `json:"done"`
	Parts   []part        `json:"parts,omitempty"`   // of these, the files of which changes were left
	Deleted []string      `json:"deleted,omitempty"` // of these, the files that are gone now
	Failed  []failureLine `json:"failed"`
	Commits []commitLine  `json:"commits,omitempty"` // that were to be made, or stay
	Dropped []string      `json:"dropped,omitempty"` // messages of commits that will not be made

	Of []pendingedits.Past `json:"of,omitempty"` // what was undone, or made again
}

// part says how many of a file's changes were decided on.
type part struct {
	Path    string `json:"path"`
	Changes int    `json:"changes"`
	Of      int    `json:"of"`
}

// partsOf are the files in which a selection leaves changes alone.
func partsOf(q *pendingedits.Store, sel pendingedits.Selection) (parts []part) {
	for _, e := range q.List("").Edits {
		p := part{Path: e.Name, Of: len(e.Hunks)}
		for _, h := range e.Hunks {
			if slices.Contains(sel.Hunks, h.ID) {
				p.Changes++
			}
		}
		if p.Changes > 0 && p.Changes < p.Of && !slices.Contains(sel.Names, e.Name) {
			parts = append(parts, p)
		}
	}
	return parts
}

// shown are names with how much of them was decided on.
func shown(names []string, parts []part) []string {
	out := slices.Clone(names)
	for i, name := range names {
		if at := slices.IndexFunc(parts, func(p part) bool { return p.Path == name }); at >= 0 {
			out[i] = fmt.Sprintf("%s (%d of %s)", name, parts[at].Changes, tools.Count(parts[at].Of, "change"))
		}
	}
	return out
}

type failureLine struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

func reviewCommand(ctx context.Context, c *cli) error {
	verb := "list"
	if len(c.args) > 0 {
		verb, c.args = c.args[0], c.args[1:]
	}
	f, ok := reviewVerbs[verb]
	if !ok {
		return usagef("review has no verb %q; it has list, diff, verify, accept, reject, undo, redo, history and output", verb)
	}
	folders, err := c.folders()
	if err != nil {
		return err
	}
	dir := folders[0].Dir
	if len(folders) > 1 {
		dir = "" // paths begin with the names of the folders
	}
	if c.all && (verb != "reject" && verb != "output" || verb == "reject" && len(c.args) > 0) {
		return usagef("--all goes with review reject and review output drop, and with no name there")
	}
	if c.build != "" && verb != "output" {
		return usagef("--build goes with review output")
	}
	return f(ctx, c, reviewWords{Dir: dir, Chosen: c.args, Reason: c.reason, Command: c.line})
}

func listEdits(_ context.Context, w *app.Workspace, words reviewWords) (pendingedits.List, error) {
	q, sel, err := chosen(w, words)
	if err != nil {
		return pendingedits.List{}, err
	}
	list := q.List("")
	list.Verified = q.Verified()
	if len(sel.Names)+len(sel.Hunks) > 0 {
		list.Commits = nil
		list.Edits = slices.DeleteFunc(list.Edits, func(e pendingedits.Edit) bool { return !choosesOf(sel, e) })
	}
	return list, nil
}

func acceptEdits(ctx context.Context, w *app.Workspace, words reviewWords) (reviewOutcome, error) {
	q, sel, err := chosen(w, words)
	if err != nil {
		return reviewOutcome{}, err
	}
	parts := partsOf(q, sel)
	known := pendingWords(q)
	r, err := q.Accept(ctx, sel)
	if errors.Is(err, pendingedits.ErrBatch) {
		err = fmt.Errorf("%w: `sidecar-ls review accept` without arguments", err)
	}
	return reviewOutcome{Done: r.Accepted, Parts: parts, Failed: failureLines(withPending(r.Failed, known)), Commits: commitLines(r.Commits)}, err
}

func rejectEdits(ctx context.Context, w *app.Workspace, words reviewWords) (reviewOutcome, error) {
	q, sel, err := chosen(w, words)
	if err != nil {
		return reviewOutcome{}, err
	}
	if err := onlySeen(q, words.Seen); err != nil {
		return reviewOutcome{}, err
	}
	parts := partsOf(q, sel)
	known := pendingWords(q)
	r, err := q.Reject(ctx, sel, words.Reason)
	err = orPending(err, known)
	out := reviewOutcome{Done: r.Rejected, Parts: parts}
	for _, q := range r.Commits {
		out.Dropped = append(out.Dropped, q.Message)
	}
	out.Commits = commitLines(r.Made)
	return out, err
}

func verifyEdits(ctx context.Context, w *app.Workspace, words reviewWords) (verify.Result, error) {
	q, sel, err := chosen(w, words)
	if err != nil {
		return verify.Result{}, err
	}
	return verify.Run(ctx, verify.Parts{Queue: q, Dispatch: w.Dispatch, Sessions: w.Client.Sessions}, verify.Request{Selection: sel, Command: words.Command})
}

// showVerified runs the tests over pending edits, and fails when they do, or when none ran.
func showVerified(ctx context.Context, c *cli, w reviewWords) error {
	r, err := ask(ctx, c, reviewVerify, w)
	if err != nil {
		return err
	}
	if c.json {
		err = c.print(r)
	} else {
		fmt.Fprintln(c.Out, r.Output)
		v := pendingedits.Verified{Command: r.Command, OK: r.OK, Passed: r.Passed, Failed: r.Failed}
		fmt.Fprintln(c.Out, verifiedLine(&v))
	}
	if err == nil && (!r.OK || noTest(r.Passed, r.Failed)) {
		err = errReported
	}
	return err
}

// noTest reports whether a runner that counts its tests ran none: what passes then has
// said nothing about the edits.
func noTest(passed, failed *int) bool {
	return passed != nil && failed != nil && *passed+*failed == 0
}

// verifiedLine says what a run over pending edits said.
func verifiedLine(v *pendingedits.Verified) string {
	how := "verified"
	none := v.OK && noTest(v.Passed, v.Failed)
	if !v.OK || none {
		how = "not verified"
	}
	if v.Stale {
		how += ", and changed since"
	}
	if none {
		return how + ": no test was run: " + v.Command
	}
	line := how + ": " + v.Command
	if v.Passed != nil && v.Failed != nil {
		line += fmt.Sprintf(" (%d passed, %d failed)", *v.Passed, *v.Failed)
	}
	return line
}

func failureLines(failed []pendingedits.Failure) []failureLine {
	out := make([]failureLine, len(failed))
	for i, f := range failed {
		why := f.Err
		var of *fs.PathError
		if errors.As(why, &of) && of.Path == f.Name {
			why = of.Err // the name stands before it
		}
		out[i] = failureLine{f.Name, why.Error()}
	}
	return out
}

func showEdits(ctx context.Context, c *cli, w reviewWords) error {
	list, err := ask(ctx, c, reviewList, w)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(list)
	}
	if len(list.Edits)+len(list.Commits) == 0 {
		fmt.Fprintln(c.Out, "Nothing is pending.")
		return nil
	}
	by := newAuthors()
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, e := range list.Edits {
		by := by.edit(e.Session, e.Tool, e.Command)
		if e.Batch {
			by += ", batch of " + e.Session
		}
		lines := fmt.Sprintf("+%d −%d", e.Added, e.Removed)
		if e.From != "" {
			by += ", from " + inLine(e.From)
			if e.Added+e.Removed == 0 {
				lines = "text as it was"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\tby %s\n", inLine(e.Name), e.Kind, lines, e.State, by)
		for _, h := range e.Hunks {
			if e.From != "" {
				fmt.Fprintf(t, "  %s\tall of it\t\t%s\n", h.ID, h.State) // a move is taken or left as one
				continue
			}
			fmt.Fprintf(t, "  %s\tline %d\t+%d −%d\t%s\n", h.ID, max(h.OldStart, 1), h.NewLines, h.OldLines, h.State)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if v := list.Verified; v != nil {
		fmt.Fprintln(c.Out, verifiedLine(v))
	}
	for _, q := range list.Commits {
		waits := "batch of " + q.Session
		if q.ByFile {
			waits = "of " + q.Session + ", waits for its files"
		}
		if q.Branch != "" {
			waits = "on the branch " + redact.Visible(q.Branch) + ", which the workspace is then on, " + waits
		}
		if len(q.Merges) > 0 {
			waits = "which merges " + strings.Join(q.Merges, ", ") + ", " + waits
		}
		if q.Ref.Kind != "" {
			fmt.Fprintf(c.Out, "%s, of %s, waits to be accepted\n", redact.Visible(subject(q.Message)), q.Session)
		} else {
			fmt.Fprintf(c.Out, "commit %q, %s: %s\n", subject(q.Message), waits, commitFiles(q))
		}
		if q.Error != "" {
			fmt.Fprintf(c.Out, "  could not be made: %s\n", q.Error)
		}
		if q.Differs != "" {
			what := "is accepted with it, and these hunks don't show it"
			if q.ByFile {
				what = "these hunks don't show: so it will not be made"
			}
			fmt.Fprintf(c.Out, "  has what %s:\n    %s\n", what, strings.ReplaceAll(strings.TrimSuffix(q.Differs, "\n"), "\n", "\n    "))
		}
	}
	return nil
}

// inLine is a name as a line shows it: quoted, if it has a line break or the like.
func inLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

func inLines(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = inLine(name)
	}
	return strings.Join(list, ", ")
}

// subject is the first line of a commit's message.
func subject(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

func commitFiles(q pendingedits.Commit) string {
	if len(q.Files) == 0 {
		return "what is staged"
	}
	return inLines(q.Files)
}

func showDiff(ctx context.Context, c *cli, w reviewWords) error {
	d, err := ask(ctx, c, reviewDiff, w)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(d)
	}
	if d.Diff == "" { // programs that read a patch get none
		fmt.Fprintln(c.Err, "Nothing is pending.")
	}
	_, err = io.WriteString(c.Out, d.Diff)
	return err
}

// decide prints what a decision did, and fails when something was left as it
// was.
func decide(q query[reviewWords, reviewOutcome], did string) func(context.Context, *cli, reviewWords) error {
	return func(ctx context.Context, c *cli, w reviewWords) error {
		r, err := ask(ctx, c, q, w)
		if err != nil {
			return err
		}
		if err := c.outcome(did, r); err != nil {
			return err
		}
		if len(r.Failed) > 0 || slices.ContainsFunc(r.Commits, func(q commitLine) bool { return q.Error != "" }) {
			return errReported
		}
		return nil
	}
}

func (c *cli) outcome(did string, r reviewOutcome) error {
	for _, f := range r.Failed {
		fmt.Fprintf(c.Err, "%s: %s\n", inLine(f.Path), f.Error)
	}
	for _, q := range r.Commits {
		if q.Error != "" {
			fmt.Fprintf(c.Err, "commit %q: %s\n", subject(q.Message), q.Error)
		}
	}
	if c.json {
		out := map[string]any{did: append([]string{}, r.Done...), "failed": append([]failureLine{}, r.Failed...)}
		if r.What != "" {
			out["what"] = r.What
		}
		if len(r.Deleted) > 0 {
			out["deleted"] = r.Deleted
		}
		if len(r.Commits) > 0 {
			out["commits"] = r.Commits
		}
		if len(r.Of) > 0 {
			out["of"] = r.Of
		}
		return c.print(out)
	}
	if r.What == "redo" {
		did = "made again:"
	}
	if r.What != "" && len(r.Commits) > 0 {
		fmt.Fprintln(c.Out, "The commits that were made stay:")
	}
	gone := func(name string) bool { return slices.Contains(r.Deleted, name) }
	done := slices.DeleteFunc(slices.Clone(r.Done), gone)
	if len(r.Deleted) > 0 {
		fmt.Fprintf(c.Out, "deleted %s\n", inLines(r.Deleted))
	}
	switch {
	case len(done) > 0:
		fmt.Fprintf(c.Out, "%s %s\n", did, inLines(shown(done, r.Parts)))
	case len(r.Done) > 0:
	case len(r.Failed)+len(r.Commits) == 0:
		fmt.Fprintf(c.Out, "Nothing was %s%s.\n", strings.TrimSuffix(did, ":"), whyNothing(r.What))
	}
	if len(r.Done) > 0 {
		for _, p := range r.Of {
			fmt.Fprintln(c.Out, " ", turned(r.What, p))
		}
	}
	for _, q := range r.Commits {
		if q.Error == "" {
			fmt.Fprintf(c.Out, "commit %q: %s\n", subject(q.Message), q.ID)
		}
	}
	for _, message := range r.Dropped {
		fmt.Fprintf(c.Out, "rejected the commit %q\n", subject(message))
	}
	return nil
}

// commitLine is what became of a queued commit.
type commitLine struct {
	Message string `json:"message"`
	ID      string `json:"id,omitempty"`
	Error   string `json:"error,omitempty"`
}

func commitLines(commits []pendingedits.CommitResult) []commitLine {
	out := make([]commitLine, len(commits))
	for i, q := range commits {
		out[i] = commitLine{Message: q.Message, ID: q.ID}
		if q.Err != nil {
			out[i].Error = q.Err.Error()
		}
	}
	return out
}
