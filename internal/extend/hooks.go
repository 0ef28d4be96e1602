package extend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/extend/trust"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
)

// maxFolders is up to how many folders of a workspace are looked at.
const maxFolders = 8

// stamps are when the files that name hooks, and the places of plugins, were changed.
func (x *Extensions) stamps() string {
	var b strings.Builder
	add := func(name string) {
		if info, err := os.Lstat(name); err == nil {
			fmt.Fprintf(&b, "%d %d", info.ModTime().UnixNano(), info.Size())
		}
		b.WriteByte(';')
	}
	for _, dir := range x.folders() {
		for _, name := range trust.HookFiles() {
			add(filepath.Join(dir, name))
		}
	}
	for _, p := range x.places() {
		add(p.Dir)
	}
	return b.String()
}

func (x *Extensions) folders() []string { return x.o.Folders[:min(len(x.o.Folders), maxFolders)] }

// Hooks implements hooks.Config: those of the settings, then those of plugins and of the project.
func (x *Extensions) Hooks() (list []hooks.Hook, problems []string) {
	set := x.o.Settings.Now()
	on := set.HooksRun()
	add := func(data []byte, of hooks.Hook) {
		more, wrong := hooks.Parse(data, of)
		list, problems = append(list, more...), append(problems, wrong...)
	}
	for _, data := range set.Hooks() {
		add(data, hooks.Hook{Origin: "sidecar.hooks", Trusted: on})
	}
	for _, c := range x.plugins.Loaded() {
		if c.Hooks != nil {
			add(c.Hooks, hooks.Hook{Origin: "plugin " + c.ID, Trusted: on, Dir: c.Root})
		}
	}
	for _, dir := range x.folders() {
		for _, name := range trust.HookFiles() {
			more, wrong := x.ofProject(dir, name, on)
			list, problems = append(list, more...), append(problems, wrong...)
		}
	}
	return list, problems
}

// ofProject are the hooks that a file of a project names. In a trusted one they are
// those that it named when it was trusted: what it names since is listed, and not
// run; what it no longer names can hold back, and allows nothing.
func (x *Extensions) ofProject(dir, name string, on bool) (list []hooks.Hook, problems []string) {
	of := hooks.Hook{Origin: name, Project: true}
	parse := func(data []byte, err error) (list []hooks.Hook) {
		if err == nil {
			data, err = hooksIn(name, data)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err.Error())
		}
		if data == nil {
			return nil
		}
		list, wrong := hooks.Parse(data, of)
		problems = append(problems, wrong...)
		return list
	}
	state := x.o.Settings.Trust(dir)
	if state == nil {
		return parse(config.ReadProjectFile(dir, name)), problems
	}
	text := func(c trust.Content) ([]byte, error) {
		if f := c[name]; f.Problem != "" {
			return nil, errors.New(f.Problem)
		}
		return []byte(c[name].Text), nil
	}
	list = parse(text(state.Then))
	problems = nil // they were said when it was trusted
	now := parse(text(state.Now))
	for i := range list {
		h := &list[i]
		h.Trusted = on
		h.Stricter = !slices.ContainsFunc(now, func(n hooks.Hook) bool { return n.Same(h) })
		h.Changed = func(root string) string {
			if changed := state.ProgramChanged(root, h.Command); changed != "" {
				return changed + " is not as it was when you trusted the workspace; sidecar-ls trust shows the change, sidecar-ls trust yes takes it"
			}
			return ""
		}
	}
	for _, n := range now {
		if !slices.ContainsFunc(list, func(h hooks.Hook) bool { return h.Same(&n) }) {
			list = append(list, n)
		}
	}
	return list, problems
}

// hooksIn are the hooks that the text of a project's file names; nil are none.
func hooksIn(name string, data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var file struct {
		Hooks json.RawMessage `json:"hooks"`
		Off   bool            `json:"disableAllHooks"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s can't be read, so its hooks are not run: %w", name, err)
	}
	if file.Off {
		return nil, nil
	}
	return file.Hooks, nil
}

// Tried is what one hook said to an example.
type Tried struct {
	Origin   string `json:"origin"`
	Matcher  string `json:"matcher,omitempty"`
	Command  string `json:"command"`
	Decision string `json:"decision,omitempty"`
	Failure  string `json:"failure,omitempty"`
	Message  string `json:"message,omitempty"`
	Ms       int64  `json:"ms"`
}

// TryHooks runs the hooks of an event on an example, of which nothing else comes.
func (x *Extensions) TryHooks(ctx context.Context, in hooks.Input, names ...string) (list []Tried, o hooks.Outcome) {
	x.Follow()
	var mu sync.Mutex
	o = x.hooks.Try(ctx, in, func(r hooks.Ran) {
		mu.Lock()
		defer mu.Unlock()
		shown := x.o.Hide.Shown
		list = append(list, Tried{r.Hook.Origin, r.Hook.Matcher, shown(r.Hook.Line()), r.Decision, shown(r.Failure), shown(r.Said), r.Took.Milliseconds()})
	}, names...)
	slices.SortStableFunc(list, func(a, b Tried) int { return strings.Compare(a.Command, b.Command) })
	return list, o
}
