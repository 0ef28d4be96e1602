package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
)

// ProjectDirs are where a project's skills are, below a folder.
func ProjectDirs() []string { return slices.Clone(projectDirs) }

// Text is the SKILL.md of a skill.
type Text struct {
	Path string // without links
	Text string
}

// OnDisk are the texts of a folder's skills as the disk has them, with those above
// the folder that count for it.
func OnDisk(dir string) (list []Text) {
	l := &Library{o: Options{User: UserPlaces(), Clean: asItIs{}}}
	seen := map[string]bool{}
	look := func(top, below string) {
		f := l.finder(context.Background(), Place{Origin: OfProject, Project: true}, seen)
		f.keep = true
		f.look(onDisk{top, "."}, below)
		for _, s := range f.found {
			list = append(list, Text{s.path, s.text})
		}
	}
	for _, below := range projectDirs {
		if !l.users(filepath.Join(dir, filepath.FromSlash(below))) {
			look(dir, below)
		}
	}
	for _, above := range l.above(dir) {
		for _, below := range projectDirs {
			look(above, below)
		}
	}
	return list
}

// asItIs cleans nothing: what is found is compared.
type asItIs struct{}

func (asItIs) Sanitize(s string) string { return s }
func (asItIs) Defuse(s string) string   { return s }
func (asItIs) Signs(string) []string    { return nil }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
