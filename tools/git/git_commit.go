package git

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_commit.md
var commitDoc string

// withPrograms bounds the tools during which hooks may run or a remote may take
// its time.
const withPrograms = 5 * time.Minute

type commitArgs struct {
	Message string `json:"message" jsonschema:"commit message" minLength:"1" maxLength:"20000"`

	waits bool // nothing is staged: where edits wait for review, it waits with them
}

// Effects shows the command line, and that the commit can wait.
func (a commitArgs) Effects() tools.Effects {
	return tools.Effects{Command: commandLine("git", "commit", "-m", a.Message), Commit: &tools.QueuedCommit{Message: a.Message}}
}

// Check refuses a message that git would not take.
func (a commitArgs) Check() error {
	if err := noDash("message", a.Message); err != nil {
		return err
	}
	if _, err := gitrepo.CheckMessage(a.Message); err != nil {
		return tools.Errorf(tools.InvalidArguments, "message: %v", err)
	}
	return nil
}

// CommitInfo is the structured result of git_commit.
type CommitInfo struct {
	Hash    string                  `json:"hash" jsonschema:"of the commit; empty while it waits for its files"`
	Subject string                  `json:"subject" jsonschema:"first line of the message"`
	Files   []gitrepo.CommittedFile `json:"files" jsonschema:"what the commit changes"`
	Notes   []string                `json:"notes,omitempty" jsonschema:"what was otherwise than in a terminal"`
}

func newCommit(d Deps) *tools.Tool {
	t := tools.NewExecEdit(tools.Def{
		Name: "git_commit", Title: "Git commit", Example: `{"message": "Raise the limit to 20\n\nTen was too few for large projects."}`, Description: commitDoc,
		Category: category, Core: true, Tags: []string{"save", "history"}, Timeout: withPrograms, SeesDisk: true,
		Output: CommitInfo{}, Wrote: "git_commit", Also: []tools.Form{{When: "where commits wait for a batch", Of: tools.Queued{}}},
	}, func(ctx context.Context, c *tools.Call, in commitArgs) (tools.Result, []workspace.Change, error) {
		p, _, err := d.repository(ctx, c.Files, "")
		if err != nil {
			return tools.Result{}, nil, err
		}
		var models []string
		if d.Models != nil {
			models = d.Models(c.Session)
		}
		if c.Held && in.waits {
			if r, ok := p.hold(c, in.Message); ok {
				return r, nil, nil
			}
			return tools.Result{}, nil, tools.Errorf(tools.Conflict, "nothing is pending by now; look at git_status and call again")
		}
		hooks := d.hooks(c, p)
		done, err := p.repo.Commit(ctx, in.Message, models, p.below, hooks.run)
		if c.Held && gitrepo.NothingStaged(err) {
			if r, ok := p.hold(c, in.Message); ok {
				return r, nil, nil
			}
		}
		if err != nil {
			return tools.Result{}, hooks.changes(), failed(err)
		}
		if d.Committed != nil {
			d.Committed(c.Session)
		}
		info := CommitInfo{Hash: done.Hash, Subject: done.Subject, Files: p.committed(done.Files), Notes: append(done.Notes, hooks.said()...)}
		return tools.Result{Text: info.text(), Structured: info}, hooks.changes(), nil
	})
	return tools.Planned(t, func(ctx context.Context, files workspace.Files, in commitArgs) (commitArgs, tools.Effects, error) {
		e := in.Effects()
		e.Title = d.commitTitle(ctx, files, in.Message)
		if p, _, err := d.repository(ctx, files, ""); err == nil && len(p.pending()) > 0 {
			n, err := gitrepo.StagedCount(ctx, p.repo)
			in.waits = err == nil && n == 0
		}
		e.Waits = in.waits
		return in, e, nil
	})
}

// commitTitle is a commit in words, such as: Commit 2 files on main: Raise the limit.
func (d Deps) commitTitle(ctx context.Context, files workspace.Files, message string) string {
	subject, _, _ := strings.Cut(message, "\n")
	title := "Commit"
	if p, _, err := d.repository(ctx, files, ""); err == nil {
		if n, err := gitrepo.StagedCount(ctx, p.repo); err == nil && n > 0 {
			title += " " + tools.Count(n, "file")
		}
		if branch, err := gitrepo.CurrentBranch(ctx, p.repo); err == nil && branch != "" {
			title += " on " + shown(branch)
		}
	}
	return title + ": " + subject
}

// hold has a commit of all that is pending in the repository wait for its files, as one
// that a command makes does. There is none where nothing is pending.
func (p repository) hold(c *tools.Call, message string) (tools.Result, bool) {
	files := p.pending()
	if len(files) == 0 {
		return tools.Result{}, false
	}
	subject, _, _ := strings.Cut(message, "\n")
	info := CommitInfo{Subject: subject}
	for _, f := range files {
		info.Files = append(info.Files, gitrepo.CommittedFile{Change: kindOf(f), Path: f.Path})
	}
	c.MadeCommit(workspace.Commit{Message: message, Files: files})
	var b strings.Builder
	writeChanges(&b, info.Files)
	return tools.Result{Text: b.String(), Structured: info}, true
}

// kindOf is what a change does, in git's words.
func kindOf(c workspace.Change) string {
	switch {
	case c.After == nil:
		return "deleted"
	case c.Before == nil:
		return "added"
	}
	return "modified"
}

// committed gives the files of a commit their names in the view. What lies
// outside keeps the name that it has in the repository.
func (p repository) committed(files []gitrepo.CommittedFile) []gitrepo.CommittedFile {
	out := make([]gitrepo.CommittedFile, len(files))
	for i, f := range files {
		if name, ok := p.name(f.Path); ok {
			f.Path = name
		}
		out[i] = f
	}
	return out
}

func (i CommitInfo) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", i.Hash[:min(10, len(i.Hash))], i.Subject)
	writeChanges(&b, i.Files)
	return b.String() + notes(i.Notes)
}

func writeChanges(b *strings.Builder, files []gitrepo.CommittedFile) {
	lines := make([]string, len(files))
	for i, f := range files {
		lines[i] = f.Change + " " + shown(f.Path)
	}
	writeGroup(b, "Files", lines)
}
