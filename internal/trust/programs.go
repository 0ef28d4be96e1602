package trust

import (
	"encoding/json"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// word is what may be the name of a file in a line for a shell.
var word = regexp.MustCompile("[^\\s\"'`;&|<>()=]+")

// maxPrograms bounds how many files the lines of a folder may name.
const maxPrograms = 500

// named are the files of a folder that a hook's line may run: each of its words could
// be one, below the root where it runs, or here by its whole path.
func named(line, dir string) (below, here []string) {
	add := func(to *[]string, w string) {
		if w = path.Clean(w); filepath.IsLocal(filepath.FromSlash(w)) && w != "." && !slices.Contains(*to, w) {
			*to = append(*to, w)
		}
	}
	for _, w := range word.FindAllString(line, -1) {
		w = filepath.ToSlash(w)
		for _, prefix := range []string{dir, realPath(dir)} {
			if rest, ok := strings.CutPrefix(w, filepath.ToSlash(prefix)+"/"); ok {
				add(&here, rest)
			}
		}
		for _, prefix := range []string{"$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"} {
			w = strings.TrimPrefix(w, prefix)
		}
		add(&below, w)
	}
	return below, here
}

// programs are the files that the hooks of the content may run.
func (c Content) programs(dir string) (names []string) {
	for _, of := range HookFiles() {
		var all struct {
			Hooks map[string][]struct {
				Hooks []struct {
					Command string `json:"command"`
				} `json:"hooks"`
			} `json:"hooks"`
		}
		if json.Unmarshal([]byte(c[of].Text), &all) != nil {
			continue
		}
		for _, groups := range all.Hooks {
			for _, g := range groups {
				for _, h := range g.Hooks {
					below, here := named(h.Command, dir)
					names = append(names, below...)
					names = append(names, here...)
				}
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxPrograms)]
}

// ProgramChanged names a file that a hook's line may run in root and that is not as
// it was when the folder was trusted; "" is none. In another root, such as a shadow,
// a file that isn't there runs nothing.
func (s *State) ProgramChanged(root, line string) string {
	below, here := named(line, s.Dir)
	if name := s.differs(root, below); name != "" {
		return name
	}
	return s.differs(s.Dir, here)
}

func (s *State) differs(root string, names []string) string {
	for _, name := range names {
		then, was := s.Then[name]
		now, is := program(root, name)
		switch {
		case !is && (!was || realPath(root) != realPath(s.Dir)):
		case was != is || then.Hash != now.Hash || now.Hash == unreadable:
			return name
		}
	}
	return ""
}
