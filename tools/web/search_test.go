package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

const ddgPage = `<html><body><div class="results">
<div class="result result--ad"><a class="result__a" href="https://ads.test/">Ad</a></div>
<div class="result results_links"><h2><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fgo.dev%2Fdoc%2F&amp;rut=1">Go <b>docs</b></a></h2>
<a class="result__snippet">The   documentation of <b>Go</b></a></div>
<div class="result"><a class="result__a" href="https://pkg.go.dev/">Packages</a></div>
<div class="result"><a class="result__a" href="javascript:alert(1)">Bad</a></div>
</div></body></html>`

func TestDuckDuckGo(t *testing.T) {
	p, err := SearchSettings{Provider: DuckDuckGo}.provider()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.address("a b&c", 3), "https://html.duckduckgo.com/html/?q=a+b%26c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	hits, err := p.read(ddgPage)
	if err != nil || len(hits) != 2 || hits[0] != (hit{"Go docs", "https://go.dev/doc/", "The documentation of Go"}) || hits[1].URL != "https://pkg.go.dev/" {
		t.Errorf("%+v, %v", hits, err)
	}
	if hits, err := p.read(`<div class="no-results">none</div>`); err != nil || len(hits) != 0 {
		t.Errorf("%+v, %v", hits, err)
	}
	if _, err := p.read("<p>Unfortunately, bots use this too.</p>"); err == nil || tools.AsError(err).Code != tools.Unavailable {
		t.Error(err)
	}
}

func TestSearchOverJSON(t *testing.T) {
	var asked *http.Request
	answer := ""
	in := newInternet(t, site(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}))
	set := SearchSettings{Provider: JSON, URL: "http://ok.test/search?q={query}&n={count}&format=json"}
	d := Deps{Search: func() SearchSettings { return set }, Secret: func(s string) bool { return strings.Contains(s, "hunter2") }}
	tool := newWebSearch(in.client, d)
	search := func(query string, count int) (tools.Result, error) {
		return call(t, tool, map[string]any{"query": query, "count": count})
	}

	answer = `{"results":[{"title":"One","url":"https://a.test/","content":"first <b>hit</b>"},{"title":"One","url":"https://a.test/"},{"title":"Two","url":"https://b.test/"},{"title":"Three","url":"https://c.test/"}]}`
	r, err := search("go generics & more", 2)
	if err != nil || r.Text != "1. One\n   https://a.test/\n   first hit\n2. Two\n   https://b.test/\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
	if q := asked.URL.Query(); q.Get("q") != "go generics & more" || q.Get("n") != "2" {
		t.Errorf("asked %v", asked.URL)
	}
	answer = `{"web":{"results":[{"title":"B","url":"https://b.test/","description":"brave"}]}}`
	if r, err := search("x", 8); err != nil || !strings.Contains(r.Text, "brave") {
		t.Errorf("%q, %v", r.Text, err)
	}
	answer = `{"results":[]}`
	if r, err := search("x", 8); err != nil || !strings.Contains(r.Text, "Nothing was found") {
		t.Errorf("%q, %v", r.Text, err)
	}
	for _, answer = range []string{`{"error":"x"}`, `[]`, `no JSON`, ``} {
		if _, err := search("x", 8); err == nil || tools.AsError(err).Code != tools.Unavailable {
			t.Errorf("%q: %v", answer, err)
		}
	}

	asked = nil
	for _, bad := range []string{"the password hunter2", "  "} {
		if _, err := search(bad, 8); err == nil || asked != nil {
			t.Errorf("%q was sent (%v)", bad, err)
		}
	}
	for what, s := range map[string]SearchSettings{
		"no {query}":            {Provider: JSON, URL: "https://ok.test/"},
		"no address":            {Provider: JSON},
		"a key without https":   {Provider: JSON, URL: "http://ok.test/{query}", Key: "k"},
		"an address inside":     {Provider: JSON, URL: "http://127.0.0.1:8080/{query}"},
		"another provider":      {Provider: "altavista"},
		"a name leading inside": {Provider: JSON, URL: "http://in.test/{query}"},
	} {
		in.names.(*names).answers["in.test"] = [][]string{{"127.0.0.1"}}
		set = s
		if _, err := search("x", 8); err == nil || asked != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	// The model has chosen no address that it could check.
	set = SearchSettings{Provider: JSON, URL: "https://absent.test/{query}"}
	if _, err := search("x", 8); err == nil || tools.AsError(err).Code != tools.Unavailable || strings.Contains(err.Error(), "address") {
		t.Errorf("without a network: %v", err)
	}
}

// TestKeyHeader: a key is sent as the header that it names, else as Brave's.
func TestKeyHeader(t *testing.T) {
	for key, want := range map[string][2]string{
		"k1":                      {"X-Subscription-Token", "k1"},
		"X-API-Key: k1":           {"X-Api-Key", "k1"},
		"Authorization: Bearer k": {"Authorization", "Bearer k"},
		"a:b":                     {"X-Subscription-Token", "a:b"},
	} {
		p, err := SearchSettings{Provider: JSON, URL: "https://ok.test/{query}", Key: key}.provider()
		if err != nil || p.header.Get(want[0]) != want[1] || len(p.header) != 2 {
			t.Errorf("%q: %v, %v", key, p.header, err)
		}
	}
}
