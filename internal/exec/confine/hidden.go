package confine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/files/inventory"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
)

// surroundings puts into a Spec what commands must not see or change of what is
// in the directories that they may write: secrets, sockets, repositories. It
// returns the files that may hold secrets, which are not in it yet. Nothing runs when not all of it
// is known.
func (c *Confiner) surroundings(ctx context.Context, spec *box.Spec) (files []string, err error) {
	var sockets []string
	areas, err := areasOf(spec)
	if err != nil {
		return nil, err
	}
	for i, a := range areas {
		if a.Private {
			continue
		}
		if err := box.Confinable(a.Dir); err != nil {
			return nil, err // before all of the machine is looked through
		}
		items, err := c.o.Secrets.Look(ctx, a.Dir, a.Without...)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			switch item.Kind {
			case inventory.Closed: // whose owner could open it
				spec.Hidden = append(spec.Hidden, item.Path)
			case inventory.Repository:
				spec.Repositories = append(spec.Repositories, item.Path)
				spec.Included = append(spec.Included, included(item)...)
				if i == 0 {
					spec.ReadOnly = append(spec.ReadOnly, obeyed(item)...)
				}
			case inventory.Bundle:
				if i == 0 {
					spec.Bundles = append(spec.Bundles, item.Path)
				}
			case inventory.Socket:
				sockets = append(sockets, item.Path)
			case inventory.Secret:
				if rel, err := filepath.Rel(a.Dir, item.Path); i == 0 && err == nil && !c.o.Settings.SensitiveOK(filepath.ToSlash(rel)) {
					files = append(files, item.Path)
				}
			}
		}
	}
	dirs, _ := ownState(spec.Root)
	spec.Hidden = append(spec.Hidden, dirs...)
	for _, list := range []*[]string{&files, &sockets, &spec.Repositories, &spec.Bundles} {
		*list = slices.DeleteFunc(*list, func(path string) bool {
			return slices.ContainsFunc(spec.Hidden, func(dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) })
		})
	}
	spec.Hidden = append(spec.Hidden, answering(sockets)...)
	return files, nil
}

// ownState is what commands see nothing of in the server's own directory: all but the
// tools, kits and skills of the project. The queue has texts of files that are hidden from
// commands, the journals of runs what people and agents said.
func ownState(root string) (dirs, files []string) {
	own := filepath.Join(root, ".sidecar")
	entries, err := os.ReadDir(own)
	if err != nil {
		return nil, nil
	}
	for _, e := range entries {
		switch at := filepath.Join(own, e.Name()); {
		case slices.Contains([]string{"tools", "kits", "skills", ".gitignore"}, e.Name()):
		case e.IsDir():
			dirs = append(dirs, at)
		case e.Type().IsRegular():
			files = append(files, at)
		}
	}
	return dirs, files
}

// included are the files in a repository that its settings include. Those in a working tree
// are shown as they are: git may track them.
func included(item inventory.Item) (files []string) {
	gitDir := item.Path
	if item.Type.IsRegular() {
		var err error
		if gitDir, err = gitcmd.Pointer(item.Path); err != nil {
			return nil
		}
	}
	for _, dir := range slices.Compact([]string{gitDir, gitcmd.CommonDir(gitDir)}) {
		for _, path := range gitcmd.Included(dir) {
			if box.Within(path, dir) {
				files = append(files, path)
			}
		}
	}
	return files
}

// obeyed is what a repository makes git obey in its working tree.
func obeyed(item inventory.Item) []string {
	gitDir, top := item.Path, filepath.Dir(item.Path)
	if item.Type.IsRegular() {
		var err error
		if gitDir, err = gitcmd.Pointer(item.Path); err != nil {
			return nil
		}
	} else if filepath.Base(gitDir) != ".git" {
		return nil // it has no working tree, or one that a .git file is in
	}
	paths := gitcmd.Obeyed(gitDir, top)
	if common := gitcmd.CommonDir(gitDir); common != gitDir {
		paths = append(paths, gitcmd.Obeyed(common, top)...)
	}
	return paths
}

// Bounds of what is hidden from a command. Each mount costs it, more of them
// cost more each: 50 take 15 ms, 200 take 60 ms, 800 take a second.
const (
	maxSingly = 50  // up to here, files are hidden one by one
	maxHidden = 800 // above, nothing runs
)

// hide puts secrets into a Spec: what git tracks keeps its look, and where there
// are many, a directory that holds nothing else is hidden as a whole.
func hide(spec *box.Spec, tracked, others []string) error {
	if len(tracked)+len(others) > maxSingly {
		others = together(spec.Root, others)
	}
	if n := len(spec.Hidden) + len(tracked) + len(others); n > maxHidden {
		some := append(slices.Clone(others), tracked...)[:3]
		return fmt.Errorf("%d files may hold secrets by their names (%s and others), more than the %d that can be hidden from a command: name the harmless ones in sidecar.sensitive.allow, or put them into a directory of their own", n, strings.Join(some, ", "), maxHidden)
	}
	spec.Sealed, spec.Hidden = append(spec.Sealed, tracked...), append(spec.Hidden, others...)
	return nil
}

// together replaces files by their directory where that holds nothing else.
func together(root string, files []string) []string {
	in := map[string][]string{}
	for _, name := range files {
		dir := filepath.Dir(name)
		in[dir] = append(in[dir], name)
	}
	var out []string
	for _, dir := range slices.Sorted(maps.Keys(in)) {
		entries, err := os.ReadDir(dir)
		if dir != root && len(in[dir]) > 1 && err == nil && len(entries) == len(in[dir]) {
			out = append(out, dir)
		} else {
			out = append(out, in[dir]...)
		}
	}
	return out
}

// answering are the sockets behind which there may be somebody: what commands
// reach by them is outside of the sandbox. A socket that was left behind is in
// the way of nobody but the program that wants to make it again.
func answering(sockets []string) []string {
	if len(sockets) == 0 {
		return nil
	}
	table, _ := os.ReadFile("/proc/net/unix")
	bound := map[string]bool{} // by the last element: a program may give a relative path
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 7 {
			bound[filepath.Base(strings.Join(fields[7:], " "))] = true
		}
	}
	return slices.DeleteFunc(sockets, func(path string) bool { return !bound[filepath.Base(path)] && refused(path) })
}

// refused reports whether nobody listens at a socket. Those of containers are
// in no table.
func refused(path string) bool {
	for _, network := range []string{"unix", "unixpacket", "unixgram"} {
		conn, err := net.DialTimeout(network, path, time.Second) //nolint:noctx // it has a time-out
		if err == nil {
			_ = conn.Close()
			return false
		}
		if !errors.Is(err, syscall.EPROTOTYPE) {
			return errors.Is(err, syscall.ECONNREFUSED)
		}
	}
	return false
}
