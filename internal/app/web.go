package app

import (
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/worker"
	"github.com/sidecar-ls/sidecar-ls/tools/web"
)

// web is what the tools need that look outside.
func (c *core) web(self string, hide *redact.Redactor) web.Deps {
	return web.Deps{
		Search: func() web.SearchSettings {
			set := c.settings.Now()
			return web.SearchSettings{
				Provider: set.String("web.search.provider"), URL: set.String("web.search.url"),
				Key: set.String("web.search.key"), KeyHeader: set.String("web.search.keyHeader"),
			}
		},
		PDF:    worker.PDF(self),
		Secret: func(text string) bool { return hide.Text(text) != text },
	}
}
