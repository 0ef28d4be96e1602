package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
)

const module = "github.com/sidecar-ls/sidecar-ls"

// object is a JSON object.
type object = map[string]any

// ways are what is counted: steps that lead to it, and the command that is.
var ways = map[string]struct {
	before [][2]any
	what   [2]any
}{
	"edit":    {nil, [2]any{"sidecar.tools.call", object{"name": "edit_file", "arguments": object{"path": "a.go", "search": "two", "replace": "2"}}}},
	"accept":  {[][2]any{{"sidecar.tools.call", object{"name": "edit_file", "arguments": object{"path": "a.go", "search": "two", "replace": "2"}}}}, [2]any{"sidecar.review.accept", object{}}},
	"undo":    {[][2]any{{"sidecar.tools.call", object{"name": "edit_file", "arguments": object{"path": "a.go", "search": "two", "replace": "2"}}}, {"sidecar.review.accept", object{}}}, [2]any{"sidecar.review.undo", object{}}},
	"command": {nil, [2]any{"sidecar.tools.call", object{"name": "run_command", "arguments": object{"command": "echo"}}}},
}

// call is a function that one goroutine ran through, and what it was called by.
type call struct {
	file, name, caller string
}

// walk builds a server whose functions note that they begin and end, has it do one thing, and
// counts what the goroutine with the most functions ran through:
//
//	functions  different ones
//	rooms      different files
//	returns    changes from one file to another that was visited before
//	up         calls from a package to one that imports it: through an interface or a function
func walk(ctx context.Context, w io.Writer, name string, verbose bool) error {
	way, ok := ways[name]
	if !ok {
		return fmt.Errorf("no way %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(ways)), ", "))
	}
	dir, err := os.MkdirTemp("", "house-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	above, err := build(ctx, dir)
	if err != nil {
		return err
	}
	text, err := record(ctx, dir, way.before, way.what)
	if err != nil {
		return err
	}
	calls := busiest(text)
	if len(calls) == 0 {
		return errors.New("nothing was noted")
	}
	functions, files, packages := map[string]bool{}, map[string]bool{}, map[string]bool{}
	returns, up, at := 0, 0, ""
	for _, c := range calls {
		functions[c.file+" "+c.name] = true
		packages[path.Dir(c.file)] = true
		if c.file != at && files[c.file] {
			returns++
		}
		at, files[c.file] = c.file, true
		isUp := c.caller != "" && above[path.Dir(c.file)][path.Dir(c.caller)]
		if isUp {
			up++
		}
		if verbose {
			mark := ""
			if isUp {
				mark = "up from " + c.caller
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\n", c.file, c.name, mark)
		}
	}
	fmt.Fprintf(w, "%s\tcalls %d\tfunctions %d\tpackages %d\trooms %d\treturns %d\tup %d\n", name, len(calls), len(functions), len(packages), len(files), returns, up)
	return nil
}

// build builds the server into a directory; above says of each package which ones it imports, through others too.
func build(ctx context.Context, dir string) (above map[string]map[string]bool, err error) {
	out, err := run(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports", "./cmd/sidecar-ls")
	if err != nil {
		return nil, err
	}
	above, overlay := map[string]map[string]bool{}, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath, Dir  string
			GoFiles, Imports []string
		}
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		below, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours {
			continue
		}
		above[below] = map[string]bool{}
		for _, i := range p.Imports { // they come before what imports them
			if i, ours := strings.CutPrefix(i, module+"/"); ours {
				above[below][i] = true
				maps.Copy(above[below], above[i])
			}
		}
		for _, name := range p.GoFiles {
			from := filepath.Join(p.Dir, name)
			text, err := noted(from, below+"/"+name)
			if err != nil {
				return nil, err
			}
			to := filepath.Join(dir, fmt.Sprint(len(overlay), ".go"))
			if err := os.WriteFile(to, text, 0o600); err != nil {
				return nil, err
			}
			overlay[from] = to
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600); err != nil {
		return nil, err
	}
	_, err = run(ctx, "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", filepath.Join(dir, "server"), "./cmd/sidecar-ls")
	return above, err
}

// noted is the text of a file whose functions note that they begin and end. Lines stay where they are.
func noted(file, where string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	last := 0
	insert := func(at token.Pos, what string) {
		n := fset.Position(at).Offset
		out.Write(text[last:n])
		out.WriteString(what)
		last = n
	}
	insert(f.Name.End(), `; import housetrace "`+module+`/internal/test/house/trace"`)
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			name = receiver(fn.Recv.List[0].Type) + "." + name
		}
		insert(fn.Body.Lbrace+1, fmt.Sprintf(" defer housetrace.In(%q, %q)();", where, name))
	}
	out.Write(text[last:])
	out.WriteString("\nvar _ = housetrace.In\n")
	return out.Bytes(), nil
}

func receiver(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return "?"
}

// record has the server do the steps, and gives what it noted during the last.
func record(ctx context.Context, dir string, before [][2]any, what [2]any) ([]byte, error) {
	project, trace := filepath.Join(dir, "project"), filepath.Join(dir, "trace")
	if err := errors.Join(os.Mkdir(project, 0o755), os.WriteFile(filepath.Join(project, "a.go"), []byte("package a\n\n// one\n// two\n// three\n"), 0o600), os.WriteFile(trace, nil, 0o600)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "server"), "serve", "--stdio")
	cmd.Env = append(os.Environ(), "HOUSE_TRACE="+trace, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CACHE_HOME="+dir)
	e, err := fakeeditor.StartProcess(cmd, fakeeditor.Options{Root: project, InitializationOptions: object{"sidecar": object{"mode": "review", "toolPermissions": object{"run_command": "allow"}}}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = cmd.Process.Kill(); _ = e.Wait(ctx) }()
	if _, err := e.Initialize(ctx); err != nil {
		return nil, err
	}
	from := int64(0)
	for i, step := range append(slices.Clone(before), what) {
		if i == len(before) {
			info, err := os.Stat(trace)
			if err != nil {
				return nil, err
			}
			from = info.Size()
		}
		var answer json.RawMessage
		if err := e.ExecuteCommand(ctx, step[0].(string), step[1], &answer); err != nil {
			return nil, fmt.Errorf("%s: %w", step[0], err)
		}
		var result struct{ OK *bool }
		if err := json.Unmarshal(answer, &result); err != nil || result.OK != nil && !*result.OK {
			return nil, fmt.Errorf("%s: %s", step[0], answer)
		}
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		return nil, err
	}
	return text[from:], nil
}

// busiest gives the calls of the goroutine that ran through the most functions.
func busiest(text []byte) []call {
	calls, stacks := map[string][]call{}, map[string][]string{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) != 4 {
			continue // the last line may be cut
		}
		id, file := fields[0], fields[2]
		stack := stacks[id]
		if fields[1] == "<" {
			if len(stack) > 0 {
				stacks[id] = stack[:len(stack)-1]
			}
			continue
		}
		caller := ""
		if len(stack) > 0 {
			caller = stack[len(stack)-1]
		}
		calls[id] = append(calls[id], call{file, fields[3], caller})
		stacks[id] = append(stack, file)
	}
	var best []call
	for _, c := range calls {
		if cmp.Compare(len(c), len(best)) > 0 {
			best = c
		}
	}
	return best
}

func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
