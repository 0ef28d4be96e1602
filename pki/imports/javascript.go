package imports

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// jsEndings are tried in the order in which bundlers and compilers do.
var jsEndings = [...]string{".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

// jsFile finds the file of a module of JavaScript or TypeScript, "" if the tree
// has none.
func (r *Resolver) jsFile(dir, name string) string {
	if strings.HasPrefix(name, ".") {
		return r.jsAt(path.Join(dir, name))
	}
	for _, t := range r.aliases(dir, name) {
		if file := r.jsAt(t); file != "" {
			return file
		}
	}
	for _, p := range r.packages {
		rest, ok := strings.CutPrefix(name, p.Path)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		for _, t := range []string{path.Join(p.Dir, rest), path.Join(p.Dir, "src", rest), path.Join(p.Dir, "lib", rest), path.Join(p.Dir, p.Main)} {
			if t == path.Join(p.Dir, p.Main) && (rest != "" || p.Main == "") {
				continue
			}
			if file := r.jsAt(t); file != "" {
				return file
			}
		}
	}
	return ""
}

// jsAt finds the file for a path that may lack its ending, or have the ending
// of what it is compiled to.
func (r *Resolver) jsAt(name string) string {
	if ext := path.Ext(name); slices.Contains(jsEndings[:], ext) {
		if r.tree.IsFile(name) {
			return name
		}
		bare := strings.TrimSuffix(name, ext)
		for _, e := range jsEndings {
			if r.tree.IsFile(bare + e) {
				return bare + e
			}
		}
	}
	for _, e := range jsEndings {
		if r.tree.IsFile(name + e) {
			return name + e
		}
	}
	for _, e := range jsEndings {
		if file := path.Join(name, "index"+e); r.tree.IsFile(file) {
			return file
		}
	}
	return ""
}

// aliases returns where the paths of the nearest tsconfig.json or
// jsconfig.json say that a name may be.
func (r *Resolver) aliases(dir, name string) []string {
	for ; ; dir = path.Dir(dir) {
		for _, base := range []string{"tsconfig.json", "jsconfig.json", "tsconfig.base.json"} {
			file := path.Join(dir, base)
			if !r.tree.IsFile(file) {
				continue
			}
			if c := r.config(file); c != nil {
				if found := c.targets(name); found != nil {
					return found
				}
			}
		}
		if dir == "." {
			return nil
		}
	}
}

// comments of JSON, and the commas that people leave before a closing bracket.
// A // inside of a string is not mistaken for one where a colon precedes it.
var jsonNoise = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(^|[\s,{}\[\]])//.*$|/\*(?:[^*"]|\*[^/"])*\*/|,(\s*[}\]])`)
})

// config is what counts of a tsconfig.json.
type config struct {
	base    string // what the paths of names begin at
	hasBase bool
	paths   map[string][]string
}

// config reads a tsconfig.json; nil if there is nothing to be had.
func (r *Resolver) config(file string) *config {
	c, ok := r.configs[file]
	if !ok {
		c = r.readConfig(file)
		r.configs[file] = c
	}
	return c
}

func (r *Resolver) readConfig(file string) *config {
	data, err := r.tree.ReadFile(file)
	if err != nil {
		return nil
	}
	var read struct {
		CompilerOptions struct {
			BaseURL string              `json:"baseUrl"`
			Paths   map[string][]string `json:"paths"`
		} `json:"compilerOptions"`
	}
	if json.Unmarshal(data, &read) != nil && json.Unmarshal(jsonNoise().ReplaceAll(data, []byte("$1$2")), &read) != nil {
		return nil
	}
	o := read.CompilerOptions
	return &config{base: path.Join(path.Dir(file), o.BaseURL), hasBase: o.BaseURL != "", paths: o.Paths}
}

// targets returns where a name may be.
func (c *config) targets(name string) []string {
	var found []string
	for pattern, targets := range c.paths {
		before, after, wild := strings.Cut(pattern, "*")
		middle, ok := strings.CutPrefix(name, before)
		if ok {
			middle, ok = strings.CutSuffix(middle, after)
		}
		if !ok || !wild && name != pattern {
			continue
		}
		for _, t := range targets {
			found = append(found, path.Join(c.base, strings.Replace(t, "*", middle, 1)))
		}
	}
	slices.Sort(found)
	if c.hasBase {
		found = append(found, path.Join(c.base, name))
	}
	return found
}
