package app

import (
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/tools/web"
)

// web is what the tools need that look outside. The key of a search is hidden
// from then on wherever it might show.
func (c *core) web(hide *redact.Redactor) web.Deps {
	return web.Deps{
		Search: func() web.SearchSettings {
			set := c.settings.now.Load()
			s := web.SearchSettings{
				Provider: set.String("web.search.provider"), URL: set.String("web.search.url"),
				Key: set.String("web.search.key"), KeyHeader: set.String("web.search.keyHeader"),
			}
			hide.AddKnown(s.Key)
			return s
		},
		Secret: func(text string) bool { return hide.Text(text) != text },
	}
}
