package lockfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// asked are what a package asks for, in package.json and in lock files of npm.
type asked struct {
	Dependencies         map[string]string `json:"dependencies"`
	DevDependencies      map[string]string `json:"devDependencies"`
	OptionalDependencies map[string]string `json:"optionalDependencies"`
	PeerDependencies     map[string]string `json:"peerDependencies"`
}

// text is the same for what is the same.
func (a asked) text() string {
	text, _ := json.Marshal(a) // maps of strings are written in order
	return string(text)
}

func (a asked) equal(b asked) bool {
	return maps.Equal(a.Dependencies, b.Dependencies) && maps.Equal(a.DevDependencies, b.DevDependencies) && maps.Equal(a.OptionalDependencies, b.OptionalDependencies) && maps.Equal(a.PeerDependencies, b.PeerDependencies)
}

// manifest is the package.json of a project.
type manifest struct {
	asked
	Scripts    map[string]string `json:"scripts"`
	Workspaces jsontext.Value    `json:"workspaces"`
	Overrides  jsontext.Value    `json:"overrides"`
	Manager    jsontext.Value    `json:"packageManager"`
	Volta      jsontext.Value    `json:"volta"`
	Engines    jsontext.Value    `json:"devEngines"`
	Pnpm       jsontext.Value    `json:"pnpm"`
	Bundled    jsontext.Value    `json:"bundleDependencies"`
	Bundled2   jsontext.Value    `json:"bundledDependencies"`
}

// atInstall are the scripts of a project that an install runs.
var atInstall = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "predependencies", "dependencies", "postdependencies", "pnpm:devPreinstall"}

var managerVersion = regexp.MustCompile(`^"(npm|pnpm|yarn)@[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+sha[0-9]+\.[0-9a-f]+)?"$`)

// readManifest reads the package.json of a project that an install runs nothing of, and what of
// it decides about the list.
func readManifest(s *source, c command) (m manifest, extra []pkg, err error) {
	data, err := s.needed("package.json")
	if err != nil {
		return m, nil, err
	}
	if err := decode("package.json", data, &m); err != nil {
		return m, nil, err
	}
	if !c.has("--ignore-scripts") {
		for _, name := range atInstall {
			if _, ok := m.Scripts[name]; ok {
				return m, nil, fmt.Errorf("package.json runs its script %q at an install, which can install anything; with --ignore-scripts it does not", name)
			}
		}
		if err := s.absent([]string{"binding.gyp"}, 0); err != nil {
			return m, nil, fmt.Errorf("%w; with --ignore-scripts it does not", err)
		}
	}
	switch {
	case m.Workspaces != nil:
		return m, nil, fmt.Errorf("package.json has workspaces, whose own packages have no integrity")
	case m.Engines != nil || m.Pnpm != nil:
		return m, nil, fmt.Errorf("package.json has devEngines or settings of pnpm, which may install more")
	case m.Manager != nil && !managerVersion.Match(m.Manager):
		return m, nil, fmt.Errorf("package.json has a packageManager that is no plain version")
	}
	if data, ok, err := s.text(".npmrc"); err != nil || ok && !harmless(data) {
		if err == nil {
			err = fmt.Errorf(".npmrc may set another registry or program")
		}
		return m, nil, err
	}
	for up := 1; up <= s.above; up++ { // a directory above could have this one as a workspace
		if err := s.absent([]string{strings.Repeat("../", up) + "package.json"}, 0); err != nil {
			return m, nil, err
		}
	}
	for name, v := range map[string]jsontext.Value{"overrides": m.Overrides, "packageManager": m.Manager, "volta": m.Volta, "bundleDependencies": slices.Concat(m.Bundled, m.Bundled2)} {
		if len(v) > 0 {
			extra = append(extra, pkg{name: name, integrity: unlisted, needs: string(v)})
		}
	}
	extra = append(extra, pkg{integrity: unlisted, needs: m.text()})
	return m, extra, nil
}

// decode reads JSON that each reader reads alike: without names that stand twice.
func decode(name string, data []byte, to any) error {
	if err := strict.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s is not understood (%.200s)", name, err.Error())
	}
	return nil
}

// harmlessKeys are settings of npm that change nothing of what is installed, or from where.
var harmlessKeys = []string{"save-exact", "engine-strict", "fund", "audit", "progress", "loglevel", "save-prefix", "update-notifier"}

func harmless(npmrc []byte) bool {
	for line := range strings.SplitSeq(string(npmrc), "\n") {
		line = strings.TrimSpace(line)
		key, _, _ := strings.Cut(line, "=")
		if line != "" && line[0] != '#' && line[0] != ';' && !slices.Contains(harmlessKeys, strings.TrimSpace(key)) || strings.ContainsAny(line, "$\r") {
			return false
		}
	}
	return true
}

type npmPackage struct {
	asked
	Name       string         `json:"name"`
	Version    string         `json:"version"`
	Resolved   string         `json:"resolved"`
	Integrity  string         `json:"integrity"`
	Link       bool           `json:"link"`
	InBundle   bool           `json:"inBundle"`
	Shrinkwrap bool           `json:"hasShrinkwrap"`
	Workspaces jsontext.Value `json:"workspaces"`

	Peers map[string]struct {
		Optional bool `json:"optional"`
	} `json:"peerDependenciesMeta"`
}

// npmOld is a package as npm 6 reads it.
type npmOld struct {
	Resolved     string            `json:"resolved"`
	Integrity    string            `json:"integrity"`
	Dependencies map[string]npmOld `json:"dependencies"`
}

const npmLock = "package-lock.json"

func npm(s *source, c command) (string, []pkg, error) {
	m, list, err := readManifest(s, c)
	if err != nil {
		return npmLock, nil, err
	}
	data, err := s.needed(npmLock)
	if err != nil {
		return npmLock, nil, err
	}
	var lock struct {
		Version      int                   `json:"lockfileVersion"`
		Packages     map[string]npmPackage `json:"packages"`
		Dependencies map[string]npmOld     `json:"dependencies"`
	}
	if err := decode(npmLock, data, &lock); err != nil {
		return npmLock, nil, err
	}
	root, ok := lock.Packages[""]
	switch {
	case lock.Version != 2 && lock.Version != 3:
		return npmLock, nil, fmt.Errorf("%s is of version %d; npm install writes one of version 3", npmLock, lock.Version)
	case !ok || root.Workspaces != nil || root.Link || !root.equal(m.asked):
		return npmLock, nil, fmt.Errorf("%s does not fit package.json", npmLock)
	}
	contents := map[[2]string]bool{}
	for place, p := range lock.Packages {
		if place == "" {
			continue
		}
		one, err := p.at(place)
		if err != nil {
			return npmLock, nil, err
		}
		list = append(list, one)
		contents[[2]string{p.Resolved, p.Integrity}] = true
		needs := asked{Dependencies: p.Dependencies, OptionalDependencies: p.OptionalDependencies, PeerDependencies: maps.Clone(p.PeerDependencies)}
		maps.DeleteFunc(needs.PeerDependencies, func(name, _ string) bool { return p.Peers[name].Optional })
		if missing := missing(lock.Packages, place, needs); missing != "" {
			return npmLock, nil, fmt.Errorf("%s does not list %s, which %s needs", npmLock, missing, one.name)
		}
	}
	if missing := missing(lock.Packages, "", asked{Dependencies: root.Dependencies, OptionalDependencies: root.OptionalDependencies, PeerDependencies: root.DevDependencies}); missing != "" {
		return npmLock, nil, fmt.Errorf("%s does not list %s, which package.json needs", npmLock, missing)
	}
	if !oldFits(lock.Dependencies, contents) {
		return npmLock, nil, fmt.Errorf("%s has two lists that differ", npmLock)
	}
	return npmLock, list, nil
}

// at is a package at a place of the tree.
func (p npmPackage) at(place string) (pkg, error) {
	names := strings.Split(place, "node_modules/")
	name := names[len(names)-1]
	for i, n := range names[1:] {
		if i < len(names)-2 {
			n = strings.TrimSuffix(n, "/")
		}
		if !packageName.MatchString(n) {
			return pkg{}, fmt.Errorf("%s has %.80q, which is no place of a package from a registry", npmLock, place)
		}
	}
	switch {
	case names[0] != "" || len(names) < 2 || p.Link:
		return pkg{}, fmt.Errorf("%s has %.80q, which is a directory and no package from a registry", npmLock, place)
	case p.Shrinkwrap:
		return pkg{}, fmt.Errorf("%s has %s, which brings a list of its own", npmLock, name)
	case p.InBundle && p.Integrity == "":
		return pkg{}, fmt.Errorf("%s has no integrity for %s, which comes in another package", npmLock, name)
	case !strong(p.Integrity):
		return pkg{}, weak(npmLock, name, p.Integrity)
	case !version.MatchString(p.Version):
		return pkg{}, fmt.Errorf("%s has %s in the version %.80q, which is none of a registry", npmLock, name, p.Version)
	}
	host, err := hostOf(p.Resolved)
	if err != nil {
		return pkg{}, fmt.Errorf("%s has %s from elsewhere: %w", npmLock, name, err)
	}
	if p.Name != "" && p.Name != name {
		if !packageName.MatchString(p.Name) {
			return pkg{}, fmt.Errorf("%s has a package %.80q", npmLock, p.Name)
		}
		name += "@npm:" + p.Name
	}
	return pkg{host, name, p.Version, p.Integrity, p.text()}, nil
}

// missing is a package that another one needs and that is at no place where it looks; an npm of
// before 8.4 would fetch it.
func missing(all map[string]npmPackage, place string, of asked) string {
	for _, names := range []map[string]string{of.Dependencies, of.OptionalDependencies, of.PeerDependencies} {
	next:
		for name := range names {
			for at := place; ; {
				prefix := at
				if prefix != "" {
					prefix += "/"
				}
				if _, ok := all[prefix+"node_modules/"+name]; ok {
					continue next
				}
				if at == "" {
					return name
				}
				cut := strings.LastIndex(at, "node_modules/")
				at = strings.TrimSuffix(at[:max(cut, 0)], "/")
			}
		}
	}
	return ""
}

// oldFits reports whether the list for npm 6 has nothing that the other one lacks.
func oldFits(list map[string]npmOld, contents map[[2]string]bool) bool {
	for _, p := range list {
		if !contents[[2]string{p.Resolved, p.Integrity}] || !oldFits(p.Dependencies, contents) {
			return false
		}
	}
	return true
}
