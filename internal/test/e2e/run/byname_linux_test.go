package run_test

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// TestAgentsByName: agents in a network of their session reach their model by its name, unasked,
// which is written down; a host that their commands want is asked about, and not reached where
// nobody answers.
func TestAgentsByName(t *testing.T) {
	slow.Test(t)
	for _, alone := range clients.Alone[:2] {
		t.Run(alone.Name, func(t *testing.T) {
			path := alone.Find(t)
			program.ServerAnywhere(t)
			t.Setenv("HOME", t.TempDir())
			var model atomic.Pointer[url.URL]
			forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(model.Load()) }}
			front := httptest.NewServer(forward)
			t.Cleanup(front.Close)
			listed := e2e.Object{"host": "model.example.org", "private": true, "ask": false, "address": front.Listener.Addr().String()}
			other := e2e.Object{"host": "other.example.org", "private": true, "ask": true, "address": front.Listener.Addr().String()}
			r := e2e.RunIn(t, e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "one\ntwo\n"}, e2e.Object{"sandbox.network": []any{"ask", listed, other}}))
			o := clients.Options{Path: path, Dir: r.Dir, Home: os.Getenv("HOME"), In: []string{program.ServerAnywhere(t), "run", "--root", r.Dir, "--yes", "--profile", map[string]string{"Claude Code": "claude", "Codex": "codex"}[alone.Name], "--session", "agent", "--"}}
			o.By = func(at string) string {
				to, err := url.Parse(at)
				if err != nil {
					t.Fatal(err)
				}
				model.Store(to)
				return "http://model.example.org"
			}
			for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
				o.Env = append(o.Env, name+"="+os.Getenv(name))
			}
			c := alone.Start(t, o)
			does := e2e.Hands[map[string]string{"Claude Code": "claude", "Codex": "codex"}[alone.Name]]
			does.Write(c.Turn(), filepath.Join(r.Dir, "written.txt"))
			r.Choose("Deny")
			does.Shell(c.Turn(), "curl -sS -m 20 http://other.example.org/; echo; cat written.txt")
			turn := c.Turn()
			if !strings.Contains(turn.Result, "written") || !strings.Contains(turn.Result, "sidecar-ls: ") {
				t.Errorf("the agent saw %q", turn.Result)
			}
			turn.Say("Done.")
			c.Wait()
			e2e.Until(t, "what the agent wrote never was pending", func() bool { return slices.Equal(r.Queued(), []string{"written.txt"}) })
			e2e.Until(t, "its model is not written down", func() bool {
				return slices.ContainsFunc(e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{}).Effects, func(e effects.Effect) bool {
					return e.Kind == effects.Network && strings.Contains(e.What, " reached model.example.org: ")
				})
			})
			if asked := r.Asked(); len(asked) != 1 || !strings.Contains(asked[0], "curl wants other.example.org") {
				t.Errorf("asked: %q", asked)
			}
		})
	}
}
