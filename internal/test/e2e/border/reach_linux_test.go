package border_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestReach: a command reaches a host by its name after one question, in the same session and
// in no other.
func TestReach(t *testing.T) {
	slow.Test(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "here is", r.Host) }))
	defer site.Close()
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"sidecar.sandbox.network": []any{"ask", e2e.Object{"host": "packages.example.org", "private": true, "ask": true, "address": site.Listener.Addr().String()}}})
	dir := e2e.WorldProject(t, "auto", map[string]string{"a.txt": "one\n"})
	r := e2e.WorldInAsking(t, dir)
	r.Mode("review")
	const line = "curl -sS http://packages.example.org/x"
	r.Choose("Deny", "Deny")
	t.Log(r.Tool("run_command", e2e.Object{"command": line}).Content, r.Asked())
	r.Choose("Allow for session", "Allow for session")
	t.Log(r.Tool("run_command", e2e.Object{"command": "getent hosts packages.example.org; cat /etc/resolv.conf; env | grep PROXY; " + line}).Content, strings.Join(r.Asked(), "\n---\n"))
}
