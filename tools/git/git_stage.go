package git

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_stage.md
var stageDoc string

type stageArgs struct {
	Files []string `json:"files,omitempty" jsonschema:"files or directories; all changes by default" maxItems:"1000"`

	waits bool // all of it is pending: where edits wait for review, nothing is staged
}

// Effects shows the command line.
func (a stageArgs) Effects() tools.Effects {
	if len(a.Files) == 0 {
		return tools.Effects{Command: "git add --all"}
	}
	return tools.Effects{Command: commandLine(append([]string{"git", "add", "--all", "--"}, a.Files...)...), Paths: a.Files}
}

func newStage(d Deps) *tools.Tool {
	t := tools.NewExec(tools.Def{
		Name: "git_stage", Title: "Git stage", Example: `{"files": ["main.go", "main_test.go"]}`, Description: stageDoc,
		Category: category, Core: true, Tags: []string{"add", "index"}, SeesDisk: true, Idempotent: true,
		Output: gitrepo.StageResult{},
	}, func(ctx context.Context, c *tools.Call, in stageArgs) (tools.Result, error) {
		p, paths, err := d.repositoryOf(ctx, c.Files, in.Files)
		if err != nil {
			return tools.Result{}, err
		}
		names := p.waiting()
		if c.Held && in.waits {
			return tools.Result{Text: "nothing to stage\n" + needNoStage(names), Structured: gitrepo.StageResult{Files: []gitrepo.StagedFile{}}}, nil
		}
		if c.Held {
			// What waits is not what the disk has: to stage that would take the user's own.
			paths = slices.DeleteFunc(paths, func(path string) bool {
				name, ok := p.name(path)
				return ok && slices.Contains(names, name)
			})
			if len(paths) == 0 && len(in.Files) > 0 {
				return tools.Result{Text: "nothing to stage\n" + needNoStage(names), Structured: gitrepo.StageResult{Files: []gitrepo.StagedFile{}}}, nil
			}
		}
		done, err := p.repo.Stage(ctx, gitrepo.StageRequest{Paths: paths, Below: p.below, Allowed: func(path string) bool { return !p.hidden(path) }})
		if err != nil {
			return tools.Result{}, failed(err)
		}
		p.rename(&done)
		text := stageText(done)
		if c.Held && len(names) > 0 && (len(done.Files) == 0 || len(paths) < len(in.Files)) {
			text += needNoStage(names)
		}
		return tools.Result{Text: text, Structured: done}, nil
	})
	return tools.Planned(t, func(ctx context.Context, files workspace.Files, in stageArgs) (stageArgs, tools.Effects, error) {
		in.waits = d.allPending(ctx, files, in.Files)
		e := in.Effects()
		e.Waits = in.waits
		return in, e, nil
	})
}

// allPending reports whether all that is to be staged waits for review: then git has nothing to
// stage.
func (d Deps) allPending(ctx context.Context, files workspace.Files, list []string) bool {
	p, paths, err := d.repositoryOf(ctx, files, list)
	if err != nil {
		return false
	}
	names := p.waiting()
	for _, path := range paths {
		if name, ok := p.name(path); !ok || !slices.Contains(names, name) {
			return false
		}
	}
	if len(paths) > 0 {
		return true
	}
	below := p.below
	if below == "." {
		below = ""
	}
	st, err := p.repo.Status(ctx, gitrepo.StatusOptions{Below: below})
	return err == nil && len(names) > 0 && !slices.ContainsFunc(st.Files, func(f gitrepo.FileStatus) bool { return f.Changed != ' ' && f.Changed != 0 || f.Conflict })
}

func needNoStage(names []string) string {
	return fmt.Sprintf("What waits for review need not be staged: git_commit makes a commit of %s, which waits with them.\n", firstShown(names))
}

// repositoryOf is repository for several paths, which must lie in one repository.
func (d Deps) repositoryOf(ctx context.Context, view workspace.Files, files []string) (repository, []string, error) {
	if len(files) == 0 {
		p, _, err := d.repository(ctx, view, "")
		return p, nil, err
	}
	var first repository
	var paths []string
	for _, written := range files {
		p, path, err := d.repository(ctx, view, written)
		if err != nil {
			return repository{}, nil, err
		}
		if first.repo != nil && p.repo.Dir != first.repo.Dir {
			return repository{}, nil, tools.Errorf(tools.InvalidArguments, "files: %s and %s are in different repositories; call once for each", shown(files[0]), shown(written))
		}
		first, paths = p, append(paths, path)
	}
	return first, paths, nil
}

// rename gives all paths their names in the view.
func (p repository) rename(s *gitrepo.StageResult) {
	name := func(path *string) {
		if n, ok := p.name(*path); ok {
			*path = n
		}
	}
	for i := range s.Files {
		name(&s.Files[i].Path)
	}
	for i := range s.LeftOut {
		name(&s.LeftOut[i].Path)
	}
	for i := range s.Same {
		name(&s.Same[i])
	}
}

func stageText(s gitrepo.StageResult) string {
	var b strings.Builder
	lines := make([]string, len(s.Files))
	for i, f := range s.Files {
		lines[i] = f.Change + " " + shown(f.Path)
	}
	if len(lines) == 0 {
		b.WriteString("nothing to stage\n")
	}
	writeGroup(&b, "Staged", lines)
	lines = nil
	for _, l := range s.LeftOut {
		lines = append(lines, l.Why)
	}
	writeGroup(&b, "Left out", lines)
	if len(s.Same) > 0 {
		fmt.Fprintf(&b, "Without a change to stage: %s\n", shownAll(s.Same))
	}
	return b.String()
}

// waiting are the names of the files that the view has otherwise than the disk.
func (p repository) waiting() (names []string) {
	for _, c := range p.pending() {
		names = append(names, c.Path)
	}
	return names
}

// maxShown bounds the names in a sentence.
const maxShown = 5

func firstShown(names []string) string {
	if more := len(names) - maxShown; more > 0 {
		return shownAll(names[:maxShown]) + fmt.Sprintf(" and %d more", more)
	}
	return shownAll(names)
}

func shownAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = shown(n)
	}
	return strings.Join(out, ", ")
}
