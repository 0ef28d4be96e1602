package lockfile

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const (
	cargoLock    = "Cargo.lock"
	cargoProject = "Cargo.toml"
)

func cargo(s *source, _ command) (string, []pkg, error) {
	data, err := s.needed(cargoProject)
	if err != nil {
		return cargoLock, nil, err
	}
	var project struct {
		Package struct {
			Name string `toml:"name"`
		} `toml:"package"`
		Workspace any `toml:"workspace"`
		Patch     any `toml:"patch"`
		Replace   any `toml:"replace"`
	}
	if err := toml.Unmarshal(data, &project); err != nil {
		return cargoLock, nil, fmt.Errorf("%s is not understood (%.200s)", cargoProject, err.Error())
	}
	if project.Workspace != nil || project.Patch != nil || project.Replace != nil {
		return cargoLock, nil, fmt.Errorf("the project has a workspace, or takes packages from elsewhere, which have no checksum")
	}
	for up := 1; up <= s.above; up++ { // a directory above could be the workspace, with a lock file of its own
		if err := s.absent([]string{strings.Repeat("../", up) + "Cargo.toml"}, 0); err != nil {
			return cargoLock, nil, err
		}
	}
	if data, err = s.needed(cargoLock); err != nil {
		return cargoLock, nil, err
	}
	var lock struct {
		Version int `toml:"version"`
		Package []struct {
			Name         string   `toml:"name"`
			Version      string   `toml:"version"`
			Source       string   `toml:"source"`
			Checksum     string   `toml:"checksum"`
			Replace      string   `toml:"replace"`
			Dependencies []string `toml:"dependencies"`
		} `toml:"package"`
		Patch any `toml:"patch"`
	}
	if err := toml.Unmarshal(data, &lock); err != nil {
		return cargoLock, nil, fmt.Errorf("%s is not understood (%.200s)", cargoLock, err.Error())
	}
	if lock.Version < 3 || lock.Version > 4 || lock.Patch != nil {
		return cargoLock, nil, fmt.Errorf("%s is of version %d, or takes packages from elsewhere; known are 3 and 4", cargoLock, lock.Version)
	}
	var list []pkg
	own := 0
	for _, p := range lock.Package {
		needs := strings.Join(p.Dependencies, "\n")
		switch {
		case p.Source == "" && p.Name == project.Package.Name && p.Name != "" && own == 0:
			own++
			list = append(list, pkg{name: p.Name, integrity: unlisted, needs: needs})
			continue
		case p.Source == "":
			return cargoLock, nil, fmt.Errorf("%s has %.80q from a directory, which has no checksum", cargoLock, p.Name)
		case !packageName.MatchString(strings.ReplaceAll(p.Name, "_", "-")) || !version.MatchString(p.Version) || p.Replace != "":
			return cargoLock, nil, fmt.Errorf("%s has a package %.80q", cargoLock, p.Name+" "+p.Version)
		case !strongHex("sha256", p.Checksum):
			return cargoLock, nil, weak(cargoLock, p.Name, p.Checksum)
		}
		host, err := cargoHost(p.Source)
		if err != nil {
			return cargoLock, nil, fmt.Errorf("%s has %s from elsewhere: %w", cargoLock, p.Name, err)
		}
		list = append(list, pkg{host, p.Name, p.Version, p.Checksum, p.Source + "\n" + needs})
	}
	return cargoLock, list, nil
}

// cargoHost is the host of a registry.
func cargoHost(text string) (string, error) {
	address, ok := strings.CutPrefix(text, "registry+")
	if !ok {
		address, ok = strings.CutPrefix(text, "sparse+")
	}
	if u, err := url.Parse(address); !ok || err != nil || u == nil {
		return "", fmt.Errorf("%.100q is no registry", hideUser(text))
	}
	return hostOf(address + "/")
}
