package gittest

import (
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// Serve serves the repositories below a directory over http, by git's own
// server, to those whom may accepts. It skips the test where git has none.
func Serve(t testing.TB, dir string, may func(user, password string) bool) (url string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		needs.Skip(t, needs.Git, "there is no git http-backend")
	}
	git := &cgi.Handler{Path: backend, Stderr: io.Discard, Dir: dir, Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=user", "HOME=" + os.Getenv("HOME")}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if user, password, _ := req.BasicAuth(); !may(user, password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		git.ServeHTTP(w, req)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
