package web

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed web_fetch.md
var webFetchDoc string

// fetchMargin is how much longer than the fetch a call may take: for the
// conversion, so that the fetch's own, clearer error is the one that is told.
const fetchMargin = 10 * time.Second

type webFetchArgs struct {
	URL    string `json:"url" jsonschema:"http(s) address" minLength:"1"`
	Format string `json:"format,omitempty" jsonschema:"what to return" enum:"markdown,text,html" default:"markdown"`
}

// fetched is the structured result of web_fetch.
type fetched struct {
	URL         string `json:"url" jsonschema:"where the page came from in the end"`
	ContentType string `json:"contentType" jsonschema:"as the server says"`
	Title       string `json:"title,omitempty" jsonschema:"of the page"`
	Bytes       int    `json:"bytes" jsonschema:"as fetched, decompressed"`
}

func newWebFetch(c *client, d Deps) *tools.Tool {
	t := tools.NewRead(tools.Def{
		Name: "web_fetch", Title: "Fetch a web page", Example: `{"url": "https://go.dev/doc/effective_go"}`, Description: webFetchDoc, Category: category, Tags: []string{"http", "request", "url", "download"}, Untrusted: true, Network: true, Timeout: fetchTime + fetchMargin,
		Output: fetched{},
	}, func(ctx context.Context, _ *tools.Call, in webFetchArgs) (tools.Result, error) {
		return webFetch(ctx, c, in)
	})
	return tools.Before(t, func(in webFetchArgs) (tools.Effects, error) {
		to, err := parseTarget(in.URL)
		if err != nil {
			return tools.Effects{}, err
		}
		meant, err := url.QueryUnescape(in.URL)
		if err != nil {
			meant = in.URL
		}
		if d.carriesSecret(in.URL, meant) {
			return tools.Effects{}, tools.Errorf(tools.Denied, "url: carries what looks like a secret, which would leave the machine; leave it out")
		}
		return tools.Effects{Hosts: []string{to.name()}}, nil
	})
}

func webFetch(ctx context.Context, c *client, in webFetchArgs) (tools.Result, error) {
	to, err := parseTarget(in.URL)
	if err != nil {
		return tools.Result{}, err
	}
	a, err := c.get(ctx, to, http.Header{"Accept": {"text/html, text/markdown;q=0.9, text/*;q=0.8, application/json;q=0.7, */*;q=0.1"}})
	if err != nil {
		return tools.Result{}, err
	}
	text, err := a.text()
	if err != nil {
		return tools.Result{}, err
	}
	info := fetched{URL: a.from.url.String(), ContentType: a.kind, Bytes: len(a.body)}
	if !a.isHTML() || in.Format == "html" {
		return tools.Result{Text: orEmpty(text), Structured: info}, nil
	}
	p, err := parsePage(text)
	if err != nil {
		return tools.Result{}, err
	}
	info.Title = p.title
	if in.Format == "text" {
		text = p.text()
	} else if text, err = p.markdown(a.from.url.String()); err != nil {
		return tools.Result{}, err
	}
	text = orEmpty(text)
	if p.title != "" {
		text = p.title + "\n\n" + text
	}
	if p.cut {
		text += fmt.Sprintf("\n\n(only the first %d MB of the page were read)", maxHTML>>20)
	}
	return tools.Result{Text: text, Structured: info, Truncated: p.cut}, ctx.Err()
}

func orEmpty(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(the page has no text)"
	}
	return text
}
