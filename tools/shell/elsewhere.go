package shell

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/detect"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/lint"
	"github.com/sidecar-ls/sidecar-ls/tools/shell/internal/testrun"
)

// Bounds of the directories that are named, and of those from which they are taken: a walk tells
// of them in no order.
const (
	maxElsewhere = 5
	maxHolding   = 500
)

// holding are the directories at or below dir with a file that is true of, at most so many. The
// walk looks at several directories at once.
func holding(ctx context.Context, files workspace.Files, opts workspace.WalkOptions, most int, is func(name string) bool) (dirs []string, err error) {
	var mu sync.Mutex
	err = files.Walk(ctx, opts, func(e *workspace.Entry) error {
		if !is(e.Path) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if at := path.Dir(e.Path); len(dirs) < most && !slices.Contains(dirs, at) {
			if dirs = append(dirs, at); len(dirs) == most {
				return fs.SkipAll
			}
		}
		return nil
	})
	slices.Sort(dirs)
	return dirs, err
}

// lacks reports whether no file in a directory, or below, is such. What can't be looked at may
// have one.
func lacks(ctx context.Context, files workspace.Files, dir string, is func(name string) bool) bool {
	if info, err := files.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	found, err := holding(ctx, files, workspace.WalkOptions{Dir: dir, IncludeIgnored: true, Hidden: true}, 1, is)
	return err == nil && len(found) == 0
}

// withTests names the directories of the project that have tests, each with its runner; "" is
// none.
func withTests(ctx context.Context, files workspace.Files, on detect.System) string {
	dirs, err := holding(ctx, files, workspace.WalkOptions{Dir: "."}, maxHolding, func(name string) bool { return testrun.IsTest(path.Base(name)) })
	if err != nil {
		return ""
	}
	var words []string
	for _, dir := range dirs[:min(len(dirs), maxElsewhere)] {
		if plan, err := testrun.Detect(files, testrun.Request{Path: dir, On: on}); err == nil {
			words = append(words, fmt.Sprintf("%s (%s)", dir, plan.Runner))
		}
	}
	for _, p := range testrun.Projects(files, on) { // those whose tests have no names of their own
		in := func(dir string) bool { return p.Dir == "." || dir == p.Dir || strings.HasPrefix(dir, p.Dir+"/") }
		if len(words) < maxElsewhere && !slices.ContainsFunc(dirs, in) {
			words = append(words, fmt.Sprintf("%s (%s)", p.Dir, p.Runner))
		}
	}
	return strings.Join(words, ", ")
}

// noTests fails for a directory without tests, before anybody is asked, and says where there
// are some.
func noTests(ctx context.Context, files workspace.Files, dir string, plan testrun.Plan, on detect.System) error {
	is := testrun.MayTest(files, plan)
	if plan.Dir == dir && plan.Runner != "go" || !lacks(ctx, files, dir, is) {
		return nil
	}
	where := "; there are none in the project either"
	if dirs := withTests(ctx, files, on); dirs != "" {
		where = "; there are tests in " + dirs
	}
	return tools.Errorf(tools.NotFound, "%s has no tests%s", dir, where)
}

// nothingToLint fails for a directory of which the linter reads nothing, before anybody is
// asked, and says where there are sources.
func nothingToLint(ctx context.Context, files workspace.Files, dir string, plan detect.Plan, r lint.Request) error {
	if plan.Dir == dir || !lacks(ctx, files, dir, func(name string) bool { return lint.Reads(plan, name) }) {
		return nil
	}
	where := "; the project has none"
	dirs, err := holding(ctx, files, workspace.WalkOptions{Dir: "."}, maxHolding, lint.IsSource)
	if err != nil {
		return nil //nolint:nilerr // the linter says what is wrong
	}
	var words []string
	for _, at := range dirs[:min(len(dirs), maxElsewhere)] {
		r.Path = at
		if p, err := lint.Detect(files, r); err == nil {
			words = append(words, fmt.Sprintf("%s (%s)", at, p.Runner))
		}
	}
	if len(words) > 0 {
		where = "; there are some in " + strings.Join(words, ", ")
	}
	return tools.Errorf(tools.NotFound, "%s has no source that %s reads%s", dir, plan.Runner, where)
}
