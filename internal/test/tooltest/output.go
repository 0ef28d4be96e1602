package tooltest

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Fits fails a test whose call of tool gave another structured part than the
// tool declares, be it of a success or of a failure.
func Fits(t testing.TB, tool *tools.Tool, r tools.Result, err error) {
	t.Helper()
	if err := fits(tool, r, err); err != nil {
		t.Errorf("a result is not as its tool declares: %v", err)
	}
}

func fits(tool *tools.Tool, r tools.Result, err error) error {
	if err != nil {
		return tool.Fits(tools.AsError(err).Structured)
	}
	return tool.Fits(r.Structured)
}
