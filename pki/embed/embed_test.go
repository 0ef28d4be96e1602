package embed_test

import (
	"context"
	"io/fs"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/embedserver"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pki/embed"
)

func client(t *testing.T, o embed.Options) *embed.Client {
	t.Helper()
	c, err := embed.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmbed(t *testing.T) {
	s := embedserver.New(t, embedserver.How{Key: "k-1234"})
	for what, o := range map[string]embed.Options{
		"Ollama":                      {Provider: embed.Ollama, URL: s.URL},
		"OpenAI":                      {Provider: embed.OpenAI, URL: s.URL + "/", Key: "k-1234", Model: "m"},
		"OpenAI, with its usual path": {Provider: embed.OpenAI, URL: s.URL + "/v1", Key: "k-1234"},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := client(t, o).Embed(t.Context(), embed.Query, []string{"stop it", "a car", "halt now"})
			if err != nil || len(got) != 3 {
				t.Fatalf("%v, %v", got, err)
			}
			if dot(got[0], got[2]) < 0.99 || dot(got[0], got[1]) > 0.5 {
				t.Errorf("they are not in order: %v", got)
			}
			if l := dot(got[1], got[1]); math.Abs(float64(l)-1) > 1e-5 {
				t.Errorf("its length is %v", l)
			}
		})
	}
	if seen := s.Seen()[0]; len(s.Seen()) != 3 || seen.Model == "" {
		t.Errorf("%+v", s.Seen())
	}
}

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// TestPrompt: the usual model is told what a text is for.
func TestPrompt(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	c := client(t, embed.Options{Provider: embed.Ollama, URL: s.URL})
	for _, use := range []embed.Use{embed.Document, embed.Query} {
		if _, err := c.Embed(t.Context(), use, []string{"x"}); err != nil {
			t.Fatal(err)
		}
	}
	if seen := s.Seen(); seen[0].Input[0] != "search_document: x" || seen[1].Input[0] != "search_query: x" {
		t.Errorf("%+v", seen)
	}
}

func TestOptions(t *testing.T) {
	for what, c := range map[string]struct {
		o    embed.Options
		want string // of the error; "": there is none
	}{
		"the usual ones":  {embed.Options{Provider: embed.Ollama}, ""},
		"another path":    {embed.Options{Provider: embed.OpenAI, URL: "https://example.org/ai"}, ""},
		"no provider":     {embed.Options{}, "no provider"},
		"another scheme":  {embed.Options{Provider: embed.Ollama, URL: "file:///etc/passwd"}, "must begin with https"},
		"no scheme":       {embed.Options{Provider: embed.Ollama, URL: "localhost:11434"}, "must begin with https"},
		"no host":         {embed.Options{Provider: embed.Ollama, URL: "http://"}, "must begin with https"},
		"a password":      {embed.Options{Provider: embed.Ollama, URL: "https://u:hunter22@example.org"}, "must not have a password"},
		"a query":         {embed.Options{Provider: embed.Ollama, URL: "https://example.org?k=1"}, "nothing behind its path"},
		"what is no URL":  {embed.Options{Provider: embed.Ollama, URL: "https://u:hunter22@exa mple"}, "is not a URL"},
		"a control sign":  {embed.Options{Provider: embed.Ollama, URL: "https://example.org/\x00"}, "is not a URL"},
		"a wrong program": {embed.Options{Provider: "local"}, "no provider"},
	} {
		_, err := embed.New(c.o)
		switch {
		case (err == nil) != (c.want == ""), err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v", what, err)
		case err != nil && strings.Contains(err.Error(), "hunter22"):
			t.Errorf("%s: the error has the password", what)
		}
	}
}

// TestAddresses: what is not encrypted does not leave private networks, and
// nothing goes to the services of clouds.
func TestAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"http://169.254.169.254":    "not the address of an endpoint",
		"https://169.254.169.254":   "not the address of an endpoint",
		"https://[fd00:ec2::254]":   "not the address of an endpoint",
		"https://168.63.129.16":     "not the address of an endpoint",
		"http://0.0.0.0:1":          "not the address of an endpoint",
		"http://192.0.2.7":          "https alone",
		"http://[::ffff:192.0.2.7]": "https alone",
	} {
		_, err := client(t, embed.Options{Provider: embed.Ollama, URL: url, Timeout: time.Second}).Embed(t.Context(), embed.Query, []string{"x"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
	s := embedserver.New(t, embedserver.How{})
	if _, err := client(t, embed.Options{Provider: embed.Ollama, URL: s.URL}).Embed(t.Context(), embed.Query, []string{"x"}); err != nil {
		t.Error(err) // the control: this machine
	}
}

// TestBadAnswers: whatever an endpoint does, there is an error that says so.
func TestBadAnswers(t *testing.T) {
	say := func(status int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	elsewhere := embedserver.New(t, embedserver.How{})
	for what, c := range map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		want   string
	}{
		"nothing":               {say(200, ""), "did not answer with embeddings"},
		"no JSON":               {say(200, "<html>"), "did not answer with embeddings"},
		"half of it":            {say(200, `{"embeddings":[[1,2`), "did not answer with embeddings"},
		"another object":        {say(200, `{"x":1}`), "0 vectors for 2 texts"},
		"too few":               {say(200, `{"embeddings":[[1,2]]}`), "1 vectors for 2 texts"},
		"too many":              {say(200, `{"embeddings":[[1],[1],[1]]}`), "3 vectors for 2 texts"},
		"two lengths":           {say(200, `{"embeddings":[[1,2],[1]]}`), "has 1 dimensions"},
		"no length":             {say(200, `{"embeddings":[[],[]]}`), "has 0 dimensions"},
		"null":                  {say(200, `{"embeddings":[null,null]}`), "has 0 dimensions"},
		"zeros":                 {say(200, `{"embeddings":[[0,0],[0,0]]}`), "without a direction"},
		"a number out of range": {say(200, `{"embeddings":[[1e99,1],[1,1]]}`), "did not answer with embeddings"},
		"texts for numbers":     {say(200, `{"embeddings":[["a"],["b"]]}`), "did not answer with embeddings"},
		"a wrong index":         {say(200, `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`), "text 7 of 2"},
		"one index twice":       {say(200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), "two for one"},
		"an error in words":     {say(500, `{"error":"out of memory"}`), "500: out of memory"},
		"an error as an object": {say(429, `{"error":{"message":"slow down"}}`), "429: slow down"},
		"an error without any":  {say(503, `busy`), "503 Service Unavailable"},
		"too much":              {say(200, strings.Repeat(" ", 8<<20)), "longer than"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return true
		}, "redirects (307)"},
		"it hangs up": {func(w http.ResponseWriter, _ *http.Request) bool {
			panic(http.ErrAbortHandler)
		}, "can't be reached"},
		"it is slow": {func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}, "in time"},
	} {
		t.Run(what, func(t *testing.T) {
			s := embedserver.New(t, embedserver.How{Before: c.before})
			o := embed.Options{Provider: embed.Ollama, URL: s.URL}
			if c.want == "in time" {
				o.Timeout = 50 * time.Millisecond
			}
			_, err := client(t, o).Embed(t.Context(), embed.Document, []string{"a", "b"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if len(elsewhere.Seen()) > 0 {
		t.Error("a redirect was followed")
	}
	down := embedserver.New(t, embedserver.How{})
	down.Close()
	if _, err := client(t, embed.Options{Provider: embed.Ollama, URL: down.URL}).Embed(t.Context(), embed.Query, []string{"a"}); err == nil || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("it is down: %v", err)
	}
	missing := embedserver.New(t, embedserver.How{Model: "other"})
	if _, err := client(t, embed.Options{Provider: embed.Ollama, URL: missing.URL}).Embed(t.Context(), embed.Query, []string{"a"}); err == nil || !strings.Contains(err.Error(), "try pulling it first") {
		t.Errorf("no such model: %v", err)
	}
	if _, err := client(t, embed.Options{Provider: embed.OpenAI, URL: missing.URL, Key: "wrong"}).Embed(t.Context(), embed.Query, []string{"a"}); err == nil || !strings.Contains(err.Error(), "Incorrect API key") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong key: %v", err)
	}
}

func number(i fs.FileInfo) uint64 { return uint64(i.ModTime().Year()) }

// TestKept: vectors are there again, and what is wrong with the file is not.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	open := func(n func(fs.FileInfo) uint64) *embed.Vectors {
		t.Helper()
		v, err := embed.OpenVectors(func(bool) (*os.Root, error) { return os.OpenRoot(dir) }, "abc", 100, n)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	keys := []embed.Key{embed.KeyOf("a"), embed.KeyOf("b"), embed.KeyOf("c")}
	add := func(v *embed.Vectors) {
		t.Helper()
		if err := v.Add(keys, [][]float32{{1, 0, 0}, {0, 1, 0}, {0, 0.6, 0.8}}); err != nil {
			t.Fatal(err)
		}
	}
	v := open(number)
	add(v)
	if err := v.Add(keys[:1], [][]float32{{1, 0}}); err == nil || !strings.Contains(err.Error(), "2 dimensions") {
		t.Errorf("other dimensions: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	v = open(number)
	best, err := embed.Nearest(v, []float32{0, 0.7, 0.7}, 2, func(yield func(string, embed.ID)) {
		for i, k := range keys {
			id, _ := v.Find(k)
			yield(string(rune('a'+i)), id)
		}
		yield("none", 0)
	})
	if err != nil || len(best) != 2 || best[0].Of != "c" || best[1].Of != "b" {
		t.Errorf("%v, %v", best, err)
	}
	if _, err := embed.Nearest(v, []float32{1}, 2, func(func(int, embed.ID)) {}); err == nil {
		t.Error("a query of other dimensions is taken")
	}
	of, err := v.Similarity([]float32{0, 0.7, 0.7})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := v.Find(keys[2])
	if s, ok := of(c); !ok || s != best[0].Similarity {
		t.Errorf("one vector: %v, %v, want %v", s, ok, best[0].Similarity)
	}
	for _, id := range []embed.ID{0, 1000} {
		if s, ok := of(id); ok {
			t.Errorf("vector %d, which does not exist: %v", id, s)
		}
	}
	if _, err := v.Similarity([]float32{1}); err == nil {
		t.Error("a query of other dimensions is compared")
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	file := dir + "/embeddings-abc"
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		change func([]byte) []byte
		n      func(fs.FileInfo) uint64
		left   int
	}{
		"as it is":            {func(d []byte) []byte { return d }, number, 3},
		"the last one torn":   {func(d []byte) []byte { return d[:len(d)-1] }, number, 2},
		"the second one hurt": {func(d []byte) []byte { d[32+31+25] ^= 1; return d }, number, 1},
		"another version":     {func(d []byte) []byte { d[8]++; return d }, number, 0},
		"another file":        {func(d []byte) []byte { d[0]++; return d }, number, 0},
		"a copy":              {func(d []byte) []byte { return d }, func(fs.FileInfo) uint64 { return 1 }, 0},
		"a head alone":        {func(d []byte) []byte { return d[:32] }, number, 0},
		"nothing":             {func([]byte) []byte { return nil }, number, 0},
		"absurd dimensions":   {func(d []byte) []byte { d[32+3] = 0xff; return d }, number, 0},
	} {
		if err := ownfile.WriteFile(file, c.change([]byte(string(whole))), 0o600); err != nil {
			t.Fatal(err)
		}
		v := open(c.n)
		if v.Len() != c.left {
			t.Errorf("%s: %d are left, want %d", what, v.Len(), c.left)
		}
		add(v)
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if v = open(c.n); v.Len() != 3 {
			t.Errorf("%s: then there are %d", what, v.Len())
		}
		if err := v.Forget(); err != nil || v.Len() != 0 {
			t.Errorf("%s: %v", what, err)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
	if v := open(number); v.Len() != 0 {
		t.Errorf("what was to be forgotten is kept: %d", v.Len())
	}
}

func TestCancelled(t *testing.T) {
	s := embedserver.New(t, embedserver.How{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client(t, embed.Options{Provider: embed.Ollama, URL: s.URL}).Embed(ctx, embed.Query, []string{"a"}); err == nil {
		t.Error("no error")
	}
}
