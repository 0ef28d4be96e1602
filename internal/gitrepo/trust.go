package gitrepo

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo/gitfile"
)

// trusted reports whether what the repository names may run.
func (r *Repo) trusted() bool { return r.o.Trusted != nil && r.o.Trusted() }

// mayRun refuses, in a workspace that isn't trusted, what can't be made
// harmless by other settings.
func (r *Repo) mayRun(ctx context.Context, op operation, conf settings) error {
	if r.trusted() {
		return nil
	}
	for _, s := range conf {
		section, middle, _ := gitconfig.SplitKey(s.key)
		if s.own && section == "includeif" && strings.HasPrefix(middle, "onbranch:") {
			return untrustedf("the repository's settings include others by branch (%s), so that they can change while git runs", shown(s.key))
		}
	}
	if op.network {
		if err := r.mayReach(conf); err != nil {
			return err
		}
	}
	if names := conf.ownFilters(); op.filters && len(names) > 0 {
		return untrustedf("files pass through the filter %s, which the repository's own settings define; without it they would be damaged", shown(strings.Join(names, ", ")))
	}
	if op.nested {
		return r.mayEnter(ctx)
	}
	return nil
}

// mayEnter refuses when a submodule has filters of its own: git asks
// submodules for their state, and there the overrides have no effect on
// settings whose names are not known here.
func (r *Repo) mayEnter(ctx context.Context) error {
	out, err := r.git(ctx, invocation{op: "list-files", args: []string{"--stage"}})
	if err != nil {
		return r.explain(err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		mode, path, _ := strings.Cut(entry, "\t")
		dir := filepath.Join(r.Dir, filepath.FromSlash(path))
		if !strings.HasPrefix(mode, "160000 ") || !gitfile.Exists(filepath.Join(dir, ".git")) {
			continue
		}
		sub, err := Open(dir, r.o)
		if err != nil || sub.Dir != dir {
			return untrustedf("the submodule %s can't be looked into (%v)", shown(path), err)
		}
		conf, err := sub.settings(ctx)
		if err != nil {
			return err
		}
		if names := conf.ownFilters(); len(names) > 0 {
			return untrustedf("the submodule %s defines the filter %s, which git would run", shown(path), shown(strings.Join(names, ", ")))
		}
		if err := sub.mayEnter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mayReach refuses when a remote may be a repository within the workspace: the
// other side of a push or pull would be git itself, here, in a repository whose
// settings and hooks came with the code. So it does when the repository says
// how connections are made: the user's credentials would go there.
func (r *Repo) mayReach(conf settings) error {
	for _, dir := range [...]string{"remotes", "branches"} {
		if names, _ := filepath.Glob(filepath.Join(r.CommonDir, dir, "*")); len(names) > 0 {
			return untrustedf("the repository describes remotes in the old way, in %s", shown(names[0]))
		}
	}
	for _, s := range conf {
		section, middle, name := gitconfig.SplitKey(s.key)
		var near bool
		switch {
		case !s.own:
		case section == "remote" && (name == "url" || name == "pushurl"):
			near = r.inside(s.value)
		case section == "url" && (name == "insteadof" || name == "pushinsteadof"):
			path, local := localPath(middle) // of which more follows
			near = r.inside(middle) || local && strings.HasPrefix(r.Dir, gitfile.Resolve(gitconfig.ExpandHome(path), r.Dir))
		case section == "branch" && (name == "remote" || name == "pushremote"), s.key == "remote.pushdefault":
			_, known := conf.last("remote." + s.value + ".url")
			near = s.value != "." && !known && r.inside(s.value)
		}
		if near {
			return untrustedf("the setting %s leads to a repository inside the workspace, whose hooks could run", shown(s.key))
		}
		if s.own && (section == "http" || section == "remote" && name == "proxy") && slices.Contains(connection, name) {
			return untrustedf("the repository's own setting %s decides to whom the user's credentials would be sent", shown(s.key))
		}
	}
	return nil
}

// connection are the settings that lead a connection elsewhere, or let anybody
// pass for the remote.
var connection = []string{"proxy", "sslverify", "sslcainfo", "sslcapath", "curloptresolve", "proxysslcainfo"}

// inside reports whether a URL is or may be a path in the workspace.
func (r *Repo) inside(url string) bool {
	path, local := localPath(url)
	return local && (strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/") || !r.outside(gitfile.Resolve(gitconfig.ExpandHome(path), r.Dir)))
}

// localPath is the path that a URL names on this machine.
func localPath(url string) (path string, ok bool) {
	if rest, ok := strings.CutPrefix(url, "file://"); ok {
		return rest, true
	}
	colon, slash := strings.IndexByte(url, ':'), strings.IndexByte(url, '/')
	if colon >= 0 && (slash < 0 || colon < slash) && filepath.VolumeName(url) == "" {
		return "", false // scheme://… and host:path
	}
	return url, true
}

// untrustedf says that something needs the user's trust.
func untrustedf(format string, args ...any) error {
	f := failf(Unavailable, format, args...)
	f.Text += "; " + trustHint
	return f
}

const trustHint = "the workspace is not trusted; the user can set sidecar.workspace.trust to trusted"

// ownFilters are the filters that only the repository's own settings define.
func (s settings) ownFilters() []string {
	var names []string
	for _, one := range s {
		section, name, last := gitconfig.SplitKey(one.key)
		if section != "filter" || !one.own || one.value == "" || last != "clean" && last != "smudge" && last != "process" {
			continue
		}
		if !s.usersFilter(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// usersFilter reports whether the user's own settings define a filter.
func (s settings) usersFilter(name string) bool {
	return slices.ContainsFunc([]string{"clean", "smudge", "process"}, func(last string) bool {
		value, ok := s.users("filter." + name + "." + last)
		return ok && value != ""
	})
}
