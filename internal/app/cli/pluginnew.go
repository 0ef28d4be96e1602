package cli

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// examples are plugins that work: a tool and its test in each language. NAME stands for
// the plugin's name.
//
//go:embed examples
var examples embed.FS

// languages are those that there is an example in.
func languages() (list []string) {
	dirs, err := examples.ReadDir("examples")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, d := range dirs {
		list = append(list, d.Name())
	}
	return list
}

var pluginName = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$`)

// newPlugin writes an example that works.
func (c *cli) newPlugin(language, dir string) error {
	if !slices.Contains(languages(), language) {
		return usagef("plugin new has examples in %s, not in %q", strings.Join(languages(), ", "), language)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name := filepath.Base(dir)
	if !pluginName.MatchString(name) {
		return usagef("the directory gives the plugin its name, and %q is none: small letters, digits and hyphens", name)
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return fmt.Errorf("%s is there already, and not empty", dir)
	}
	top := "examples/" + language
	err = fs.WalkDir(examples, top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := examples.ReadFile(path)
		if err != nil {
			return err
		}
		rel := strings.TrimSuffix(strings.TrimPrefix(path, top+"/"), ".txt") // what would be built with this program
		to := filepath.Join(dir, filepath.FromSlash(rel))
		text := strings.ReplaceAll(strings.ReplaceAll(string(data), "NAME_", strings.ReplaceAll(name, "-", "_")+"_"), "NAME", name)
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		fmt.Fprintln(c.Out, to)
		return os.WriteFile(to, []byte(text), mode)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "\nREADME.md there says how it is tested. To have it loaded, and again whenever you change it:\n  add %q to plugins.dirs in your settings, and run: sidecar-ls plugin trust --mine %s\n", dir, name)
	return nil
}
