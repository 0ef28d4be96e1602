package index_test

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/embedserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

var cars = map[string]string{
	"a/engine.go":  "package a\n\n// Halt ends the work of the motor.\nfunc Halt() {}\n\n// Paint gives it another colour.\nfunc Paint() {}\n",
	"b/garage.py":  "def open_vehicle(door):\n    \"\"\"Opens it.\"\"\"\n    return door\n",
	"c/secret.go":  "package c\n\nfunc connect() {\n\tdial(\"AKIAIOSFODNN7EXAMPLQ\", \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\")\n}\n",
	".env":         "TOKEN=vehicle\n",
	"d/test_x.py":  "def test_cars():\n    pass\n",
	"e/other.go":   "package e\n\nfunc unrelated() {}\n",
	"vendor/v.txt": "nothing\n",
}

// meant is a project whose questions are answered by meaning, too.
func meant(t *testing.T, s *embedserver.Server, change func(*index.Options)) (*project, chan struct{}) {
	t.Helper()
	p := newProject(t, cars)
	said := make(chan struct{}, 1)
	o := p.options()
	o.Report.Changed = func() {
		select {
		case said <- struct{}{}:
		default:
		}
	}
	c, err := embed.New(embed.Options{Provider: embed.Ollama, URL: s.URL, Model: "m"})
	o.Meaning = &index.Meaning{Client: c, Err: err, Hide: redact.New().Text, MaxUnits: 1000, Weight: 0.25, Patience: time.Minute, Again: time.Millisecond}
	if change != nil {
		change(&o)
	}
	p.Index = index.New(o)
	t.Cleanup(func() { p.Close() })
	return p, said
}

func state(want string) func(index.Status) bool {
	return func(s index.Status) bool { return s.Ready && s.Meaning.State == want }
}

func TestMeaning(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	q := index.Query{Text: "terminate", MaxHits: 3, MaxFiles: 3}
	p.until(said, "all have vectors", state("ready"))
	a := p.ask(q)
	if len(a.Hits) == 0 || a.Hits[0].Path != "a/engine.go" || !a.Hits[0].Vector || a.Hits[0].Lexical {
		t.Errorf("by meaning alone: %+v", a.Hits)
	}
	if h := p.ask(index.Query{Text: "halt the motor", MaxHits: 3}).Hits; len(h) == 0 || h[0].Name != "Halt" || !h[0].Vector || !h[0].Lexical {
		t.Errorf("by both: %+v", h)
	}
	for i := 1; i < len(a.Hits); i++ {
		if a.Hits[i].Score > a.Hits[i-1].Score {
			t.Errorf("out of order: %+v", a.Hits)
		}
	}
	for what, q := range map[string]index.Query{
		"a directory": {Text: "terminate", MaxHits: 50, Prefix: "b/"},
		"kinds":       {Text: "terminate", MaxHits: 50, Kinds: nil, Prefix: "b/"},
	} {
		for _, h := range p.ask(q).Hits {
			if !strings.HasPrefix(h.Path, "b/") {
				t.Errorf("%s: %+v", what, h)
			}
		}
	}
	if a.WordsAlone != 0 {
		t.Errorf("without a buffer %d files are looked at by words alone", a.WordsAlone)
	}
	m := p.Status().Meaning
	if m.Model != "m" || m.Units < 8 || m.Embedded != m.Units {
		t.Errorf("%+v", m)
	}
	plain := newProject(t, cars)
	if h := plain.ask(q).Hits; len(h) != 0 {
		t.Errorf("without vectors: %+v", h) // the control
	}
	if b := plain.askIn(workspace.Guard(workspace.NewOverlay(plain.disk, layer{"e/other.go": "package e\n"}), nil), q); b.WordsAlone != 0 {
		t.Errorf("without vectors it says so of %d files", b.WordsAlone)
	}
}

// TestMeaningFollows: what is gone or lies under another text is no hit.
func TestMeaningFollows(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	p.until(said, "all have vectors", state("ready"))
	found := func(view workspace.Files, name string) bool {
		h := p.askIn(view, index.Query{Text: "automobile", MaxHits: 10}).Hits
		return slices.ContainsFunc(h, func(h index.Hit) bool { return h.Name == name && h.Vector })
	}
	plain := workspace.Guard(p.disk, nil)
	if !found(plain, "open_vehicle") {
		t.Fatal("nothing is found at first")
	}
	if found(workspace.Guard(workspace.NewOverlay(p.disk, layer{"b/garage.py": "x = 1\n"}), nil), "open_vehicle") {
		t.Error("the text under a buffer is found")
	}
	p.edit("b/garage.py", "def nothing():\n    pass\n")
	p.edit("z/new.py", "def the_automobile():\n    pass\n")
	p.ask(index.Query{Text: "x"})
	p.until(said, "the new file has vectors", func(st index.Status) bool {
		return state("ready")(st) && slices.ContainsFunc(s.Seen(), func(r embedserver.Request) bool {
			return slices.ContainsFunc(r.Input, func(t string) bool { return strings.Contains(t, "the_automobile") })
		})
	})
	if !found(plain, "the_automobile") {
		t.Error("the new file is not found")
	}
}

// TestMeaningSendsNoSecret: neither in pieces of files nor in questions.
func TestMeaningSendsNoSecret(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	p.until(said, "all have vectors", state("ready"))
	p.ask(index.Query{Text: "who uses ghp_16C7e42F292c6912E7710c838347Ae178B4a to connect"})
	all := ""
	for _, r := range s.Seen() {
		all += strings.Join(r.Input, "\n")
	}
	for _, secret := range []string{"ghp_16C7", "AKIAIOSFODNN7EXAMPLQ", "TOKEN=vehicle"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s was sent", secret)
		}
	}
	for _, sent := range []string{"func connect()", "[REDACTED:", "who uses"} {
		if !strings.Contains(all, sent) {
			t.Errorf("%s was not sent", sent) // the control
		}
	}
}

// TestMeaningKept: vectors are kept by model and text, and made once.
func TestMeaningKept(t *testing.T) {
	kept := t.TempDir()
	store := &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(kept) }}
	s := embedserver.New(t, embedserver.How{})
	texts := func() (n int) {
		for _, r := range s.Seen() {
			n += len(r.Input)
		}
		return n
	}
	run := func(model string) int {
		t.Helper()
		before := texts()
		p, said := meant(t, s, func(o *index.Options) {
			o.Store = store
			o.Meaning.Client, o.Meaning.Err = embed.New(embed.Options{Provider: embed.Ollama, URL: s.URL, Model: model})
		})
		p.until(said, "all have vectors", state("ready"))
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		return texts() - before
	}
	if n := run("m"); n < 8 {
		t.Fatalf("%d texts at first", n)
	}
	if n := run("m"); n != 0 {
		t.Errorf("%d texts again", n)
	}
	if n := run("other"); n < 8 {
		t.Errorf("%d texts for another model", n)
	}
	for _, e := range must(os.ReadDir(kept))(t) {
		if strings.HasPrefix(e.Name(), "embeddings-") {
			if err := ownfile.WriteFile(kept+"/"+e.Name(), []byte("garbage"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := run("m"); n < 8 {
		t.Errorf("%d texts after the files were hurt", n)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestMeaningFails: whatever the endpoint does, an answer has what its words
// find, the status says what is wrong, and all is well when the endpoint is.
func TestMeaningFails(t *testing.T) {
	answer := func(body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	plain := newProject(t, cars)
	q := index.Query{Text: "halt vehicle", MaxHits: 5}
	want := names(plain.ask(q).Hits)
	if want == "" {
		t.Fatal("nothing is to be found")
	}
	hangUp := make(chan struct{})
	for what, c := range map[string]struct {
		bad embedserver.How
		err string
	}{
		"malformed":       {embedserver.How{Before: answer("<html>")}, "did not answer with embeddings"},
		"too few":         {embedserver.How{Before: answer(`{"embeddings":[]}`)}, "vectors for"},
		"an error":        {embedserver.How{Model: "other"}, "try pulling it first"},
		"wrong dimension": {embedserver.How{Dims: 7}, "7 dimensions, those that are kept have 32"},
		"slow": {embedserver.How{Before: func(_ http.ResponseWriter, r *http.Request) bool {
			select {
			case <-r.Context().Done():
				return true
			case <-hangUp:
				panic(http.ErrAbortHandler)
			}
		}}, "in time"},
		"down": {embedserver.How{Before: func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }}, "can't be reached"},
	} {
		t.Run(what, func(t *testing.T) {
			s := embedserver.New(t, embedserver.How{})
			p, said := meant(t, s, func(o *index.Options) {
				if what == "slow" {
					o.Meaning.Patience = 50 * time.Millisecond
				}
			})
			p.until(said, "it works", state("ready"))
			s.Set(func(h *embedserver.How) { *h = c.bad })
			a := p.ask(q)
			if got := names(a.Hits); got != want || a.Status.Meaning.State != "failing" || !strings.Contains(a.Status.Meaning.Err, c.err) {
				t.Errorf("got %q, want %q; %+v", got, want, a.Status.Meaning)
			}
			s.Set(func(h *embedserver.How) { *h = embedserver.How{} })
			if what == "slow" {
				close(hangUp)
			}
			p.until(said, "it works again", state("ready"))
			if what == "slow" {
				return // even a good answer could take longer than the patience
			}
			if a := p.ask(index.Query{Text: "terminate", MaxHits: 5}); len(a.Hits) == 0 || !a.Hits[0].Vector {
				t.Errorf("then: %+v, %+v", a.Hits, a.Status.Meaning)
			}
		})
	}
}

// TestMeaningDownAtFirst: an endpoint that is not there holds nothing up.
func TestMeaningDownAtFirst(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	s.Close()
	p, said := meant(t, s, nil)
	if got := names(p.ask(index.Query{Text: "halt"}).Hits); !strings.HasPrefix(got, "Halt") {
		t.Errorf("got %q", got)
	}
	p.until(said, "it is said", state("failing"))
	if m := p.Status().Meaning; !strings.Contains(m.Err, "can't be reached") {
		t.Errorf("%+v", m)
	}
	q, said := meant(t, s, func(o *index.Options) {
		o.Meaning.Client, o.Meaning.Err = embed.New(embed.Options{Provider: embed.Ollama, URL: "ftp://example.org"})
	})
	q.until(said, "a wrong setting is said", state("failing"))
	if got := names(q.ask(index.Query{Text: "halt"}).Hits); !strings.HasPrefix(got, "Halt") {
		t.Errorf("got %q", got)
	}
}

// TestMeaningOfAnotherModel: after a rebuild vectors of other dimensions do.
func TestMeaningOfAnotherModel(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, nil)
	p.until(said, "all have vectors", state("ready"))
	all := p.Status().Meaning.Embedded
	s.Set(func(h *embedserver.How) { h.Dims = 7 })
	p.ask(index.Query{Text: "terminate"})
	p.until(said, "it is said", state("failing"))
	p.Rebuild()
	p.until(said, "all have new vectors", func(st index.Status) bool { return state("ready")(st) && st.Meaning.Embedded == all })
	if h := p.ask(index.Query{Text: "terminate", MaxHits: 2}).Hits; len(h) == 0 || h[0].Path != "a/engine.go" || !h[0].Vector {
		t.Errorf("got %+v", h)
	}
}

// TestMeaningIsBounded: no more units than are allowed get vectors, those of
// tests last.
func TestMeaningIsBounded(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	p, said := meant(t, s, func(o *index.Options) { o.Meaning.MaxUnits = 5 })
	p.until(said, "some have vectors", state("ready"))
	sent := map[string]bool{}
	for _, r := range s.Seen() {
		for _, in := range r.Input {
			sent[in] = true
		}
	}
	for text := range maps.Keys(sent) {
		if strings.HasPrefix(text, "d/") || strings.HasPrefix(text, "vendor/") {
			t.Errorf("sent: %q", text)
		}
	}
	if len(sent) == 0 || len(sent) > 5 {
		t.Errorf("%d texts", len(sent))
	}
}
