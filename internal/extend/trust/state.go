package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/skills"
	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
)

// Changed are the names of the files that are not as they were, sorted.
func (s *State) Changed() (names []string) {
	all := maps.Clone(s.Then)
	maps.Copy(all, s.Now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		then, was := s.Then[name]
		if now, is := s.Now[name]; was != is || !then.same(now) {
			names = append(names, name)
		}
	}
	return names
}

// Names are the names of the files, and of the places of others, that would show a
// change.
func (s *State) Names() []string {
	all := map[string]bool{config.ProjectFile: true}
	for _, name := range HookFiles() {
		all[name] = true
	}
	for _, dir := range skills.ProjectDirs() {
		all[dir] = true
	}
	for _, c := range []Content{s.Then, s.Now} {
		for name := range c {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Hash stands for what the folder says now.
func (s *State) Hash() string { return s.Now.hash() }

// Knows reports whether a text, by its hash, was trusted, wherever it stood.
func (s *State) Knows(hash string) bool {
	for _, f := range s.Then {
		if f.Hash == hash {
			return true
		}
	}
	return false
}

// mode is what the diff says of a file: of others than programs it is not looked at.
func (f File) mode() uint32 {
	if f.Exec {
		return 0o100755
	}
	return 0o100644
}

// Unshown are the names of what has changed and that the diff doesn't show: nobody can
// say yes to that who only sees the diff.
func (s *State) Unshown() (names []string) {
	for _, name := range s.Changed() {
		if now, is := s.Now[name]; is && now.Hash != s.Then[name].Hash && (now.Hidden || now.Hash == unreadable) {
			names = append(names, name)
		}
	}
	return names
}

// Diff is what has changed, as a patch.
func (s *State) Diff() string {
	var b strings.Builder
	for _, name := range s.Changed() {
		then, was := s.Then[name]
		now, is := s.Now[name]
		p := diff.FilePatch{OldName: name, NewName: name, OldMode: then.mode(), NewMode: now.mode(), Old: then.Text, New: now.Text}
		if !was {
			p.OldName = ""
		}
		if !is {
			p.NewName = ""
		}
		switch {
		case now.Hash == unreadable:
			p.Omit = "it can't be read now"
		case is && now.Hidden && now.Hash != then.Hash:
			p.Omit = "its text is too long, or no text, and is not shown"
		case was && then.Hidden && now.Hash != then.Hash:
			p.Old = "" // what was there can't be shown; all that is there now is
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// Words say what has changed, and what holds.
func (s *State) Words() string {
	names := s.Changed()
	const most = 8
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return fmt.Sprintf("%s%s changed since you trusted %s: until you take the change, the stricter of both holds for each setting, and what takes trust stays as it was (sidecar-ls trust shows the change, sidecar-ls trust yes takes it)", strings.Join(names, ", "), more, s.Dir)
}
