package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// The providers of searches.
const (
	DuckDuckGo = "duckduckgo" // its HTML page; needs no key
	JSON       = "json"       // an endpoint of the user's choice
)

// SearchSettings say where searches go.
type SearchSettings struct {
	Provider string
	URL      string // of JSON: the endpoint, with {query} and, if it can be told, {count}
	Key      string // "" for none; "Name: key" is sent as that header
}

// provider is how a search is asked, and its answer read.
type provider struct {
	address func(query string, count int) string
	header  http.Header
	read    func(text string) ([]hit, error)
}

func (s SearchSettings) provider() (provider, error) {
	switch s.Provider {
	case DuckDuckGo:
		return provider{
			address: func(query string, _ int) string {
				return "https://html.duckduckgo.com/html/?q=" + url.QueryEscape(query)
			},
			header: http.Header{"Accept": {"text/html"}},
			read:   readDuckDuckGo,
		}, nil
	case JSON:
		return s.json()
	}
	return provider{}, tools.Errorf(tools.Unavailable, "there is no search provider %q; tell the user to check the setting web.search.provider", s.Provider)
}

func (s SearchSettings) json() (provider, error) {
	p := provider{header: http.Header{"Accept": {"application/json"}}, read: readJSON}
	if !strings.Contains(s.URL, "{query}") {
		return p, tools.Errorf(tools.Unavailable, "the setting web.search.url has no {query}; tell the user to set it, such as https://search.example.org/search?q={query}&format=json")
	}
	if s.Key != "" {
		if !strings.HasPrefix(s.URL, "https://") {
			return p, tools.Errorf(tools.Unavailable, "web.search.key is only sent over https; tell the user to change the setting web.search.url")
		}
		name, key := keyHeader(s.Key)
		p.header.Set(name, key)
	}
	p.address = func(query string, count int) string {
		return strings.NewReplacer("{query}", url.QueryEscape(query), "{count}", strconv.Itoa(count)).Replace(s.URL)
	}
	return p, nil
}

// headed is a key with the header that it is sent as.
var headed = regexp.MustCompile(`^([A-Za-z0-9-]+): +(.+)$`)

// keyHeader is the header that a key is sent as; Brave's where it names none.
func keyHeader(key string) (name, value string) {
	if m := headed.FindStringSubmatch(key); m != nil {
		return m[1], m[2]
	}
	return "X-Subscription-Token", key
}

// jsonHit is a result as SearXNG (content) and Brave (description) write it.
type jsonHit struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Content     string `json:"content"`
	Description string `json:"description"`
	Snippet     string `json:"snippet"`
}

// readJSON reads {"results": […]}, as of SearXNG, or {"web": {"results": […]}},
// as of Brave.
func readJSON(text string) ([]hit, error) {
	var doc struct {
		Results []jsonHit `json:"results"`
		Web     *struct {
			Results []jsonHit `json:"results"`
		} `json:"web"`
	}
	err := json.Unmarshal([]byte(text), &doc)
	if err != nil || doc.Results == nil && doc.Web == nil {
		return nil, tools.Errorf(tools.Unavailable, "the search service did not answer with results in JSON; tell the user to check the setting web.search.url")
	}
	all := doc.Results
	if doc.Web != nil {
		all = append(all, doc.Web.Results...)
	}
	var hits []hit
	for _, r := range all {
		text := r.Content
		for _, other := range []string{r.Description, r.Snippet} {
			if text == "" {
				text = other
			}
		}
		hits = addHit(hits, r.Title, r.URL, text)
	}
	return hits, nil
}

// addHit adds a result that leads somewhere, once.
func addHit(hits []hit, title, address, snippet string) []hit {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		slices.ContainsFunc(hits, func(h hit) bool { return h.URL == address }) {
		return hits
	}
	return append(hits, hit{Title: oneLine(title), URL: address, Snippet: oneLine(snippet)})
}

// maxField bounds a title or snippet in bytes.
const maxField = 500

// oneLine is text without its tags and line breaks.
func oneLine(text string) string {
	if strings.ContainsAny(text, "<&") {
		if n, err := html.Parse(strings.NewReader(text)); err == nil {
			text = plainText(n)
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxField {
		text = strings.ToValidUTF8(text[:maxField], "") + "…"
	}
	return text
}

// readDuckDuckGo reads the results of its page without scripts: links of the
// class result__a, each with a text of the class result__snippet.
func readDuckDuckGo(text string) ([]hit, error) {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, tools.Errorf(tools.Unavailable, "the search service's page can't be read: %v", err)
	}
	links := classed(root, "result__a")
	if len(links) == 0 && len(classed(root, "no-results")) == 0 {
		return nil, tools.Errorf(tools.Unavailable, "the search service gave no results but something else, perhaps a question whether a person asks; wait, or tell the user to set web.search.provider")
	}
	var hits []hit
	for _, a := range links {
		box := a.Parent
		for box != nil && !hasClass(box, "result") {
			box = box.Parent
		}
		if box == nil || hasClass(box, "result--ad") {
			continue
		}
		snippet := ""
		if s := classed(box, "result__snippet"); len(s) > 0 {
			snippet = plainText(s[0])
		}
		hits = addHit(hits, plainText(a), unwrapped(attribute(a, "href")), snippet)
	}
	return hits, nil
}

// unwrapped is where a link of the page leads: the parameter uddg of those
// that go through the service.
func unwrapped(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		return to
	}
	return href
}

func classed(root *html.Node, class string) []*html.Node {
	var list []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom != atom.Script && hasClass(n, class) {
			list = append(list, n)
		}
	}
	return list
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
