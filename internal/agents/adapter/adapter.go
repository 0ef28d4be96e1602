// Package adapter finds the programs that drive agents, and installs those by which
// Claude Code and Codex speak the Agent Client Protocol, which they don't by themselves.
package adapter

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/proctree"
)

// adapter is a package of npm that has a program of the adapter's name.
//
// Its directory here holds the manifest and the lock file, by which npm checks each
// package that it fetches against the integrity of the version that was tried.
type adapter struct {
	Program   string
	Package   string
	Version   string
	Integrity string

	files fs.FS
}

//go:embed claude/package.json claude/package-lock.json claude/.npmrc codex/package.json codex/package-lock.json codex/.npmrc
var files embed.FS

// table has the adapters by their programs.
var table = map[string]*adapter{
	"claude-agent-acp": {
		Program: "claude-agent-acp", Package: "@agentclientprotocol/claude-agent-acp", Version: "0.101.0",
		Integrity: "sha512-c9YGBfdJrLcKiinRpXuDuibC+CRGqQpe9+ey/+TuuZ7ejHlVyEELbbvRkxHZN+Hf5XGecJD5i0kvP2opCseATA==", files: sub("claude"),
	},
	"codex-acp": {
		Program: "codex-acp", Package: "@agentclientprotocol/codex-acp", Version: "2.6.0",
		Integrity: "sha512-/PBsd0H6URy4bhXhAeXqwb7RqctbXfNceRihAh6nDmn5HJ873uzoHvHxF45YmeWfgOKKRrNRLZjYsket2a7EsQ==", files: sub("codex"),
	},
}

func sub(dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // the name is no path
	}
	return sub
}

// maxInstall is how long npm may take, and maxSaid how many bytes of its words an error has.
const (
	maxInstall = 10 * time.Minute
	maxSaid    = 2 << 10
)

// dir is where a version of the adapter is installed, below the user's data.
func (a *adapter) dir(data string) string {
	return filepath.Join(data, "adapters", a.Program+"-"+a.Version)
}

// path is the adapter's program below the user's data, whether it is there or not.
func (a *adapter) path(data string) string {
	path := filepath.Join(a.dir(data), "node_modules", ".bin", a.Program)
	if runtime.GOOS == "windows" {
		path += ".cmd"
	}
	return path
}

// installed reports whether it is there.
func (a *adapter) installed(data string) bool {
	_, err := os.Stat(a.path(data))
	return err == nil
}

// question says what install does, for the person who allows it.
func (a *adapter) question(data string) string {
	return fmt.Sprintf("npm installs %s %s, without scripts, into %s (%s)", a.Package, a.Version, a.dir(data), a.Integrity)
}

// install has npm put the adapter below the user's data: all of it or nothing. No script
// of a package runs, and the agent itself is left out: the user has one. env is npm's
// environment.
func (a *adapter) install(ctx context.Context, npm string, env []string, data string) error {
	if a.installed(data) {
		return nil
	}
	parent := filepath.Dir(a.dir(data))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	begun, err := os.MkdirTemp(parent, ".begun-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(begun) }() // once it is renamed there is none
	if err := os.CopyFS(begun, a.files); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxInstall)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir, cmd.Env, cmd.WaitDelay = begun, env, time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := proctree.Run(cmd); err != nil {
		text := strings.ToValidUTF8(strings.TrimSpace(said.String()), "\uFFFD")
		text = text[:min(len(text), maxSaid)]
		return fmt.Errorf("npm could not install %s %s (%w): %s; try again, or install it yourself: npm install --global %s@%s", a.Package, a.Version, errors.Join(err, ctx.Err()), text, a.Package, a.Version)
	}
	if err := os.Rename(begun, a.dir(data)); err != nil && !a.installed(data) { // another process was faster
		return err
	}
	return nil
}
