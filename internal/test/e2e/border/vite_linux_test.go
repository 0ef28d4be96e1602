package border_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// page is a small project of Vite's.
var page = map[string]string{
	".gitignore":   "node_modules/\ndist/\n",
	"package.json": "{\"name\": \"page\", \"private\": true, \"type\": \"module\"}\n",
	"index.html":   "<title>vite works</title>\n<script type=\"module\" src=\"/main.js\"></script>\n",
	"main.js":      "document.title += ', before'\n",
}

// TestVite: a dev server runs without a network, on the session's localhost, and serves pending
// text. Other commands of the session reach it, others don't, and a build beside it works.
func TestVite(t *testing.T) {
	slow.Test(t)
	// This says only whether it can be tried: the command finds node by its own PATH.
	if _, err := exec.LookPath("node"); err != nil {
		needs.Skip(t, needs.Programs, "node")
	}
	modules := clients.Vite(t)
	dir := project(t, e2e.Object{"sandbox.network": "none"})
	commit(t, dir, page)
	if err := os.CopyFS(filepath.Join(dir, "node_modules"), os.DirFS(modules)); err != nil {
		t.Fatal(err)
	}
	r := serve(t, dir)
	complete(r)

	const vite = "node node_modules/vite/bin/vite.js "
	if res := r.Tool("run_command", e2e.Object{"command": vite + "--port 5173 --strictPort", "background": true}); !res.OK {
		t.Fatal(res.Content)
	}
	r.Shows("command_output", e2e.Object{"id": "bg1", "wait_s": 120, "pattern": "ready in"}, "ready in")
	get := func(path string) string {
		return "node -e \"fetch('http://localhost:5173" + path + "').then(r => r.text()).then(console.log)\""
	}
	r.Ran(get("/"), "vite works", "/@vite/client")
	r.Ran(get("/main.js"), ", before")
	r.Tool("write_file", e2e.Object{"path": "main.js", "content": "document.title += ', after'\n"})
	r.IsQueued("main.js")
	r.Shows("command_output", e2e.Object{"id": "bg1", "wait_s": 60, "pattern": "page reload"}, "main.js")
	r.Ran(get("/main.js"), ", after")
	r.Ran(vite+"build", "built in")
	if res, err := http.Get("http://localhost:5173/"); err == nil { // another program of this machine may have that port
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if strings.Contains(string(body), "vite works") {
			t.Error("it is reached from outside of the session")
		}
	}
	r.Ran(get("/"), "vite works") // while it still runs
	if data, err := os.ReadFile(filepath.Join(dir, "main.js")); err != nil || string(data) != page["main.js"] {
		t.Errorf("on the disk is %q, %v", data, err)
	}
	if asked := r.Asked(); len(asked) > 0 {
		t.Errorf("it asked: %q", asked)
	}
}
