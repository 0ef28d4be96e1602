package shells

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

const printing = "SIDECAR_TEST_PRINTS"

func TestMain(m *testing.M) {
	if os.Getenv(printing) != "" { // a program of old
		_, _ = os.Stdout.Write([]byte("gr\x94\x81e\r\n"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestCodePage: this system has a code page that there is a table for, and what a
// program prints in it comes through. 437 and 850 have these letters at the same place.
func TestCodePage(t *testing.T) {
	page := CodePage()
	if pages(page) == nil {
		t.Fatalf("page %d", page)
	}
	if page != 437 && page != 850 {
		needs.Skip(t, needs.Windows, fmt.Sprintf("page %d has other letters there", page))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), printing+"=1")
	var b bytes.Buffer
	d := Decode(&b, page)
	cmd.Stdout = d
	if err := proctree.Run(cmd); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil || b.String() != "gröüe\r\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
