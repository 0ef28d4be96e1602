package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// build is one version of the program, and where its parts go.
type build struct {
	version string
	commit  string
	date    time.Time // of the commit: so two builds of it are equal
	out     string
	zig     string // where zig is installed
}

// versions are those that packages may have.
var versions = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

// newBuild says what the tree here is. Without a version it is named by its commit.
func newBuild(ctx context.Context, version, out, zig string) (*build, error) {
	version = strings.TrimPrefix(version, "v")
	if version != "" && !versions.MatchString(version) {
		return nil, fmt.Errorf("%q is no version: use one such as 1.2.0 or 1.2.0-rc.1", version)
	}
	said, err := output(ctx, "git", "log", "-1", "--format=%H %cI")
	if err != nil {
		return nil, err
	}
	commit, date, _ := strings.Cut(said, " ")
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return nil, err
	}
	changed, err := output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if version != "" && changed != "" {
		return nil, fmt.Errorf("the tree has changes that are in no commit, so nobody could build version %s again: commit them first", version)
	}
	if version == "" {
		version = "0.0.0-" + commit[:12]
		if changed != "" {
			version += "-dirty"
		}
	}
	b := &build{version: version, commit: commit, date: at.UTC()}
	for dir, of := range map[*string]string{&b.out: out, &b.zig: zig} {
		if *dir = of; of != "" {
			if *dir, err = filepath.Abs(of); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// binary is the path of the binary for t.
func (b *build) binary(t target) string {
	return filepath.Join(b.out, t.String(), t.program())
}

// compile makes the binary for t. All that may differ between two machines is left out
// of it: paths, the state of the tree, the linker's build identifier, and what debuggers
// would read (by default Go asks a linker for it).
func (b *build) compile(ctx context.Context, t target) error {
	cc, err := b.compiler(ctx, t)
	if err != nil {
		return err
	}
	const pkg = "github.com/sidecar-ls/sidecar-ls/internal/sys/version"
	link := append([]string{"-s", "-w", "-buildid=",
		"-X", pkg + ".version=" + b.version, "-X", pkg + ".commit=" + b.commit, "-X", pkg + ".date=" + b.date.Format(time.DateOnly)}, t.link...)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=netgo,osusergo", "-ldflags="+strings.Join(link, " "), "-o", b.binary(t), "./cmd/sidecar-ls")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS="+t.os, "GOARCH="+t.arch, "CGO_CFLAGS=-O2 -w", "CGO_LDFLAGS=-O2", "CC="+cc, "GOFLAGS=-mod=readonly", "SOURCE_DATE_EPOCH="+fmt.Sprint(b.date.Unix()))
	if t.zig {
		cache := filepath.Join(b.zig, "cache")
		cmd.Env = append(cmd.Env, "ZIG_LIB_DIR="+filepath.Join(b.zig, "node_modules", "@zigc", "lib"), "ZIG_GLOBAL_CACHE_DIR="+cache, "ZIG_LOCAL_CACHE_DIR="+cache)
		defer func() { _ = os.Remove("-.o") }() // of Go's look at what the compiler can: zig takes -o - for a name
	}
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	info, err := os.Stat(b.binary(t))
	if err != nil {
		return err
	}
	fmt.Printf("%-14s %5.1f MB  %3.0f s\n", t, float64(info.Size())/1e6, time.Since(began).Seconds())
	return nil
}

// here is the program for this machine, which says of itself what packages need to know.
func (b *build) here(ctx context.Context) (string, error) {
	name := filepath.Join(b.out, ".here", "sidecar-ls")
	_, err := outputOf(ctx, []string{"CGO_CFLAGS=-O2 -w"}, "go", "build", "-trimpath", "-o", name, "./cmd/sidecar-ls")
	return name, err
}

// compiler is the command line of t's C compiler, as Go takes it.
func (b *build) compiler(ctx context.Context, t target) (string, error) {
	cc := t.cc
	if t.zig {
		if b.zig == "" {
			return "", errors.New("its C compiler is zig: name its directory by -zig (internal/release/toolchain/setup.sh installs it)")
		}
		cc = append([]string{filepath.Join(b.zig, "node_modules", "@zigc", "linux-x64", "bin", "zig")}, cc[1:]...)
		if t.os == "darwin" {
			stubs, err := b.appleStubs(ctx, t)
			if err != nil {
				return "", err
			}
			cc = append(cc, "-L"+stubs, "-F"+stubs)
		}
	} else if _, err := exec.LookPath(cc[0]); err != nil {
		return "", fmt.Errorf("%w: internal/release/toolchain/setup.sh installs it", err)
	}
	return strings.Join(cc, " "), nil
}

// tool installs a program of Go's into the cache, and returns its path.
func (b *build) tool(ctx context.Context, pkg string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path, version, _ := strings.Cut(pkg, "@")
	dir := filepath.Join(cache, "sidecar-release", version)
	name := filepath.Join(dir, filepath.Base(path))
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	_, err = outputOf(ctx, []string{"GOBIN=" + dir, "GOFLAGS="}, "go", "install", pkg)
	return name, err
}

// output is what a command prints, without the line's end.
func output(ctx context.Context, name string, args ...string) (string, error) {
	return outputOf(ctx, nil, name, args...)
}

func outputOf(ctx context.Context, env []string, name string, args ...string) (string, error) {
	return outputIn(ctx, "", env, name, args...)
}

func outputIn(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
