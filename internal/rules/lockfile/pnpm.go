package lockfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

const pnpmLock = "pnpm-lock.yaml"

// pnpmAsked is a dependency as the project asks for it.
type pnpmAsked struct {
	Specifier string `yaml:"specifier"`
	Version   string `yaml:"version"`
}

type pnpmFile struct {
	Version   string         `yaml:"lockfileVersion"`
	Settings  map[string]any `yaml:"settings"`
	Importers map[string]struct {
		Dependencies         map[string]pnpmAsked `yaml:"dependencies"`
		DevDependencies      map[string]pnpmAsked `yaml:"devDependencies"`
		OptionalDependencies map[string]pnpmAsked `yaml:"optionalDependencies"`
	} `yaml:"importers"`
	Packages map[string]struct {
		Resolution map[string]string `yaml:"resolution"`
	} `yaml:"packages"`
	Snapshots map[string]struct {
		Dependencies         map[string]string `yaml:"dependencies"`
		OptionalDependencies map[string]string `yaml:"optionalDependencies"`
	} `yaml:"snapshots"`
}

func pnpm(s *source, c command) (string, []pkg, error) {
	m, list, err := readManifest(s, c)
	if err != nil {
		return pnpmLock, nil, err
	}
	data, err := s.needed(pnpmLock)
	if err != nil {
		return pnpmLock, nil, err
	}
	var lock pnpmFile
	if err := decodeYAML(data, &lock); err != nil {
		return pnpmLock, nil, fmt.Errorf("%s is not understood (%.200s)", pnpmLock, err.Error())
	}
	root, ok := lock.Importers["."]
	if lock.Version != "9.0" {
		return pnpmLock, nil, fmt.Errorf("%s is of version %.20q, and known is 9.0", pnpmLock, lock.Version)
	}
	if !ok || len(lock.Importers) != 1 {
		return pnpmLock, nil, fmt.Errorf("%s has the packages of a workspace, which have no integrity", pnpmLock)
	}
	for key, p := range lock.Packages {
		at := strings.LastIndexByte(key, '@')
		if at < 1 || !packageName.MatchString(key[:at]) || !version.MatchString(key[at+1:]) {
			return pnpmLock, nil, fmt.Errorf("%s has %.80q, which is no package of a registry", pnpmLock, key)
		}
		if !strong(p.Resolution["integrity"]) {
			return pnpmLock, nil, weak(pnpmLock, key, p.Resolution["integrity"])
		}
		if len(p.Resolution) != 1 {
			return pnpmLock, nil, fmt.Errorf("%s has %s from elsewhere than a registry", pnpmLock, key)
		}
		list = append(list, pkg{"", key[:at], key[at+1:], p.Resolution["integrity"], ""})
	}
	for key, snapshot := range lock.Snapshots {
		if _, ok := lock.Packages[bare(key)]; !ok {
			return pnpmLock, nil, fmt.Errorf("%s does not list %.80q", pnpmLock, key)
		}
		for _, needs := range []map[string]string{snapshot.Dependencies, snapshot.OptionalDependencies} {
			for name, v := range needs {
				if err := lock.lists(name, v); err != nil {
					return pnpmLock, nil, err
				}
			}
		}
		text, _ := json.Marshal(snapshot)
		list = append(list, pkg{name: key, integrity: unlisted, needs: string(text)})
	}
	for _, of := range []struct {
		locked map[string]pnpmAsked
		asked  map[string]string
	}{{root.Dependencies, m.Dependencies}, {root.DevDependencies, m.DevDependencies}, {root.OptionalDependencies, m.OptionalDependencies}} {
		if !slices.Equal(slices.Sorted(maps.Keys(of.locked)), slices.Sorted(maps.Keys(of.asked))) {
			return pnpmLock, nil, fmt.Errorf("%s does not fit package.json", pnpmLock)
		}
		for name, a := range of.locked {
			if a.Specifier != of.asked[name] {
				return pnpmLock, nil, fmt.Errorf("%s does not fit package.json", pnpmLock)
			}
			if err := lock.lists(name, a.Version); err != nil {
				return pnpmLock, nil, err
			}
		}
	}
	text, _ := json.Marshal(root)
	settings, _ := json.Marshal(lock.Settings)
	return pnpmLock, append(list, pkg{name: "importer", integrity: unlisted, needs: string(text) + string(settings)}), nil
}

// bare is a key without the peers behind it.
func bare(key string) string {
	key, _, _ = strings.Cut(key, "(")
	return key
}

// lists fails for a dependency that is none of the packages.
func (f *pnpmFile) lists(name, v string) error {
	_, byName := f.Packages[name+"@"+bare(v)]
	_, aliased := f.Packages[bare(v)]
	if !byName && !aliased {
		return fmt.Errorf("%s has %s from %.80q, which is no package of a registry that it lists", pnpmLock, name, v)
	}
	return nil
}

// decodeYAML reads YAML that each reader reads alike: one document of what is known, in which
// nothing refers to something else.
func decodeYAML(data []byte, to any) error {
	if strings.Contains("\n"+string(data), "\n---") || strings.Contains("\n"+string(data), "\n...") || strings.Contains("\n"+string(data), "\n%") {
		return errors.New("it has more than one document")
	}
	var node yaml.Node
	if err := yaml.Unmarshal(data, &node); err != nil {
		return err
	}
	if err := plainYAML(&node, 0); err != nil {
		return err
	}
	top := map[string]yaml.Node{}
	if err := node.Decode(&top); err != nil {
		return err
	}
	for key := range top {
		if !slices.Contains([]string{"lockfileVersion", "settings", "importers", "packages", "snapshots"}, key) {
			return fmt.Errorf("it has %.40q, which may change what is installed", key)
		}
	}
	return node.Decode(to)
}

func plainYAML(n *yaml.Node, depth int) error {
	switch {
	case depth > 20:
		return errors.New("it is too deep")
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Value == "<<" && n.Kind == yaml.ScalarNode || n.Style&yaml.TaggedStyle != 0:
		return errors.New("a part of it refers to another one, or has a type of its own")
	}
	for _, c := range n.Content {
		if err := plainYAML(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}
