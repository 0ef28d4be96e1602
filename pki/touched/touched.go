// Package touched finds the functions and other units in which two versions of
// a source file differ.
package touched

import (
	"bytes"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/text/diff"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
)

const (
	// MaxText bounds the texts that are compared, in bytes.
	MaxText = 400_000
	// maxTouched is how many units of a file a change may touch: what touches
	// more says nothing about one of them.
	maxTouched = 30
)

// Text is a source file at some time.
type Text struct {
	text  string
	units []lines
}

// lines are those of a unit, from one, both inclusive.
type lines struct {
	first, last int
	callable    bool
	name        history.Name
}

// Read finds the units of a text in a language as scan.Units takes it.
func Read(lang string, src []byte) *Text {
	t := &Text{text: string(src)}
	units := scan.Units(lang, src, nil)
	at, line := 0, 1
	number := func(offset int) int {
		if offset < at {
			line -= bytes.Count(src[offset:at], []byte{'\n'})
		} else {
			line += bytes.Count(src[at:offset], []byte{'\n'})
		}
		at = offset
		return line
	}
	for i := range units {
		u := &units[i]
		if u.Block() {
			continue
		}
		owner := u.Owner.Of(src)
		if owner == "" && u.Parent >= 0 {
			owner = units[u.Parent].Name.Of(src)
		}
		end := min(u.End, len(src))
		t.units = append(t.units, lines{number(min(u.Start, end)), number(max(u.Start, end-1)), u.Callable(), history.NameOf(owner, u.Name.Of(src))})
	}
	return t
}

// Of returns the units that differ between two texts, nil for too many.
func Of(old, now *Text) []history.Name {
	var names []history.Name
	add := func(n history.Name) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, h := range diff.Hunks(old.text, now.text) {
		old.touch(h.OldStart+1, len(h.Old), add)
		now.touch(h.NewStart+1, len(h.New), add)
		if len(names) > maxTouched {
			return nil
		}
	}
	return names
}

// touch calls add for the innermost unit of each of some lines, from one on.
func (t *Text) touch(first, count int, add func(history.Name)) {
	for line := first; line < first+count; line++ {
		var in *lines
		for i := range t.units {
			u := &t.units[i]
			if u.first > line {
				break
			}
			if u.last >= line {
				in = u
			}
		}
		if in == nil {
			continue
		}
		add(in.name)
		if in.callable { // what is inside of it is seldom a unit
			line = max(line, in.last)
		}
	}
}

// Versions tells what changes of files touched. Of the versions compared last
// it keeps what was read, as one of them is often the next: changes of a file
// should come one after the other. It is not safe for concurrent use.
type Versions[ID comparable] struct {
	Language func(path string) string         // "" for one without units
	Read     func(version ID) ([]byte, error) // nil without an error for one that is not to be looked at

	ids   [2]ID
	texts [2]*Text
}

// Touched returns the units in which two versions of a file differ, nil if that
// is nothing to go by.
func (v *Versions[ID]) Touched(path string, old, now ID) ([]history.Name, error) {
	lang := v.Language(path)
	if lang == "" {
		return nil, nil
	}
	var read [2]*Text
	for i, id := range [2]ID{old, now} {
		if k := slices.Index(v.ids[:], id); k >= 0 && v.texts[k] != nil {
			read[i] = v.texts[k]
			continue
		}
		src, err := v.Read(id)
		if err != nil || src == nil || len(src) > MaxText {
			return nil, err
		}
		read[i] = Read(lang, src)
	}
	v.ids, v.texts = [2]ID{old, now}, read
	return Of(read[0], read[1]), nil
}
