package lockfile

import (
	"fmt"
	"slices"
	"strings"
)

// row is a command that installs what a lock file lists, and nothing else.
type row struct {
	words  string              // how it begins
	needs  []string            // options that it must have
	may    string              // options that it may have besides
	values map[string][]string // options with a value, and which; none: a plain name of a file
	lists  func(s *source, c command) (lock string, packages []pkg, err error)

	absent      []string // files that change what it does
	absentAbove []string // likewise, in directories above, too
	home        []string // likewise, in the home
	env         []string // variables that it gets, NAME=value: files in the home may appear while it runs
	scripts     bool     // packages run scripts of their own
	scratch     []string // variables that get a new directory, for a store that the program would believe
}

// command is one that was read.
type command struct {
	row
	options map[string]string // with their values
}

func (c command) has(option string) bool {
	_, ok := c.options[option]
	return ok
}

// versionFiles choose which version of a program runs, or a program of the project.
var versionFiles = []string{".tool-versions", "mise.toml", ".mise.toml", ".config/mise.toml", ".config/mise/config.toml"}

// homeVersions are those of the home.
var homeVersions = []string{".tool-versions", ".asdfrc", ".config/mise/config.toml", ".volta/hooks.json"}

const (
	quietly = "-s -q --silent --quiet"
)

// table has the commands.
var table = []row{
	{
		words: "npm ci", scripts: true, env: []string{"npm_config_userconfig=/dev/null"}, may: quietly + " --ignore-scripts --no-audit --no-fund --prefer-offline --no-progress --verbose",
		values: map[string][]string{"--omit": {"dev", "optional"}, "--include": {"dev", "optional"}, "--audit": {"false"}, "--fund": {"false"}}, lists: npm,
		absent: []string{"npm-shrinkwrap.json", "yarn.lock", ".corepack.env"}, absentAbove: versionFiles, home: slices.Concat(homeVersions, []string{".npmrc", ".config/npm/npmrc"}),
	},
	{
		words: "pnpm install", scripts: true, env: []string{"npm_config_userconfig=/dev/null"}, needs: []string{"--frozen-lockfile"}, may: quietly + " --ignore-scripts --prefer-offline --prod -P", lists: pnpm,
		absent: []string{".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", ".corepack.env"}, absentAbove: slices.Concat(versionFiles, []string{"pnpm-workspace.yaml", "pnpm-workspace.yml"}),
		home: slices.Concat(homeVersions, []string{".npmrc", ".config/pnpm", "Library/Preferences/pnpm"}), scratch: []string{"npm_config_store_dir", "pnpm_config_store_dir"},
	},
	{
		words: "go mod download", env: []string{"GOENV=off"}, may: "-x -json", lists: goModules,
		absentAbove: slices.Concat(versionFiles, []string{"go.work"}), home: slices.Concat(homeVersions, []string{".config/go/env", "Library/Application Support/go/env"}),
	},
	{
		words: "cargo fetch", needs: []string{"--locked"}, may: "-q --quiet -v --verbose", lists: cargo,
		absentAbove: slices.Concat(versionFiles, []string{".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml"}),
		home:        slices.Concat(homeVersions, []string{".cargo/config", ".cargo/config.toml", ".rustup/settings.toml"}),
	},
	{
		words: "pip install", env: []string{"PYTHONNOUSERSITE=1"}, needs: []string{"--require-hashes", "-r"}, may: "-q --quiet --no-deps --no-input --no-cache-dir --disable-pip-version-check", lists: pip,
		values:      map[string][]string{"-r": nil, "--only-binary": {":all:"}},
		absentAbove: versionFiles, home: slices.Concat(homeVersions, []string{".pip", ".config/pip", ".pydistutils.cfg", "Library/Application Support/pip", ".local/lib", "Library/Python"}),
	},
}

// chosen are files that may name a version of a program and nothing else.
var chosen = []string{".python-version", ".node-version", ".go-version"}

// Begins reports whether a rule with these first words is about a command of the table.
func Begins(words []string) bool {
	return slices.ContainsFunc(table, func(r row) bool { return slices.Equal(strings.Fields(r.words), words) })
}

// Known lists how the commands begin.
func Known() string {
	var list []string
	for _, r := range table {
		list = append(list, "`"+strings.Join(append([]string{r.words}, r.needs...), " ")+"`")
	}
	return strings.Join(list, ", ")
}

// find finds the row of a command and reads its options. An option that the row does not have
// could change the registry, the lock file or where is installed.
func find(words []string) (command, bool) {
	for _, r := range table {
		first := strings.Fields(r.words)
		if len(words) < len(first) || !slices.Equal(words[:len(first)], first) {
			continue
		}
		c := command{r, map[string]string{}}
		for rest := words[len(first):]; len(rest) > 0; rest = rest[1:] {
			name, value, has := strings.Cut(rest[0], "=")
			allowed, takes := r.values[name]
			switch {
			case takes:
				if !has {
					if len(rest) < 2 {
						return c, false
					}
					rest = rest[1:]
					value = rest[0]
				}
				if allowed != nil && !slices.Contains(allowed, value) || allowed == nil && !plainName(value) {
					return c, false
				}
			case has || !slices.Contains(strings.Fields(r.may), name) && !slices.Contains(r.needs, name):
				return c, false
			}
			if c.has(name) {
				return c, false
			}
			c.options[name] = value
		}
		for _, need := range r.needs {
			if !c.has(need) {
				return c, false
			}
		}
		return c, true
	}
	return command{}, false
}

// plainName reports whether a word is the name of a file below, of which no program makes
// anything else.
func plainName(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." || part[0] == '-' || part[0] == '~' || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
			return false
		}
	}
	return len(s) <= 200
}

// Says is what a list allows, in words.
func (l List) Says() string {
	from := strings.Join(l.Hosts, ", ")
	if len(l.Hosts) == 0 {
		from = "the registry that " + l.Words[0] + " is set to"
	}
	packages := "packages"
	if l.Count == 1 {
		packages = "package"
	}
	return fmt.Sprintf("%d %s of %s, from %s", l.Count, packages, l.Lock, from)
}

// Scripts reports whether the packages of a command run scripts of their own.
func Scripts(words []string) bool {
	return slices.ContainsFunc(table, func(r row) bool { return r.scripts && slices.Equal(strings.Fields(r.words), words) })
}

// Commands are how the commands begin, each as one text.
func Commands() (list []string) {
	for _, r := range table {
		list = append(list, r.words)
	}
	return list
}
