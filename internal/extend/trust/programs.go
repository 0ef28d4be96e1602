package trust

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hooks"
)

// maxPrograms bounds how many files the lines of a folder may name.
const maxPrograms = 500

// lines are the lines of the hooks in a file, as hooks are read to be run: what is
// wrong with one hides no other.
func (c Content) lines(of string) (lines []string) {
	var all struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal([]byte(c[of].Text), &all) != nil || all.Hooks == nil {
		return nil
	}
	list, _ := hooks.Parse(all.Hooks, hooks.Hook{})
	for _, h := range list {
		lines = append(lines, h.Command)
	}
	return lines
}

// programs are the files that the hooks of the content may run.
func (c Content) programs(dir string) (names []string) {
	for _, of := range HookFiles() {
		for _, text := range c.lines(of) {
			for _, p := range readLine(text, dir, dir).places {
				names = append(names, p.names(dir, nil)...)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxPrograms)]
}

// Loose are words of hooks that may name files of the folder, and nobody knows which:
// what they run is compared with nothing.
func (s *State) Loose() (words []string) {
	for _, of := range HookFiles() {
		for _, text := range s.Now.lines(of) {
			l := readLine(text, s.Dir, s.Dir)
			words = append(words, l.loose...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// names are the files below base that a place stands for: of a pattern those that are
// there, and those that were.
func (p place) names(base string, then Content) (names []string) {
	if !isPattern(p.pattern) {
		return []string{unescape(p.pattern)}
	}
	if root, err := os.OpenRoot(base); err == nil {
		names, _ = fs.Glob(root.FS(), p.pattern) // a bad pattern is none
		root.Close()
	}
	names = names[:min(len(names), maxPrograms)]
	for name := range then {
		if ok, _ := path.Match(p.pattern, name); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return append(names, unescape(p.pattern)) // a shell keeps what matches nothing
}

// ProgramChanged names a file that a hook's line may run in root and that is not as it
// was when the folder was trusted; "" is none. What is missing is not as it was,
// in whatever root: a guard that is not there holds nothing back.
func (s *State) ProgramChanged(root, text string) string {
	now := readLine(text, root, s.Dir)
	for _, p := range now.places {
		base := root
		if p.here {
			base = s.Dir
		}
		for _, name := range p.names(base, s.Then) {
			if s.differs(base, name) {
				return name
			}
		}
	}
	for _, p := range readLine(text, s.Dir, s.Dir).places { // which the line doesn't name there
		if slices.ContainsFunc(now.places, func(n place) bool { return n.pattern == p.pattern }) {
			continue
		}
		for _, name := range p.names(s.Dir, s.Then) {
			if _, was := s.Then[name]; was {
				return name
			}
		}
	}
	return ""
}

func (s *State) differs(base, name string) bool {
	then, was := s.Then[name]
	now, is := program(base, name)
	if settings := HookFiles(); name == config.ProjectFile || slices.Contains(settings[:], name) {
		now, is = files(base)[name] // what counts of it
	}
	return was != is || is && (!then.same(now) || now.Hash == unreadable)
}
