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
	"github.com/sidecar-ls/sidecar-ls/internal/hooks"
)

// hookFiles are the files of a project that name hooks, in the member hooks.
func hookFiles() [2]string { return [2]string{".claude/settings.json", ".sidecar/hooks.json"} }

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
		for _, name := range hookFiles() {
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
	on := set.Bool("hooksEnabled")
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
		for _, name := range hookFiles() {
			data, err := readHooks(dir, name)
			if err != nil {
				problems = append(problems, err.Error())
			}
			if data != nil {
				add(data, hooks.Hook{Origin: name, Project: true, Trusted: on && x.o.Settings.Trusted()})
			}
		}
	}
	return list, problems
}

// readHooks reads the hooks that a project's file names; nil are none.
func readHooks(dir, name string) ([]byte, error) {
	data, err := config.ReadProjectFile(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
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
