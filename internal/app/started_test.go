package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// starters are the files that start processes, with where each has its program from: a
// bare name would be looked for on PATH, also in the workspace.
var starters = map[string]string{
	"internal/agents/adapter/adapter.go":                  "lookup finds npm",
	"internal/agents/evals/tree.go":                       "lookup finds git",
	"internal/git/gitrepo/gitcmd/command.go":              "lookup finds git",
	"internal/git/gitrepo/gitcmd/settings.go":             "it is given what command.go found",
	"internal/doors/handover/streams_unix.go":             "this program, by the path that the system gives",
	"internal/doors/handover/streams_windows.go":          "likewise",
	"internal/sys/keyring/keyring.go":                     "lookup finds it",
	"internal/box/sandbox/mount/attach_linux.go":          "inside the sandbox",
	"internal/box/sandbox/probe/attempts_kernel_linux.go": "this program, by /proc",
	"internal/box/sandbox/bare_other.go":                  "what confines has it from lookup, or a command's own PATH",
	"internal/box/sandbox/rights/confine_linux.go":        "inside the sandbox",
	"internal/box/sandbox/keeper/keep_linux.go":           "the path of bubblewrap, which lookup found, or a command's own PATH",
	"internal/box/sandbox/keeper/keeper_linux.go":         "this program",
	"internal/box/sandbox/mount/mounter_linux.go":         "this program",
	"internal/box/sandbox/probe/probe_linux.go":           "lookup finds bubblewrap",
	"internal/box/net/network_linux.go":                   "this program",
	"internal/box/net/resident_linux.go":                  "this program, and what the server names, which is that too",
	"internal/box/sandbox/probe/scene_linux.go":           "this program",
	"internal/doors/setup/setup.go":                       "lookup says that it may be started",
	"internal/sys/shells/powershell.go":                   "lookup found the shell",
	"internal/sys/shells/shells.go":                       "likewise",
	"internal/exec/worker/parsers.go":                     "this program",
	"internal/exec/worker/pdf.go":                         "this program",
	"tools/system/gpu.go":                                 "lookup finds it",
}

// builders are packages that no server runs: developers run them on their own PATH.
var builders = []string{"bench", "internal/test", "internal/release"}

// started reports the uses in a file of what looks for programs, and of what starts them.
func started(f *ast.File, found func(what string, bare bool)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := dotted(n.Fun)
			at := map[string]int{"exec.Command": 0, "exec.CommandContext": 1, "os.StartProcess": 0, "syscall.Exec": 0, "syscall.ForkExec": 0, "syscall.StartProcess": 0, "unix.Exec": 0}
			i, ok := at[name]
			if !ok || len(n.Args) <= i {
				return true
			}
			bare := false
			if lit, ok := n.Args[i].(*ast.BasicLit); ok {
				text, _ := strconv.Unquote(lit.Value)
				bare = !strings.HasPrefix(text, "/")
			}
			found(name, bare)
		case *ast.CompositeLit:
			if dotted(n.Type) == "exec.Cmd" {
				found("exec.Cmd", false)
			}
		case *ast.SelectorExpr:
			if dotted(n) == "exec.LookPath" {
				found("exec.LookPath", false)
			}
		}
		return true
	})
}

func dotted(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok {
			return x.Name + "." + sel.Sel.Name
		}
	}
	return ""
}

// TestArchPrograms: one package looks for programs, and what starts them has a path from
// there.
func TestArchPrograms(t *testing.T) {
	seen, looks := map[string]bool{}, map[string]bool{}
	eachFile(t, func(pkg, name string, f *ast.File) {
		for _, b := range builders {
			if pkg == b || strings.HasPrefix(pkg, b+"/") {
				return
			}
		}
		file := name
		for _, spec := range f.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); path == "os/exec" && spec.Name != nil {
				t.Errorf("%s imports os/exec under another name", file)
			}
		}
		started(f, func(what string, bare bool) {
			switch {
			case what == "exec.LookPath":
				looks[file] = true
			case bare:
				t.Errorf("%s starts a program by its bare name: lookup.Finder finds it", file)
			default:
				seen[file] = true
			}
		})
	})
	for file := range looks {
		if file != "internal/sys/lookup/lookup.go" {
			t.Errorf("%s looks for programs: internal/sys/lookup does that alone", file)
		}
	}
	if !looks["internal/sys/lookup/lookup.go"] {
		t.Error("the control: not even lookup.go looks for programs")
	}
	for file := range seen {
		if starters[file] == "" {
			t.Errorf("%s starts processes: say in this test where it has their programs from", file)
		}
	}
	for file := range starters {
		if !seen[file] {
			t.Errorf("%s starts no process: take its row out", file)
		}
	}
	for code, want := range map[string]string{
		`exec.Command("git")`: "exec.Command bare", `exec.CommandContext(ctx, "sh", "-c")`: "exec.CommandContext bare", `exec.Command("/bin/sh")`: "exec.Command",
		`exec.CommandContext(ctx, found)`: "exec.CommandContext", `&exec.Cmd{Path: "git"}`: "exec.Cmd", `exec.LookPath`: "exec.LookPath", `os.StartProcess("git", nil, nil)`: "os.StartProcess bare",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		started(f, func(what string, bare bool) { got = append(got, what+map[bool]string{true: " bare"}[bare]) })
		if len(got) != 1 || got[0] != want {
			t.Errorf("the control %s: %q", code, got)
		}
	}
}
