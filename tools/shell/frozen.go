package shell

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/shells"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// A command that was allowed because of its lock file looks at that file once more, where it
// runs and as its programs see it: what else is in a session's world, nobody outside of it knows.

// notFrozen is the exit code of a command that did not find its files as they must be.
const notFrozen = 213

// canFreeze reports whether a shell can look at files before a line.
func canFreeze(s shells.Shell) bool { return !s.PowerShell && s.Drives == "" && !s.Variable }

// begin is where a command begins that a session runs.
func (s *sessions) begin(session string, files workspace.Files, cwd string) string {
	root := files.Abs(".")
	s.mu.Lock()
	sh := s.open[session+"\x00"+root]
	s.mu.Unlock()
	if sh == nil {
		sh = &shell{d: s.d, session: session, root: root, dir: root}
	}
	sh.sees(files)
	dir, _, err := sh.start(cwd)
	if err != nil {
		return ""
	}
	return dir
}

// busy reports whether something runs that could change files meanwhile.
func (sh *shell) busy() bool {
	for _, j := range sh.all() {
		if j.running() {
			return true
		}
	}
	return false
}

// freeze is what runs before the line in a directory, and ends all where a file is another one.
func freeze(f *tools.Frozen, dir string) string {
	if f == nil {
		return ""
	}
	var b, sums strings.Builder
	b.WriteString("{ cd -L -- " + tools.ShellWord(dir) + " && type -P " + tools.ShellWord(f.Program) + " && [ -n \"$HOME\" ]")
	for _, file := range f.Files {
		name := tools.ShellWord(file.Name)
		if rest, ok := strings.CutPrefix(file.Name, "~/"); ok {
			name = `"$HOME"/` + tools.ShellWord(rest)
		}
		if file.Sum == "" {
			b.WriteString(" && [ ! -e " + name + " ] && [ ! -L " + name + " ]")
			continue
		}
		b.WriteString(" && [ -f " + name + " ]")
		sums.WriteString(file.Sum + "  " + file.Name + "\n")
	}
	sum := "__sc_sum=sha256sum; type -P sha256sum || __sc_sum='shasum -a 256'; printf %s " + tools.ShellWord(sums.String()) + " | $__sc_sum -c -"
	b.WriteString(" && { " + sum + "; }")
	for _, v := range f.Env {
		b.WriteString(" && export " + tools.ShellWord(v))
	}
	for _, name := range f.Scratch {
		b.WriteString(" && " + name + "=$(mktemp -d) && export " + name)
	}
	return b.String() + "; } >/dev/null 2>&1 </dev/null || exit 213; "
}
