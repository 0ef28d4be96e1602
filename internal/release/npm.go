package main

import (
	"encoding/json"
	"os"
	"strings"
)

// npmScope is before the names of the packages that have a binary each.
const npmScope = "@sidecar-ls/"

// npmPackage is what npm reads of a package, in the order in which people do.
type npmPackage struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Homepage     string            `json:"homepage"`
	Repository   map[string]string `json:"repository"`
	Bin          map[string]string `json:"bin,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Files        []string          `json:"files"`
	PreferUnplug bool              `json:"preferUnplugged,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
}

func (b *build) npmPackage(name, what string) npmPackage {
	return npmPackage{
		Name: name, Version: b.version, Description: what, License: "MIT", Homepage: home,
		Repository: map[string]string{"type": "git", "url": "git+" + home + ".git"},
	}
}

// npmSystem is a target's system and processor as node names them.
func (t target) npmSystem() (system, cpu string) {
	system, cpu, _ = strings.Cut(t.vscode[0], "-")
	return system, cpu
}

// npm makes the packages for npm: sidecar-ls, which starts the program, and one for each
// target that has it. npm installs, of those that are optional, the one for its machine; a
// package that downloaded the program when it is installed would fail where scripts are off.
func (b *build) npm(some []target, notices []byte) error {
	starter := b.npmPackage("sidecar-ls", "Review what coding agents change before it touches your files")
	starter.Bin, starter.Files = map[string]string{"sidecar-ls": "sidecar-ls.cjs"}, []string{"sidecar-ls.cjs"}
	starter.Optional = map[string]string{}
	for _, t := range some {
		system, cpu := t.npmSystem()
		p := b.npmPackage(npmScope+system+"-"+cpu, "The program sidecar-ls for "+t.String())
		p.OS, p.CPU, p.Files, p.PreferUnplug = []string{system}, []string{cpu}, []string{t.program(), noticesName}, true
		starter.Optional[p.Name] = b.version
		program, err := os.ReadFile(b.binary(t))
		if err != nil {
			return err
		}
		if err := b.npmFile("sidecar-ls-"+b.version+"-npm-"+system+"-"+cpu+".tgz", p, file{t.program(), 0o755, program}, file{noticesName, 0o644, notices}); err != nil {
			return err
		}
	}
	script, err := templates.ReadFile("templates/sidecar-ls.cjs")
	if err != nil {
		return err
	}
	return b.npmFile("sidecar-ls-"+b.version+"-npm.tgz", starter, file{"sidecar-ls.cjs", 0o755, script})
}

// npmFile writes a package as npm reads it.
func (b *build) npmFile(name string, p npmPackage, files ...file) error {
	described, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	all := []file{{"package.json", 0o644, append(described, '\n')}}
	for _, extra := range []string{"LICENSE", "README.md"} {
		data, err := os.ReadFile(extra)
		if err != nil {
			return err
		}
		all = append(all, file{extra, 0o644, data})
	}
	data, err := pack(target{os: "linux"}, "package", b.date, append(all, files...))
	if err != nil {
		return err
	}
	return b.write(name, data)
}
