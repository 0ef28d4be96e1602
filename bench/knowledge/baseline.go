package main

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
)

// flat is plain BM25 over the words of identifiers and comments: no field
// counts for more than another, files and symbols know nothing of each other,
// and nothing is read into the question.
func flat() *rank.Ranker {
	w := rank.Weights{
		Name: 1, Owner: 1, Header: 1, Doc: 1, Body: 1, K1: 1.2, B: 0.75, AvgLen: 60, AvgDoc: 20,
		FileName: 1, FileDir: 1, FileUnits: 1, FileDoc: 1, FileBody: 1, FileK1: 1.2, FileB: 0.75, FileAvgLen: 800,
		Title: 1, Text: 1, Code: 1, Tick: 1, Faint: 1, Repeat: 1.2,
		FirstPlaces: math.MaxInt, FewPlaces: math.MaxInt, Places: math.MaxInt32, Terms: math.MaxInt, // all words count
		Tests: 1, Aside: 1, Prose: 1, Data: 1, Types: 1, Values: 1, Files: 1,
	}
	return rank.New(w)
}

// lowered is a file's text in small letters.
type lowered struct {
	path string
	data []byte
}

func lower(texts []text) []lowered {
	out := make([]lowered, len(texts))
	for i, t := range texts {
		if bytes.IndexByte(t.data[:min(len(t.data), 1<<10)], 0) < 0 {
			out[i] = lowered{t.path, bytes.ToLower(t.data)}
		}
	}
	return out
}

// keywords ranks files as somebody does who greps for the words of the
// question (rg -c -i -F): by how many of the words a file has, then by how
// often.
func keywords(files []lowered, question string) retrieval.Answer {
	const most = 12
	stops := terms.Stops()
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(question), func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}) {
		if len(w) > 3 && !stops[w] && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	words = words[:min(len(words), most)]
	type score struct {
		path        string
		words, hits int
	}
	var all []score
	for _, f := range files {
		s := score{path: f.path}
		for _, w := range words {
			if n := bytes.Count(f.data, []byte(w)); n > 0 {
				s.words++
				s.hits += n
			}
		}
		if s.words > 0 {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b score) int {
		return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(b.hits, a.hits), cmp.Compare(a.path, b.path))
	})
	var a retrieval.Answer
	for _, s := range all[:min(len(all), depth)] {
		a.Files = append(a.Files, s.path)
	}
	return a
}
