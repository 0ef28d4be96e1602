package spec

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Protected are names in a root that a command must not make or change,
// because other programs run or trust what they hold. Missing are those of
// them that are protected before they exist: on Linux a directory stands in for
// each of them, and goes when the command has ended. What keeps a name from being
// made is a mount over it, which needs something there: so a command sees them
// listed. None is a file: git would list it, and add it to commits.
var (
	Missing = []string{".git", ".sidecar", ".vscode", ".idea", ".mcp.json", ".envrc", ".cursor", ".claude", ".devcontainer", ".husky"}

	Protected = []string{".sidecar", ".vscode", ".idea", ".vs", ".fleet", ".zed", ".cursor", ".claude", ".codex", ".gemini", ".devcontainer",
		".devcontainer.json", ".husky", ".githooks", ".lefthook", ".direnv", ".ssh", ".gnupg", ".mcp.json", "mcp.json", ".envrc", ".bashrc",
		".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".gitconfig", ".gitmodules", ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".pre-commit-config.yaml",
		"lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".ripgreprc", ".gdbinit", ".lldbinit"}
)

var (
	// GitProtected are the names in a git directory that make git run something.
	GitProtected = []string{"hooks", "config", "config.worktree", "info", "modules", "worktrees"}

	// GitData are the directories in a git directory in which git runs and obeys nothing.
	GitData = []string{"objects", "refs", "logs"}

	// LinkedProtected are those in the git directory of a linked working tree,
	// whose settings and hooks are another's.
	LinkedProtected = []string{"commondir", "gitdir", "config.worktree", "modules"}
)

// GitTrap is a file that must not appear in a git directory: it says where git reads
// its settings and hooks. git fails when anything else has its name, so on Linux
// nothing can stand in for it, and it is removed after the command.
const GitTrap = "commondir"

// toolchains are directories of the user's home that hold programs and
// libraries, and no secrets.
var toolchains = []string{"go/pkg/mod", "go/bin", "sdk", ".cargo/registry", ".cargo/git", ".cargo/bin", ".rustup", ".nvm", ".volta", ".fnm", ".asdf",
	".bun/bin", ".deno/bin", ".pyenv", ".rbenv", ".sdkman", ".local/lib", ".local/bin", ".local/share/mise", ".local/share/uv",
	".local/share/pnpm", ".local/share/virtualenvs", ".m2/repository", ".gradle/wrapper", ".npm-global", ".rvm", ".gem", ".dotnet", ".ghcup", ".opam", ".elan", ".juliaup"}

// Installed are those of toolchains that are there, without links.
func Installed(home string) []string {
	var out []string
	for _, name := range toolchains {
		path := filepath.Join(home, name)
		if real, err := filepath.EvalSymlinks(path); err == nil && real == path {
			out = append(out, path)
		}
	}
	return out
}

// LinkedGitDir reports whether dir is the git directory of a linked working
// tree.
func LinkedGitDir(dir string) bool {
	return Exists(filepath.Join(dir, "HEAD")) && Exists(filepath.Join(dir, GitTrap))
}

// GitDir reports whether dir is what git takes for a git directory.
func GitDir(dir string) bool {
	return Exists(filepath.Join(dir, "HEAD")) && Exists(filepath.Join(dir, "objects")) && Exists(filepath.Join(dir, "refs"))
}

// LinkedTree is the git directory that a linked working tree belongs to, if
// that directory knows the tree, too: a .git file alone may name any place.
func LinkedTree(file string) []string {
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil || len(data) > 1<<16 {
			return ""
		}
		return strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir: "))
	}
	own := read(file)
	if !filepath.IsAbs(own) {
		own = filepath.Join(filepath.Dir(file), own)
	}
	back, err := filepath.EvalSymlinks(read(filepath.Join(own, "gitdir")))
	if err != nil || back != file {
		return nil
	}
	common := read(filepath.Join(own, "commondir"))
	if !filepath.IsAbs(common) {
		common = filepath.Join(own, common)
	}
	if common, err = filepath.EvalSymlinks(common); err != nil || !GitDir(common) {
		return nil
	}
	return []string{common}
}

// LinkError refuses a link in the place of a protected name.
func LinkError(path string) error {
	return &RefusedError{fmt.Sprintf("%s is a link, which the sandbox can't protect from being replaced; make it a file or directory of its own, or set sidecar.sandbox.mode to off", path)}
}

// Above lists the directories from below root down to the parent of name:
// each of them could be renamed, and another one made in its place.
func Above(root, name string) []string {
	var dirs []string
	for dir := path.Dir(name); dir != root && Within(dir, root) && strings.Count(dir, "/") > 0; dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// Exists reports whether something has this name, a link too.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// Programs are the directories of the system that hold programs, and that every command
// reads.
var Programs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store"}
