// Package system has the tools that concern the server itself.
package system

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Deps is what the tools of this family work with.
type Deps struct {
	Pages    Pager
	Catalog  Catalog
	Settings Settings
	Backends Backends
	Programs Programs // finds what is asked for graphics processors
}

// Tools are the tools of this family.
func Tools(d Deps) []*tools.Tool {
	return []*tools.Tool{
		readResult(d.Pages), toolSearch(d.Catalog),
		getSetting(d.Settings), updateSetting(d.Settings), switchBackend(d.Backends),
		systemMonitor(func(ctx context.Context) []GPU { return findGPUs(ctx, d.Programs) }),
	}
}
