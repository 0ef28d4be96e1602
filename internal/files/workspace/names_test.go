package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/symlink"
)

func TestProtected(t *testing.T) {
	for want, names := range map[Protection][]string{
		Never: {
			".git", ".git/config", ".git/hooks/pre-commit", "sub/.git/config", "sub/.git",
			".GIT/config", ".Git/hooks/x", ".git./config", ".git /config", ".git. . /config", "git~1/config", "GIT~1",
			"git~2/x", "gi7eb5~1/config", ".g\u200cit/config", ".gi\u200dt", "\ufeff.git/config", ".git\u2060/x", ".g\u00adit",
			".git\ufe0f/config", ".git::$INDEX_ALLOCATION/config", ".git:stream", `.git\config`, `a\.git\config`, ".gİt/config",
			"．ｇｉｔ/config", ".git/x", " .git/config", ".git\t/config",
			".sidecar", ".sidecar/settings.json", ".sidecar/logs/x", ".sidecar/cache/a/b", ".sidecar/shadows/x",
			".SideCar/settings.json", ".ſidecar/settings.json", "sideca~1/settings.json", ".sidecar./x", "sub/.sidecar/settings.json",
			".sidecar/toolsx/a", ".sidecar/tools/.git/config",
		},
		AskFirst: {
			".sidecar/tools/x.sh", ".sidecar/kits/x.yaml", ".sidecar/skills/a/SKILL.md", ".sidecar/tools",
			".vscode/tasks.json", ".VSCode/settings.json", "a/b/.vscode/launch.json", ".vscode", "vscode~1/tasks.json", ".idea/workspace.xml",
			".mcp.json", "sub/.mcp.json", ".MCP.json", ".cursor/mcp.json", ".cUrSoR/mcp.json", "mcp~1.jso",
			".husky/pre-commit", ".githooks/pre-push", ".bashrc", ".zshrc", ".profile", "home/.bash_profile", ".envrc",
			".gitmodules", ".gitconfig", "x.code-workspace", ".pre-commit-config.yaml", "Microsoft.PowerShell_profile.ps1",
			".config/fish/config.fish", ".ssh/config", ".npmrc", ".claude/settings.json",
			".github/workflows/ci.yml", ".GitHub/Workflows/ci.yml", "sub/.github/workflows/x", ".github/workflows", ".github/actions/a/action.yml",
			".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "azure-pipelines.yml", ".forgejo/workflows/x.yml",
		},
		NotProtected: {
			".", "a.txt", "src/main.go", ".gitignore", ".gitattributes", ".github/CODEOWNERS", ".github/dependabot.yml", "github/workflows/x", "workflows/x", "actions/x", "jenkinsfile.go", "git/config", ".gitx/a",
			"x.git/config", "git.go", "sidecar/settings.json", ".sidecarignore", "vscode/x", "mcp.go", "src/hooks/useX.ts",
			"profile.go", "git~x", "git~", "a~1", ".git2", "envrc", "idea.md", "gitcon~a",
		},
	} {
		for _, name := range names {
			if got := Protected(name); got != want {
				t.Errorf("%q: %d, want %d", name, got, want)
			}
		}
	}
}

func TestSensitive(t *testing.T) {
	for want, names := range map[bool][]string{
		true: {
			".env", ".env.local", ".env.production", "sub/.env", ".ENV", ".Env.Local", ".env.", ".env ", ".e\u200bnv", ".env::$DATA",
			"env~1", "ENV~1.LOC", ".envrc", "prod.env", ".env.example.local", ".env-prod",
			"server.pem", "SERVER.PEM", "tls.key", "a/b/c.p12", "x.pfx", "x.jks", "id_rsa", "id_rsa.old", "id_ed25519", "keys/id_ecdsa",
			".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", "credentials.json", "credentials", "creden~1.jso",
			".aws/credentials", ".aws/config", ".ssh/config", ".ssh/anything", "home/.ssh/known_hosts.old", ".gnupg/secring.gpg",
			".docker/config.json", ".kube/config", "secrets.yaml", "secret.json", "SECRETS.YML", "token.json", ".secret",
			"service-account.json", "my_service_account_prod.json", "serviceaccount.json", "client_secret_1.json",
			"prod.tfvars", "terraform.tfstate", ".htpasswd", `a\.env`, "．env",
		},
		false: {
			".", "a.txt", ".env.example", ".env.sample", ".env.template", "sub/.env.EXAMPLE", "id_rsa.pub", ".ssh/id_rsa.pub", ".ssh/known_hosts",
			"env.go", "environment.ts", "keys.go", "key.txt", "secrets.go", "secret/readme.md", "credentials.go", "token.go", "tokens.json",
			"package.json", "config.json", ".kube/readme", ".gitignore", ".env/bin/python", "pem.md", "monkey.md", ".npmignore", "docker/config.json",
		},
	} {
		for _, name := range names {
			if got := Sensitive(name); got != want {
				t.Errorf("%q: %v, want %v", name, got, want)
			}
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{".git", `a\.GIT . /x`, "．ｇｉｔ:x", "git~1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, b := fold(s), fold(fold(s)); Protected(a) != Protected(b) {
			t.Errorf("%q folds to %q, that to %q", s, a, b)
		}
		_, _ = Sensitive(s), looksLikeDots(s) // neither panics
	})
}

func TestGuard(t *testing.T) {
	d, dir := openTest(t, DiskOptions{}, map[string]string{
		"a.txt": "a", ".env": "SECRET", "keys/server.pem": "SECRET", "allowed/.env": "open", "sub/.ssh/config": "SECRET", "sub/b.txt": "b",
	})
	for link, target := range map[string]string{"plain": ".env", "chain": "plain", "fine": "a.txt", "sub/up": "../keys/server.pem", "dir": "sub/.ssh", "keydir": "keys"} {
		symlink.Make(t, target, filepath.Join(dir, link))
	}
	pending := layer{"new/.env": text("SECRET"), "keys/other.pem": text("SECRET"), "b.txt": text("b")}
	// Views lie in structs of other packages, which must not hide the links.
	guarded := Guard(struct{ Files }{NewOverlay(struct{ Files }{d}, pending)}, func(name string) bool { return strings.HasPrefix(name, "allowed/") })

	for _, name := range []string{
		".env", "keys/server.pem", "plain", "chain", "sub/up", "sub/.ssh/config", "dir/config", "keydir/server.pem",
		"new/.env", "keys/other.pem", "keydir/other.pem",
	} {
		if data, err := guarded.ReadFile(name); !errors.Is(err, ErrSensitive) || len(data) > 0 {
			t.Errorf("read %s: %q, %v", name, data, err)
		}
		if _, err := guarded.Open(name); !errors.Is(err, ErrSensitive) {
			t.Errorf("open %s: %v", name, err)
		}
		if _, err := guarded.Stat(name); !errors.Is(err, ErrSensitive) {
			t.Errorf("stat %s: %v", name, err)
		}
		if err := guarded.Walk(t.Context(), WalkOptions{Dir: name, Hidden: true}, func(e *Entry) error {
			t.Errorf("walk from %s visits %s", name, e.Path)
			return nil
		}); !errors.Is(err, ErrSensitive) {
			t.Errorf("walk from %s: %v", name, err)
		}
	}
	for _, name := range []string{"a.txt", "fine", "allowed/.env", "sub/b.txt", "b.txt"} {
		if _, err := guarded.ReadFile(name); err != nil {
			t.Errorf("control: %s: %v", name, err)
		}
	}
	for dir, want := range map[string][]string{
		".":      {"a.txt", "allowed", "b.txt", "dir", "fine", "keydir", "keys", "new", "sub"},
		"keys":   nil,
		"keydir": nil,
		"sub":    {".ssh", "b.txt"},
		"dir":    nil,
		"new":    nil,
	} {
		if diff := cmp.Diff(want, list(t, guarded, dir)); diff != "" {
			t.Errorf("list %s (-want +got):\n%s", dir, diff)
		}
	}
	for dir, want := range map[string][]string{
		"":       {"a.txt", "allowed/.env", "b.txt", "sub/b.txt"},
		"dir":    nil,
		"keydir": nil,
		"a.txt":  {"a.txt"},
	} {
		got := visited(t, guarded, WalkOptions{Dir: dir, Hidden: true})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("walk %q (-want +got):\n%s", dir, diff)
		}
	}
}

// layer is a Layer; a nil text deletes.
type layer map[string][]byte

func (l layer) Lookup(name string) (data []byte, deleted, ok bool) {
	data, ok = l[name]
	return data, ok && data == nil, ok
}

func (l layer) Names() []string {
	var names []string
	for name := range l {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func list(t *testing.T, files Files, dir string) []string {
	t.Helper()
	entries, err := files.ReadDir(dir)
	if err != nil {
		t.Errorf("list %s: %v", dir, err)
	}
	if !slices.IsSortedFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }) {
		t.Errorf("%s is out of order", dir)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func visited(t *testing.T, files Files, opts WalkOptions) []string {
	t.Helper()
	var mu sync.Mutex
	var names []string
	if err := files.Walk(t.Context(), opts, func(e *Entry) error {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, e.Path)
		return nil
	}); err != nil {
		t.Errorf("walk %q: %v", opts.Dir, err)
	}
	slices.Sort(names)
	return names
}
