// Package langserver runs language servers and asks them about files as a view
// shows them: pending edits over open buffers over the disk. It knows neither
// tools nor sessions, and starts no process itself.
package langserver

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// kind is one language server that we know how to run.
type kind struct {
	name       string            // as it is called in settings and results
	programs   [][]string        // command lines, the first whose program is found is run
	extensions map[string]string // of the files that it is asked about, with their language identifiers
	overlays   map[string]string // base names that it is shown besides, with their language identifiers
	roots      []string          // files that mark a project; the first one that a directory above has, decides

	options json.RawMessage // initializationOptions, and the answer to workspace/configuration

	// ask gets the problems of a document from the server. nil waits until the
	// server tells them by itself.
	ask asker

	// vanish is what a deleted file is shown as: a server reads what isn't open
	// from the disk, where it still is. nil shows an empty file.
	vanish func(old string) string

	// closed says that it can be asked for the problems of a file that it is not
	// shown, and then looks at the disk.
	closed bool

	// together says that the files of a directory are one: an edit of one can
	// break the others.
	together bool

	// writes says that it does its work by writing into the project: with build
	// scripts, say. The others only read it.
	writes bool

	// mention returns a text that the files which depend on name must have in
	// them, "" if there is none. module is the path of the module's root.
	mention func(files reader, root, name string) string
}

// reader is as much of a view as a kind needs.
type reader interface {
	ReadFile(name string) ([]byte, error)
}

// kinds is every language server that there is a row for.
var kinds = []*kind{
	{
		name:       "gopls",
		programs:   [][]string{{"gopls"}},
		extensions: map[string]string{".go": "go"},
		overlays:   map[string]string{"go.mod": "go.mod", "go.work": "go.work"},
		roots:      []string{"go.work", "go.mod"},
		// Problems are asked for; without the trigger gopls would also look for
		// them by itself after every change.
		options:  json.RawMessage(`{"pullDiagnostics":true,"diagnosticsTrigger":"Save","semanticTokens":false}`),
		vanish:   packageClause,
		closed:   true,
		together: true,
		mention:  importPath,
	},
	{
		name:     "typescript-language-server",
		programs: [][]string{{"typescript-language-server", "--stdio"}},
		extensions: map[string]string{
			".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
			".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
		},
		options: json.RawMessage(`{"disableAutomaticTypingAcquisition":true,"hostInfo":"sidecar-ls"}`),
		ask:     askTSServer,
		mention: stem,
	},
	{
		name:       "pyright",
		programs:   [][]string{{"basedpyright-langserver", "--stdio"}, {"pyright-langserver", "--stdio"}},
		extensions: map[string]string{".py": "python", ".pyi": "python"},
		options:    json.RawMessage(`{"python":{"analysis":{"diagnosticMode":"openFilesOnly"}}}`),
		mention:    stem,
	},
	{
		name:       "rust-analyzer",
		programs:   [][]string{{"rust-analyzer"}},
		extensions: map[string]string{".rs": "rust"},
		roots:      []string{"Cargo.lock", "Cargo.toml"},
		options:    json.RawMessage(`{"checkOnSave":false}`),
		writes:     true,
	},
	{
		name:     "clangd",
		programs: [][]string{{"clangd", "--background-index=false"}},
		extensions: map[string]string{
			".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".m": "objective-c", ".mm": "objective-cpp",
		},
		mention: base,
	},
}

// kindOf returns the kind that serves a file, nil if none does.
func kindOf(name string) *kind {
	for _, k := range kinds {
		if k.extensions[strings.ToLower(path.Ext(name))] != "" {
			return k
		}
	}
	return nil
}

// Language reports whether there is a language server for files of this name,
// and what it is called.
func Language(name string) (server string, ok bool) {
	k := kindOf(name)
	if k == nil {
		return "", false
	}
	return k.name, true
}

// Names lists the servers that there are.
func Names() []string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}

// languageID is what the server calls the language of a file that it is shown,
// "" for one that it isn't.
func (k *kind) languageID(name string) string {
	if id := k.overlays[path.Base(name)]; id != "" {
		return id
	}
	return k.extensions[strings.ToLower(path.Ext(name))]
}

// root returns the directory of the project that a file belongs to, a name
// within the folder; has reports whether a file is there.
func (k *kind) root(folder, name string, has func(name string) bool) string {
	for _, mark := range k.roots {
		for dir := path.Dir(name); ; dir = path.Dir(dir) {
			if has(path.Join(dir, mark)) {
				return dir
			}
			if dir == folder || dir == "." {
				break
			}
		}
	}
	return folder
}

// packageClause is a Go file of the same package with nothing in it.
func packageClause(old string) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", old, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return "package " + f.Name.Name + "\n"
}

// importPath is what a Go file must have in it to import the package of name.
func importPath(files reader, root, name string) string {
	data, err := files.ReadFile(path.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		module, ok := strings.CutPrefix(strings.TrimSpace(line), "module ")
		if !ok {
			continue
		}
		module = strings.Trim(strings.TrimSpace(module), `"`)
		dir := strings.TrimPrefix(strings.TrimPrefix(path.Dir(name), root), "/")
		if dir == "." {
			dir = ""
		}
		return `"` + path.Join(module, dir) + `"`
	}
	return ""
}

// base is what a C file must have in it to include name.
func base(_ reader, _, name string) string { return path.Base(name) }

// stem is what a file must have in it to import name, apart from those that
// import its directory.
func stem(_ reader, _, name string) string {
	s := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if s == "index" || s == "__init__" {
		return path.Base(path.Dir(name))
	}
	return s
}
