package rank_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// small is a project in which words alone lead astray.
var small = map[string]string{
	"store/filewriter.go":  "package store\n\n// Open opens the log.\nfunc Open() { rotate() }\n\nfunc rotate() { compress(1) }\n",
	"store/reader.go":      "package store\n\n// scan skips blanks and comments.\nfunc scan() { parse(file) }\n",
	"store/reader_test.go": "package store\n\nfunc TestScan(t *T) { blanks := scan(); skip(blanks, comments) }\n",
	"net/client.go":        "package net\n\ntype Client struct { retries int }\n\nfunc (c *Client) Dial() { c.timeout(c.retries) }\n\nfunc backoff(c int) {}\n",
	"net/pool.go":          "package net\n\nfunc grow() { backoff(1); backoff(2); dial(3) }\n\nfunc shrink() { retries, timeout := 1, 2 }\n\nfunc rotate() { compress(1) }\n",
	"notes.md":             "# Dial\n\nThe client will dial again after a timeout.\n",
}

// parts splits the files over n segments.
func parts(n int) []rank.Part {
	var out []rank.Part
	names := slices.Sorted(maps.Keys(small))
	for k := range n {
		b := segment.NewBuilder(true)
		for i := k; i < len(names); i += n {
			src := []byte(small[names[i]])
			f, lang := segment.File{Path: names[i]}, "go"
			if strings.HasSuffix(names[i], "_test.go") {
				f.Flags = segment.Test
			}
			if strings.HasSuffix(names[i], ".md") {
				f.Flags, lang = segment.Prose, "markdown"
			}
			b.Add(f, src, scan.Units(lang, src, nil), nil)
		}
		out = append(out, rank.Part{Segment: b.Finish()})
	}
	return out
}

func names(all []rank.Part, hits []rank.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, all[h.Part].Qualified(h.Unit))
	}
	return out
}

func TestSearch(t *testing.T) {
	r := rank.New(rank.Default())
	for _, c := range []struct{ question, hit, file string }{
		{"file writer", "", "store/filewriter.go"}, // side by side in the question, one word in the name
		{"where are blanks and comments scanned", "scan", "store/reader.go"},
		{"find the test that skips blanks and comments", "TestScan", "store/reader_test.go"},
		{"store: rotate too late", "rotate", "store/filewriter.go"},
		{"net: rotate too late", "rotate", "net/pool.go"},
		{"Client.Dial gives up after a timeout", "Client.Dial", "net/client.go"},
		{"retry with backoff", "backoff", ""},
	} {
		for _, n := range []int{1, 2, 6} {
			all := parts(n)
			hits, files := r.Search(r.Read(c.question), rank.Project{Parts: all}, rank.Filter{}, 5, 5)
			if got := names(all, hits); len(got) == 0 || c.hit != "" && got[0] != c.hit {
				t.Errorf("%s, %d segments: %q, want %s first", c.question, n, got, c.hit)
			}
			if len(files) == 0 || c.file != "" && all[files[0].Part].Files[files[0].File].Path != c.file {
				t.Errorf("%s, %d segments: %v, want %s first", c.question, n, files, c.file)
			}
			for i, h := range hits {
				if h.Score <= 0 || i > 0 && h.Score > hits[i-1].Score {
					t.Errorf("%s: the scores are out of order: %v", c.question, hits)
				}
			}
		}
	}
	if hits, files := r.Search(r.Read("zebra"), rank.Project{Parts: parts(2)}, rank.Filter{}, 5, 5); len(hits)+len(files) > 0 {
		t.Errorf("nothing fits, but there are %v and %v", hits, files)
	}
}

// TestSecondLook: without its weights the order is by words, and differs.
func TestSecondLook(t *testing.T) {
	w := rank.Default()
	w.Unit, w.File = rank.Judge{}, rank.Judge{}
	plain, r := rank.New(w), rank.New(rank.Default())
	all := parts(1)
	q := r.Read("client dial timeout retries")
	before, _ := plain.Candidates(q, rank.Project{Parts: all}, rank.Filter{}, 10, 10)
	after, _ := r.Candidates(q, rank.Project{Parts: all}, rank.Filter{}, 10, 10)
	if len(before) != len(after) || len(before) == 0 {
		t.Fatalf("%d and %d candidates", len(before), len(after))
	}
	if before[0].Features != [rank.Features]float32{} {
		t.Error("features are made for nothing")
	}
	for _, c := range after {
		if all[0].Qualified(c.ID) != "Client.Dial" {
			continue
		}
		for feature, want := range map[int]float32{rank.UnitClass: 0, rank.UnitOfName: 0, rank.UnitPrecise: 0.5, rank.UnitLanguage: 0.99} {
			if c.Features[feature] <= want {
				t.Errorf("feature %d of Client.Dial is %v, want more than %v", feature, c.Features[feature], want)
			}
		}
		return
	}
	t.Error("Client.Dial is no candidate")
}
