package index_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/embedserver"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// sent are the texts that came with a word.
func sent(s *embedserver.Server, word string) (n int) {
	for _, r := range s.Seen() {
		for _, in := range r.Input {
			if strings.Contains(in, word) {
				n++
			}
		}
	}
	return n
}

// holding makes a server keep the answers to texts with a word back until the
// function that it returns is called. The channel tells of each.
func holding(t *testing.T, s *embedserver.Server, word string) (came chan struct{}, release func()) {
	held := make(chan struct{})
	came = make(chan struct{}, 100)
	s.Set(func(h *embedserver.How) {
		h.Hold = func(texts []string) {
			if slices.ContainsFunc(texts, func(in string) bool { return strings.Contains(in, word) }) {
				came <- struct{}{}
				<-held
			}
		}
	})
	release = sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	return came, release
}

// meaning is how a hit was found, "" if it is none.
func (p *project) meaning(view workspace.Files, question, name string) (string, int) {
	p.t.Helper()
	a := p.askIn(view, index.Query{Text: question, MaxHits: 50})
	for _, h := range a.Hits {
		if h.Name == name {
			return fmt.Sprintf("lexical %v, vector %v", h.Lexical, h.Vector), a.WordsAlone
		}
	}
	return "", a.WordsAlone
}

const byMeaning = "lexical false, vector true"

// TestMeaningOfBuffers: what of a buffer is as it was is found by meaning at
// once, and what is new by the question after its vectors have come. What was
// sent is not sent again, neither for another question nor when it is accepted.
func TestMeaningOfBuffers(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	p.until(said, "all have vectors", state("ready"))
	_, release := holding(t, s, "stop_early")
	texts := layer{
		"b/garage.py": cars["b/garage.py"] + "\ndef stop_early():\n    pass\n",
		"z/new.go":    "package z\n\nfunc carWash() {\n\tdial(\"ghp_16C7e42F292c6912E7710c838347Ae178B4a\")\n}\n",
		".env":        "VEHICLE=1\n",
	}
	view := workspace.Guard(workspace.NewOverlay(p.disk, texts), nil)
	if how, without := p.meaning(view, "automobile", "open_vehicle"); how != byMeaning || without != 2 {
		t.Errorf("the same function in another text: %q, %d files lack vectors", how, without)
	}
	if how, without := p.meaning(view, "cease", "stop_early"); how != "" || without != 2 {
		t.Errorf("a new function: %q, %d files lack vectors", how, without)
	}
	if how, _ := p.meaning(view, "stop early", "stop_early"); how != "lexical true, vector false" {
		t.Errorf("a new function by its words: %q", how)
	}
	release()
	p.until(said, "the buffers have vectors", func(index.Status) bool {
		_, without := p.meaning(view, "cease", "stop_early")
		return without == 0
	})
	for question, name := range map[string]string{"cease": "stop_early", "automobile": "carWash"} {
		if how, _ := p.meaning(view, question, name); how != byMeaning {
			t.Errorf("then %s: %q", name, how)
		}
	}
	if how, _ := p.meaning(workspace.Guard(p.disk, nil), "cease", "stop_early"); how != "" {
		t.Errorf("without the buffers: %q", how)
	}
	for word, want := range map[string]int{"b/garage.py: open_vehicle": 1, "b/garage.py: stop_early": 1, "z/new.go: carWash": 1, "ghp_16C7": 0, "VEHICLE=": 0} {
		if n := sent(s, word); n != want {
			t.Errorf("%s was sent %d times, want %d", word, n, want)
		}
	}

	files := sent(s, "b/garage.py") + sent(s, "z/new.go")
	for _, name := range []string{"b/garage.py", "z/new.go"} {
		p.edit(name, texts[name])
	}
	plain := workspace.Guard(p.disk, nil)
	p.until(said, "what was accepted has vectors", func(st index.Status) bool {
		a, _ := p.meaning(plain, "cease", "stop_early")
		b, _ := p.meaning(plain, "automobile", "carWash")
		return a == byMeaning && b == byMeaning
	})
	if n := sent(s, "b/garage.py") + sent(s, "z/new.go"); n != files {
		t.Errorf("%d texts were sent for what was accepted", n-files)
	}
}

// TestMeaningOfEdits: of texts that follow each other faster than they get
// vectors, those in between get none.
func TestMeaningOfEdits(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	p.until(said, "all have vectors", state("ready"))
	came, release := holding(t, s, "version1")
	view := func(version int) workspace.Files {
		return workspace.Guard(workspace.NewOverlay(p.disk, layer{"e/other.go": fmt.Sprintf("package e\n\nfunc version%d() { halt() }\n", version)}), nil)
	}
	p.meaning(view(1), "cease", "version1")
	select {
	case <-came:
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing is sent")
	}
	for version := 2; version <= 4; version++ {
		p.meaning(view(version), "cease", "x")
	}
	release()
	p.until(said, "the last has vectors", func(index.Status) bool {
		how, _ := p.meaning(view(4), "cease", "version4")
		return how == byMeaning
	})
	for version, want := range map[int]bool{1: true, 2: false, 3: false, 4: true} {
		if n := sent(s, fmt.Sprintf("func version%d", version)); n > 0 != want {
			t.Errorf("version %d was sent %d times", version, n)
		}
	}
}

// TestMeaningOfBuffersFails: what waits while the endpoint is down gets its
// vectors when it is back.
func TestMeaningOfBuffersFails(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	p.until(said, "all have vectors", state("ready"))
	view := workspace.Guard(workspace.NewOverlay(p.disk, layer{"e/other.go": "package e\n\nfunc anew() { halt() }\n"}), nil)
	s.Set(func(h *embedserver.How) {
		h.Before = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	})
	if how, _ := p.meaning(view, "anew", "anew"); how != "lexical true, vector false" {
		t.Errorf("while it is down: %q", how)
	}
	s.Set(func(h *embedserver.How) { *h = embedserver.How{} })
	p.until(said, "it is back, and the buffer has vectors", func(index.Status) bool {
		how, _ := p.meaning(view, "cease", "anew")
		return how == byMeaning
	})
}

// TestMeaningOfBuffersIsBounded: there are twice as many vectors as units may
// have some, at most, and the answers go on saying that some lack them.
func TestMeaningOfBuffersIsBounded(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, func(o *index.Options) { o.Meaning.MaxUnits = 5 })
	p.until(said, "some have vectors", state("ready"))
	texts := layer{}
	for i := range 40 {
		texts[fmt.Sprintf("q/f%d.go", i)] = fmt.Sprintf("package q\n\nfunc quokka%d() {}\n", i)
	}
	view := workspace.Guard(workspace.NewOverlay(p.disk, texts), nil)
	for range 6 { // more than all come in
		if _, without := p.meaning(view, "halt", "x"); without < 35 {
			t.Errorf("%d of 40 lack vectors", without)
		}
	}
	if err := p.Close(); err != nil { // what is under way ends
		t.Fatal(err)
	}
	if n := sent(s, "q/f"); n > 10 {
		t.Errorf("%d texts of buffers were sent", n)
	}
}

// TestMeaningOfForks: the files that another tree has of its own are found by
// meaning, too.
func TestMeaningOfForks(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	p.until(said, "all have vectors", state("ready"))
	q := newProject(t, cars)
	write(t, q.dir, "e/other.go", "package e\n\nfunc ofTheFork() { halt() }\n")
	view := workspace.Guard(q.disk, nil)
	q.Index = p.Fork(view, nil)
	if how, _ := q.meaning(view, "automobile", "open_vehicle"); how != byMeaning {
		t.Errorf("what both have: %q", how)
	}
	p.until(said, "its own has vectors", func(index.Status) bool {
		how, without := q.meaning(view, "cease", "ofTheFork")
		return how == byMeaning && without == 0
	})
	if how, _ := p.meaning(workspace.Guard(p.disk, nil), "cease", "ofTheFork"); how != "" {
		t.Errorf("beside it: %q", how)
	}
}
