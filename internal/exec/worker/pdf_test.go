package worker

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/tools/web"
)

// TestPDFTakesLong: a reader that does not end is ended.
func TestPDFTakesLong(t *testing.T) {
	hangs := filepath.Join(t.TempDir(), "hangs")
	if err := ownfile.WriteFile(hangs, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := pdfWithin(hangs, 100*time.Millisecond)(t.Context(), []byte("%PDF-1.4"), []int{1})
	if !errors.Is(err, web.ErrPDF) || !strings.Contains(err.Error(), "takes longer than 100ms") {
		t.Errorf("it says %v", err)
	}
}
