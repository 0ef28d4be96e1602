package gitcmd

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Trusted reports whether what the repository names may run in the sandbox, and may
// say how connections are made.
func (g *Git) Trusted() bool { return g.mayTrust != nil && g.mayTrust() }

// mayRun refuses what can't be made harmless by other settings. Trust does not
// matter: git runs outside of the sandbox, and what an agent may have prepared in the
// workspace is not what the user trusted.
func (g *Git) mayRun(ctx context.Context, op operation, conf Settings) error {
	for _, s := range conf {
		section, middle, _ := gitconfig.SplitKey(s.Key)
		if s.own && section == "includeif" && strings.HasPrefix(middle, "onbranch:") {
			return refusedf("the repository's settings include others by branch (%s), so that they can change while git runs", Shown(s.Key))
		}
	}
	if op.network {
		if err := g.mayReach(conf); err != nil {
			return err
		}
	}
	if names := conf.OwnFilters(); op.filters && len(names) > 0 {
		return refusedf("files pass through the filter %s, which the repository's own settings define; without it they would be damaged", Shown(strings.Join(names, ", ")))
	}
	if op.nested {
		return g.mayEnter(ctx)
	}
	return nil
}

// mayEnter refuses when a submodule has filters of its own: git asks
// submodules for their state, and there the overrides have no effect on
// settings whose names are not known here.
func (g *Git) mayEnter(ctx context.Context) error {
	out, err := g.Run(ctx, Invocation{Op: "list-files", Args: []string{"--stage"}})
	if err != nil {
		return g.Explain(err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		mode, path, _ := strings.Cut(entry, "\t")
		dir := filepath.Join(g.Dir, filepath.FromSlash(path))
		if !strings.HasPrefix(mode, "160000 ") || !gitfile.Exists(filepath.Join(dir, ".git")) {
			continue
		}
		sub, err := g.open(dir)
		if err != nil || sub.Dir != dir {
			return refusedf("the submodule %s can't be looked into (%v)", Shown(path), err)
		}
		conf, err := sub.Settings(ctx)
		if err != nil {
			return err
		}
		if names := conf.OwnFilters(); len(names) > 0 {
			return refusedf("the submodule %s defines the filter %s, which git would run", Shown(path), Shown(strings.Join(names, ", ")))
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
func (g *Git) mayReach(conf Settings) error {
	for _, dir := range [...]string{"remotes", "branches"} {
		if names, _ := filepath.Glob(filepath.Join(g.CommonDir, dir, "*")); len(names) > 0 {
			return refusedf("the repository describes remotes in the old way, in %s", Shown(names[0]))
		}
	}
	for _, s := range conf {
		section, middle, name := gitconfig.SplitKey(s.Key)
		var near bool
		switch {
		case !s.own:
		case section == "remote" && (name == "url" || name == "pushurl"):
			near = g.inside(s.value)
		case section == "url" && (name == "insteadof" || name == "pushinsteadof"):
			path, local := localPath(middle) // of which more follows
			near = g.inside(middle) || local && strings.HasPrefix(g.Dir, gitfile.Resolve(gitconfig.ExpandHome(path), g.Dir))
		case section == "branch" && (name == "remote" || name == "pushremote"), s.Key == "remote.pushdefault":
			_, known := conf.last("remote." + s.value + ".url")
			near = s.value != "." && !known && g.inside(s.value)
		}
		if near {
			return refusedf("the setting %s leads to a repository inside the workspace, whose hooks could run", Shown(s.Key))
		}
		if s.own && !g.Trusted() && (section == "http" || section == "remote" && name == "proxy") && slices.Contains(connection, name) {
			return untrustedf("the repository's own setting %s decides to whom the user's credentials would be sent", Shown(s.Key))
		}
	}
	return nil
}

// connection are the settings that lead a connection elsewhere, or let anybody
// pass for the remote.
var connection = []string{"proxy", "sslverify", "sslcainfo", "sslcapath", "curloptresolve", "proxysslcainfo"}

// inside reports whether a URL is or may be a path in the workspace.
func (g *Git) inside(url string) bool {
	path, local := localPath(url)
	return local && (strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/dev/") || !g.outside(gitfile.Resolve(gitconfig.ExpandHome(path), g.Dir)))
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
	f := Failf(Unavailable, format, args...)
	f.Text += "; " + TrustHint
	return f
}

// refusedf says that something is not done here at all.
func refusedf(format string, args ...any) error {
	f := Failf(Unavailable, format, args...)
	f.Text += "; " + OutsideHint
	return f
}

// OutsideHint says why nothing that a repository names is run by the git that we run.
const OutsideHint = "what a repository names is not run outside of the sandbox; the user can do it in a terminal"

// TrustHint says what to do where a repository's programs would have to run.
const TrustHint = "the workspace is not trusted; the user can set sidecar.workspace.trust to trusted"

// OwnFilters are the filters that only the repository's own settings define.
func (s Settings) OwnFilters() []string {
	var names []string
	for _, one := range s {
		section, name, last := gitconfig.SplitKey(one.Key)
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
func (s Settings) usersFilter(name string) bool {
	return slices.ContainsFunc([]string{"clean", "smudge", "process"}, func(last string) bool {
		value, ok := s.users("filter." + name + "." + last)
		return ok && value != ""
	})
}
