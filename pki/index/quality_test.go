package index_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/rank"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

var update = flag.Bool("update", false, "update the golden files")

// TestQuality keeps how well the index answers questions about the Go
// distribution's own source, so that a change of the ranking shows its price.
// There are questions of ours, and the first sentences of comments, whose
// functions have to be found without them.
func TestQuality(t *testing.T) {
	slow.Rare(t) // it indexes the Go distribution
	d := distribution(t)
	r := rank.New(rank.Default())
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", runtime.Version())
	for _, level := range []struct {
		name    string
		records []retrieval.Record
	}{{"questions", d.questions}, {"comments", d.comments}} {
		files, units := new(retrieval.Figures), new(retrieval.Figures)
		for i := range level.records {
			rec := &level.records[i]
			missing(t, d.texts, rec)
			rec.Judge(answer(r, d.seg, rec.Queries["full"]), files, units)
		}
		for _, f := range []struct {
			name string
			*retrieval.Figures
		}{{"files", files}, {"symbols", units}} {
			n := float64(f.N)
			fmt.Fprintf(&b, "%s %s: n %d, Hit@1 %.1f, Hit@5 %.1f, Hit@10 %.1f, MRR %.3f\n", level.name, f.name, f.N, 100*f.Hit1/n, 100*f.Hit5/n, 100*f.Hit10/n, f.MRR/n)
		}
	}
	golden := filepath.Join("testdata", "quality.golden")
	if *update {
		if err := ownfile.Update(golden, []byte(b.String())); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if version, _, _ := strings.Cut(string(want), "\n"); version != runtime.Version() {
		needs.Skip(t, needs.Sources, fmt.Sprintf("the figures are those of %s, this is %s:\n%s", version, runtime.Version(), b.String()))
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the figures have changed; if that is right, run go test -update (-want +got):\n%s", diff)
	}
}

// indexed is the Go distribution with questions about it.
type indexed struct {
	texts               []text
	seg                 *segment.Segment
	questions, comments []retrieval.Record
}

var indexedOnce struct { // indexing takes most of the time of these tests
	sync.Once
	indexed
}

func distribution(t *testing.T) *indexed {
	t.Helper()
	d := &indexedOnce.indexed
	indexedOnce.Do(func() {
		var err error
		if d.questions, err = retrieval.ReadSets("testdata"); err != nil {
			t.Fatal(err)
		}
		d.texts = goroot(t)
		d.comments = commentPairs(d.texts, 200)
		d.seg = build(d.texts)
	})
	if len(d.questions) < 80 {
		t.Fatalf("only %d questions", len(d.questions))
	}
	if len(d.comments) != 200 {
		t.Fatalf("only %d comments", len(d.comments))
	}
	return d
}

type text struct {
	path string
	data []byte
}

// goroot reads the distribution's source.
func goroot(t *testing.T) []text {
	t.Helper()
	root := os.DirFS(runtime.GOROOT())
	var out []text
	err := fs.WalkDir(root, "src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		out = append(out, text{name, data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func build(texts []text) *segment.Segment {
	b := segment.NewBuilder(false)
	in := index.NewIntake(treesitter.Language, nil)
	for _, f := range texts {
		in.Add(b, f.path, f.data, int64(len(f.data)))
	}
	return b.Finish()
}

func answer(r *rank.Ranker, seg *segment.Segment, question string) retrieval.Answer {
	hits, files := r.Search(r.Read(question), rank.Project{Parts: []rank.Part{{Segment: seg}}}, rank.Filter{}, 50, 50)
	a := retrieval.Answer{}
	for _, h := range hits {
		u := &seg.Units[h.Unit]
		if u.Kind() != segment.FileKind {
			a.Units = append(a.Units, retrieval.Found{File: seg.Files[u.File].Path, Qual: seg.Qualified(h.Unit), Start: int(u.Start), End: int(u.End)})
		}
	}
	for _, h := range files {
		a.Files = append(a.Files, seg.Files[h.File].Path)
	}
	return a
}

// missing makes sure that what is to be found is there at all.
func missing(t *testing.T, texts []text, r *retrieval.Record) {
	t.Helper()
	for _, name := range r.Files {
		i, ok := slices.BinarySearchFunc(texts, name, func(f text, name string) int { return strings.Compare(f.path, name) })
		if !ok {
			t.Errorf("%s: %s does not exist in %s", r.ID, name, runtime.Version())
			continue
		}
		for _, g := range r.Symbols {
			if _, last, _ := strings.Cut("."+g.Qual, "."); !bytes.Contains(texts[i].data, []byte(last[strings.LastIndex(last, ".")+1:])) {
				t.Errorf("%s: %s has no %s", r.ID, name, g.Qual)
			}
		}
	}
}

// commentPairs takes n functions, evenly spread, and blanks their comments. A
// question is the first sentence without the function's name.
func commentPairs(texts []text, n int) []retrieval.Record {
	type pair struct {
		file     int
		from, to int
		rec      retrieval.Record
	}
	var all []pair
	for i, f := range texts {
		if !strings.HasSuffix(f.path, ".go") || strings.HasSuffix(f.path, "_test.go") || strings.Contains(f.path, "/testdata/") || strings.Contains(f.path, "/vendor/") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "", f.data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil || fn.Body == nil || fset.Position(fn.End()).Line-fset.Position(fn.Pos()).Line < 5 {
				continue
			}
			sentence, _, _ := strings.Cut(strings.Join(strings.Fields(fn.Doc.Text()), " "), ". ")
			rest, ok := strings.CutPrefix(sentence, fn.Name.Name+" ")
			if !ok || len(strings.Fields(rest)) < 7 {
				continue
			}
			qual := fn.Name.Name
			if fn.Recv != nil {
				qual = receiver(fn.Recv.List[0].Type) + "." + qual
			}
			all = append(all, pair{i, fset.Position(fn.Doc.Pos()).Offset, fset.Position(fn.Doc.End()).Offset, retrieval.Record{
				ID: f.path + "#" + qual, Queries: map[string]string{"full": rest}, Files: []string{f.path},
				Symbols: []retrieval.Gold{{File: f.path, Qual: qual}},
			}})
		}
	}
	var out []retrieval.Record
	for k := range min(n, len(all)) {
		p := all[k*len(all)/n]
		data := bytes.Clone(texts[p.file].data)
		for i := p.from; i < p.to; i++ {
			if data[i] != '\n' {
				data[i] = ' '
			}
		}
		texts[p.file].data = data
		out = append(out, p.rec)
	}
	return out
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
