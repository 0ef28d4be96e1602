package commands

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// The connection refuses such messages whole; the decoder does not rely on it.
func TestDoubledMember(t *testing.T) {
	var a setModeArgs
	err := decode(json.RawMessage(`{"mode":"plan","mode":"review"}`), members(reflect.TypeFor[setModeArgs]()), &a)
	var e *lsp.Error
	if !errors.As(err, &e) || e.Code != lsp.InvalidParams || !strings.Contains(err.Error(), "mode") {
		t.Errorf("got %v", err)
	}
}
