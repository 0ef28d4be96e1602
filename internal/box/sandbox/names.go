package sandbox

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// protected are names in a root that a command must not make or change,
// because other programs run or trust what they hold. missing are those of
// them that are protected before they exist: on Linux a directory stands in for
// each of them, and goes when the command has ended.
var (
	missing = []string{".git", ".sidecar", ".vscode", ".idea", ".mcp.json", ".envrc", ".cursor", ".claude", ".devcontainer", ".husky"}

	protected = []string{".sidecar", ".vscode", ".idea", ".vs", ".fleet", ".zed", ".cursor", ".claude", ".codex", ".gemini", ".devcontainer",
		".devcontainer.json", ".husky", ".githooks", ".lefthook", ".direnv", ".ssh", ".gnupg", ".mcp.json", "mcp.json", ".envrc", ".bashrc",
		".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".gitconfig", ".gitmodules", ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".pre-commit-config.yaml",
		"lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".ripgreprc", ".gdbinit", ".lldbinit"}
)

var (
	// gitProtected are the names in a git directory that make git run something.
	gitProtected = []string{"hooks", "config", "config.worktree", "info", "modules", "worktrees"}

	// linkedProtected are those in the git directory of a linked working tree,
	// whose settings and hooks are another's.
	linkedProtected = []string{"commondir", "gitdir", "config.worktree", "modules"}
)

// gitTrap is a file that must not appear in a git directory: it says where git reads
// its settings and hooks. git fails when anything else has its name, so on Linux
// nothing can stand in for it, and it is removed after the command.
const gitTrap = "commondir"

// toolchains are directories of the user's home that hold programs and
// libraries, and no secrets.
var toolchains = []string{"go/pkg/mod", "go/bin", "sdk", ".cargo/registry", ".cargo/git", ".cargo/bin", ".rustup", ".nvm", ".volta", ".fnm", ".asdf",
	".bun/bin", ".deno/bin", ".pyenv", ".rbenv", ".sdkman", ".local/lib", ".local/bin", ".local/share/mise", ".local/share/uv",
	".local/share/pnpm", ".local/share/virtualenvs", ".m2/repository", ".gradle/wrapper", ".npm-global", ".rvm", ".gem", ".dotnet", ".ghcup", ".opam", ".elan", ".juliaup"}

func installed(home string) []string {
	var out []string
	for _, name := range toolchains {
		path := filepath.Join(home, name)
		if real, err := filepath.EvalSymlinks(path); err == nil && real == path {
			out = append(out, path)
		}
	}
	return out
}

// linkedGitDir reports whether dir is the git directory of a linked working
// tree.
func linkedGitDir(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, gitTrap))
}

// gitDir reports whether dir is what git takes for a git directory.
func gitDir(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// linkedTree is the git directory that a linked working tree belongs to, if
// that directory knows the tree, too: a .git file alone may name any place.
func linkedTree(file string) []string {
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
	if common, err = filepath.EvalSymlinks(common); err != nil || !gitDir(common) {
		return nil
	}
	return []string{common}
}

func linkError(path string) error {
	return &RefusedError{fmt.Sprintf("%s is a link, which the sandbox can't protect from being replaced; make it a file or directory of its own, or set sidecar.sandbox.mode to off", path)}
}

// above lists the directories from below root down to the parent of name:
// each of them could be renamed, and another one made in its place.
func above(root, name string) []string {
	var dirs []string
	for dir := path.Dir(name); dir != root && within(dir, root) && strings.Count(dir, "/") > 0; dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
