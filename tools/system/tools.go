// Package system has the tools that concern the server itself.
package system

import "github.com/sidecar-ls/sidecar-ls/tools"

// Deps is what the tools of this family work with.
type Deps struct {
	Pages    Pager
	Catalog  Catalog
	Settings Settings
	Backends Backends
}

// Tools are the tools of this family.
func Tools(d Deps) []*tools.Tool {
	return []*tools.Tool{
		readResult(d.Pages), toolSearch(d.Catalog),
		getSetting(d.Settings), updateSetting(d.Settings), switchBackend(d.Backends),
		systemMonitor(findGPUs),
	}
}
