package web

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed web_search.md
var webSearchDoc string

type webSearchArgs struct {
	Query string `json:"query" jsonschema:"what to look for" minLength:"1" maxLength:"400"`
	Count int    `json:"count,omitempty" jsonschema:"most results" default:"8" minimum:"1" maximum:"20"`
}

// hit is one result of a search.
type hit struct {
	Title   string `json:"title" jsonschema:"of the page"`
	URL     string `json:"url" jsonschema:"of the page"`
	Snippet string `json:"snippet" jsonschema:"what the page says of it"`
}

// found is the structured result of web_search.
type found struct {
	Provider string `json:"provider" jsonschema:"the service that was asked"`
	Results  []hit  `json:"results" jsonschema:"the best first"`
}

func newWebSearch(c *client, d Deps) *tools.Tool {
	t := tools.NewRead(tools.Def{
		Name: "web_search", Title: "Search the web", Example: `{"query": "go context cancellation"}`, Description: webSearchDoc, Category: category, Untrusted: true, Network: true, Timeout: fetchTime + fetchMargin, Names: []string{"web_fetch"},
		Output: found{},
	}, func(ctx context.Context, _ *tools.Call, in webSearchArgs) (tools.Result, error) {
		return webSearch(ctx, c, d.Search(), in)
	})
	return tools.Before(t, func(in webSearchArgs) (tools.Effects, error) {
		if strings.TrimSpace(in.Query) == "" {
			return tools.Effects{}, tools.Errorf(tools.InvalidArguments, "query: is empty; say what to look for")
		}
		if d.carriesSecret(in.Query) {
			return tools.Effects{}, tools.Errorf(tools.Denied, "query: carries what looks like a secret, which would leave the machine; leave it out")
		}
		return tools.Effects{}, nil
	})
}

func webSearch(ctx context.Context, c *client, set SearchSettings, in webSearchArgs) (tools.Result, error) {
	p, err := set.provider()
	if err != nil {
		return tools.Result{}, err
	}
	to, err := parseTarget(p.address(in.Query, in.Count))
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.Unavailable, "the search service can't be used: %v; tell the user to check the setting web.search.url", err)
	}
	a, err := c.get(ctx, to, p.header)
	if err != nil {
		if ctx.Err() != nil {
			return tools.Result{}, ctx.Err()
		}
		if e := tools.AsError(err); e.Code != tools.NotFound {
			said := *e
			said.Message = "the search service failed: " + e.Message
			return tools.Result{}, &said
		}
		return tools.Result{}, tools.Errorf(tools.Unavailable, "the search service can't be found (%s); there may be no network: go on without it", to.host)
	}
	text, err := a.text()
	if err != nil {
		return tools.Result{}, err
	}
	hits, err := p.read(text)
	if err != nil {
		return tools.Result{}, err
	}
	hits = hits[:min(len(hits), in.Count)]
	var b strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, h.Title, h.URL)
		if h.Snippet != "" {
			fmt.Fprintf(&b, "   %s\n", h.Snippet)
		}
	}
	if len(hits) == 0 {
		b.WriteString("Nothing was found. Try fewer or other words.\n")
		hits = []hit{}
	}
	return tools.Result{Text: b.String(), Structured: found{Provider: set.Provider, Results: hits}}, nil
}
