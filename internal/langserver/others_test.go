package langserver

import (
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

var everything = flag.Bool("everything", false, "also run language servers that make test does not install")

// TestOthers asks the servers that are on PATH, if they are, about a file that is right,
// a pending edit that is not, and where something is defined.
func TestOthers(t *testing.T) {
	slow.Sweep(t, *everything)
	for _, c := range []struct {
		server, program string
		files           map[string]string
		name, broken    string
		problem         string // of broken
		at              Position
		defined         string
	}{
		{
			"pyright", "pyright-langserver --stdio",
			map[string]string{"lib.py": "def title() -> str:\n    return 'x'\n", "main.py": "from lib import title\n\nname: str = title()\n"},
			"main.py", "from lib import title\n\nname: int = title()\n", "3:13 error",
			Position{Name: "main.py", Line: 3, Symbol: "title"}, "lib.py:1",
		},
		{
			"clangd", "clangd --background-index=false",
			map[string]string{"lib.h": "int size(void);\n", "main.c": "#include \"lib.h\"\n\nint main(void) { return size(); }\n"},
			"main.c", "#include \"lib.h\"\n\nint main(void) { return size(1, 2); }\n", "3:30 error",
			Position{Name: "main.c", Line: 3, Symbol: "size"}, "lib.h:1",
		},
		{
			"rust-analyzer", "rust-analyzer",
			map[string]string{
				"Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n",
				"src/lib.rs": "mod size;\n\npub fn twice() -> i32 {\n    2 * size::size()\n}\n", "src/size.rs": "pub fn size() -> i32 {\n    1\n}\n",
			},
			"src/lib.rs", "mod size;\n\npub fn twice() -> i32 {\n    2 * size::size(\n}\n", ":4:",
			Position{Name: "src/lib.rs", Line: 4, Symbol: "size"}, "src/size.rs:1",
		},
	} {
		t.Run(c.server, func(t *testing.T) {
			argv := strings.Fields(c.program)
			found, err := exec.LookPath(argv[0])
			if err == nil && c.server == "rust-analyzer" {
				err = exec.CommandContext(t.Context(), found, "--version").Run() // rustup has a stand-in for it
			}
			if err != nil {
				needs.Skip(t, needs.Servers, err)
			}
			argv[0] = found
			p := newPool(t, map[string][]string{c.server: argv}, nil)
			w := newProject(t, c.files)
			if got := diagnose(t, p, w, c.name); got != "" {
				t.Errorf("what is right: %s", got)
			}
			w.propose(c.name, c.broken)
			if got := diagnose(t, p, w, c.name); !strings.Contains(got, c.problem) {
				t.Errorf("what is not: %s", got)
			}
			w.reject(c.name)
			where, err := p.Definition(within(t, time.Minute), w, c.at)
			if err != nil || len(where) != 1 || fmt.Sprintf("%s:%d", where[0].Path, where[0].Line) != c.defined {
				t.Errorf("defined: %+v, %v", where, err)
			}
		})
	}
}
