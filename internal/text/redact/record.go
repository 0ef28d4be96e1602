package redact

import (
	"cmp"
	"slices"
	"strings"
)

// A record is kept, and nobody works with what it says: a value that has the name of a secret is hidden there
// whatever it looks like, where Text shows what may be an example.

// marked stands in the place of a value.
const marked = "[REDACTED:secret]"

// Record is what is kept of texts in which Text has replaced secrets by markers: each value that stands where a secret
// does is replaced, too, and what a command line writes to a file for which secretFile is true. name is that of the
// member of an object whose value they are, or "". One text is a command line or a file, several are the words of one
// command. A nil secretFile is of no file.
func (*Redactor) Record(name string, texts []string, secretFile func(path string) bool) []string {
	h := hider{texts: texts, found: make([][]span, len(texts)), calm: make([][]calm, len(texts)), secretFile: secretFile}
	kind := memberKind(name)
	switch {
	case kind == secretMember:
		for n, s := range texts {
			h.whole(n, s, name)
		}
	case len(texts) == 1 && kind == proseMember:
		h.calm[0] = []calm{{0, len(texts[0]), prose}}
	case codeMembers[name] && h.codeWrites(strings.Join(texts, "\n")):
		for n, s := range texts {
			h.found[n] = []span{{0, len(s), "file"}}
		}
	case len(texts) == 1:
		if kind == talkMember {
			h.calm[0] = []calm{{0, len(texts[0]), prose}}
		}
		h.line(0, 0, len(texts[0]), 0)
	default:
		h.words()
	}
	out := make([]string, len(texts))
	for n, s := range texts {
		if kind != secretMember {
			h.values(n)
		}
		out[n] = mask(s, disjoint(h.found[n]))
	}
	return out
}

// hider gathers what is to be hidden in texts.
type hider struct {
	texts      []string
	found      [][]span // by text
	calm       [][]calm
	secretFile func(string) bool

	free   []*command
	behind int // where the last value ends that was hidden
	until  int // where the part ends that is calm, in the text that is gone over
}

// calm is a part of a text in which less is taken for a secret.
type calm struct {
	from, to int
	how      manner
}

type manner int

const (
	open  manner = iota
	prose        // words after a colon are no value
	quiet        // nothing is a value: what is compared
)

// hide hides texts[n][from:to], the value of a name, when it says something. literal is of one that no shell expands.
func (h *hider) hide(n, from, to int, name string, literal bool) {
	if from < to && secretValue(name, h.texts[n][from:to], literal) {
		h.found[n] = append(h.found[n], span{from, to, "secret"})
		h.behind = to
	}
}

// whole is for a text that is a value.
func (h *hider) whole(n int, s, name string) {
	if header(name) != noHeader {
		from := credentialAt(name, s, 0, len(s))
		h.hide(n, from, len(s), name, false)
		return
	}
	h.hide(n, 0, len(s), name, false)
}

// disjoint sorts what was found, and makes one of what overlaps.
func disjoint(found []span) []span {
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	out := found[:0]
	for _, f := range found {
		if last := len(out) - 1; last >= 0 && f.start < out[last].end {
			out[last].end = max(out[last].end, f.end)
			continue
		}
		out = append(out, f)
	}
	return out
}

// kinds of members of an object.
type kindOfMember int

const (
	anyMember kindOfMember = iota
	secretMember
	proseMember
	talkMember
)

// proseMembers hold what is written for people, or looked for; talkMembers may have lines to run in it.
var (
	proseMembers = words("message title body query pattern summary subject")
	talkMembers  = words("description question task rationale observation reason note comment success_criteria action criterion")
)

// codeMembers hold programs.
var codeMembers = words("code script expression function js javascript python program")

func memberKind(name string) kindOfMember {
	switch {
	case name == "":
		return anyMember
	case proseMembers[name]:
		return proseMember
	case talkMembers[name]:
		return talkMember
	case SecretName(name):
		return secretMember
	}
	return anyMember
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
