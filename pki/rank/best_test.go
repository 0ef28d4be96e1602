package rank_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// written is a file that is made up.
type written struct {
	path  string
	text  string
	flags segment.FileFlag
}

// madeUp is a project of made-up files, many of which are alike, with enough
// words for several processors.
func madeUp(files, units int) []written {
	words := strings.Fields("lease ticket window parser socket buffer router ledger cursor tensor")
	chance := rand.New(rand.NewPCG(1, 2))
	word := func() string { return words[int(float64(len(words))*chance.Float64()*chance.Float64())] }
	out := make([]written, files)
	for i := range out {
		f := written{path: fmt.Sprintf("%s/%s/%s%d.go", word(), word(), word(), i)}
		f.flags = []segment.FileFlag{0, 0, 0, segment.Test, segment.Generated, segment.Aside}[chance.IntN(6)]
		if i%4 == 3 { // alike but for its path
			f.text, f.flags = out[i-1].text, out[i-1].flags
			out[i] = f
			continue
		}
		var b strings.Builder
		for k := range units {
			switch chance.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "const %s%d = %s\n\n", word(), k, word())
			case 1:
				fmt.Fprintf(&b, "type %s%d struct { %s %s }\n\n", word(), k, word(), word())
			default:
				fmt.Fprintf(&b, "// %s %s.\nfunc %s_%s(%s int) { %s(%s, %s) }\n\n", word(), word(), word(), word(), word(), word(), word(), word())
			}
		}
		f.text = b.String()
		out[i] = f
	}
	return out
}

// spread makes segments of files, in their order.
func spread(files []written, segments int) []rank.Part {
	var out []rank.Part
	for k := range segments {
		b := segment.NewBuilder(false)
		for _, f := range files[k*len(files)/segments : (k+1)*len(files)/segments] {
			src := []byte(f.text)
			b.Add(segment.File{Path: f.path, Flags: f.flags}, src, scan.Units("go", src, nil), nil)
		}
		out = append(out, rank.Part{Segment: b.Finish()})
	}
	return out
}

var madeUpQuestions = []string{
	"lease", "where is the parser window", "lease ticket socket buffer router", "tensor\n\n  at ledger (socket/lease/router10.go:7)\n  cursor.tensor(3)\n",
	"tests of the ledger cursor", "find socket_buffer(1) in lease/ticket",
}

// TestBest: what is passed over because it can't be among the best would not be.
func TestBest(t *testing.T) {
	w := rank.Default()
	w.Unit, w.File = rank.Judge{}, rank.Judge{}
	r := rank.New(w)
	p := rank.Project{Parts: spread(madeUp(800, 60), 5)}
	for _, text := range madeUpQuestions {
		for what, f := range map[string]rank.Filter{
			"all": {}, "types": {Kind: func(k pki.Kind) bool { return k == pki.Struct }}, "below": {File: func(name string) bool { return strings.HasPrefix(name, "ticket/") }},
		} {
			q := r.Read(text)
			all, allFiles := r.Candidates(q, p, f, 1<<20, 1<<20)
			best, bestFiles := r.Candidates(q, p, f, 0, 0)
			if len(best) == 0 || len(bestFiles) == 0 || len(all) <= len(best) {
				t.Fatalf("%q, %s: %d units and %d files of %d and %d", text, what, len(best), len(bestFiles), len(all), len(allFiles))
			}
			if !slices.Equal(best, all[:len(best)]) || !slices.Equal(bestFiles, allFiles[:len(bestFiles)]) {
				t.Errorf("%q, %s: not the best", text, what)
			}
		}
	}
}

// TestOrderOfFiles: an answer does not depend on the order in which files were
// read, nor on how they are spread over segments.
func TestOrderOfFiles(t *testing.T) {
	r := rank.New(rank.Default())
	files := madeUp(200, 20)
	answer := func(parts []rank.Part, q rank.Question) (out []string) {
		hits, found := r.Search(q, rank.Project{Parts: parts}, rank.Filter{}, 100, 50)
		for _, h := range hits {
			u := &parts[h.Part].Units[h.Unit]
			out = append(out, fmt.Sprintf("%s:%d %.3f", parts[h.Part].Files[u.File].Path, u.Start, h.Score))
		}
		for _, f := range found {
			out = append(out, fmt.Sprintf("%s %.3f", parts[f.Part].Files[f.File].Path, f.Score))
		}
		return out
	}
	slices.SortFunc(files, func(a, b written) int { return cmp.Compare(a.path, b.path) })
	one, chance := spread(files, 1), rand.New(rand.NewPCG(3, 4))
	for segments := range 4 {
		chance.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		other := spread(files, segments+1)
		for _, text := range madeUpQuestions {
			q := r.Read(text)
			if a, b := answer(one, q), answer(other, q); !slices.Equal(a, b) || len(a) < 100 {
				for i := range a {
					if a[i] != b[i] {
						t.Errorf("%q: with %d segments %s is at place %d of %d, where %s was", text, segments+1, b[i], i, len(a), a[i])
						break
					}
				}
			}
		}
	}
}
