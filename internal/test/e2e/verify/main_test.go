package verify_test

import (
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
