package review

import (
	"fmt"
	"sort"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// problemCounts are the new problems of a file that an edit is pending for.
type problemCounts struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

// locatedProblem is a problem as clients are told of it; lines and columns count
// from one, columns in bytes.
type locatedProblem struct {
	Path     string `json:"path"`
	URI      string `json:"uri"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Source   string `json:"source,omitempty"`
	Message  string `json:"message"`
}

// maxPlaced bounds the problems that a list of the queue has.
const maxPlaced = 200

// introduced returns what an edit would bring; nil while it isn't known.
func (q *Queue) introduced(e pendingedits.Edit) ([]langserver.Problem, *problemCounts) {
	from := q.Introduced
	if from == nil {
		return nil, nil
	}
	list, known := from.Of(e)
	if !known {
		return nil, nil
	}
	var n problemCounts
	for _, p := range list {
		if p.Severity == langserver.Error {
			n.Errors++
		} else {
			n.Warnings++
		}
	}
	return list, &n
}

// locate lists the new problems of all files that are in a list of the queue,
// and those elsewhere.
func (q *Queue) locate(edits []pendingedits.Edit) []locatedProblem {
	from := q.Introduced
	if from == nil {
		return nil
	}
	var out []locatedProblem
	add := func(list []langserver.Problem) {
		for _, p := range list {
			if len(out) < maxPlaced {
				out = append(out, locatedProblem{p.Path, q.Live.URI(p.Path), p.Line, p.Column, string(p.Severity), p.Source, p.Message})
			}
		}
	}
	for _, e := range edits {
		list, _ := from.Of(e)
		add(list)
	}
	add(from.Elsewhere())
	return out
}

// byHunk sorts problems by the index of the hunk in which they lie. Those that
// lie in Nothing are of the first.
func byHunk(e pendingedits.Edit, list []langserver.Problem) map[int][]langserver.Problem {
	by := map[int][]langserver.Problem{}
	for _, p := range list {
		at := sort.Search(len(e.Hunks), func(i int) bool {
			h := e.Hunks[i]
			return p.Line < h.NewStart+max(h.NewLines, 1)
		})
		if at == len(e.Hunks) || p.Line < e.Hunks[at].NewStart {
			at = 0
		}
		by[at] = append(by[at], p)
	}
	return by
}

// problemWords are what a hunk's diagnostic says of the problems it brings.
func problemWords(list []langserver.Problem) string {
	if len(list) == 0 {
		return ""
	}
	first := []rune(list[0].Message)
	const limit = 120
	if len(first) > limit {
		first = append(first[:limit], '…')
	}
	words := fmt.Sprintf("; brings a new %s in line %d: %s", list[0].Severity, list[0].Line, string(first))
	if len(list) > 1 {
		words += fmt.Sprintf(" (and %d more)", len(list)-1)
	}
	return words
}
