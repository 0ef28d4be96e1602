// Package servers finds the language servers that tests run.
package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// Gopls is the path of gopls, as make test has installed it.
func Gopls(t testing.TB) string { return find(t, "gopls", "gopls") }

// TypeScript is the path of typescript-language-server.
func TypeScript(t testing.TB) string {
	return find(t, "typescript", "node_modules", ".bin", "typescript-language-server")
}

// find looks where internal/langserver/testdata/setup.sh puts things.
func find(t testing.TB, parts ...string) string {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(name); err != nil {
		needs.Skip(t, needs.Servers, fmt.Sprintf("%s is not here; make test installs it", parts[len(parts)-1]))
	}
	return name
}

// Dir is where they are.
func Dir() (string, error) {
	if dir := os.Getenv("SIDECAR_SERVERS"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "sidecar-servers"), err
}
