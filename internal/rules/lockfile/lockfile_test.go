package lockfile

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// files are those of a command's directory.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	if text, ok := f[name]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

// with is f with other texts; an empty one is no file.
func (f files) with(changed ...string) files {
	out := files{}
	for name, text := range f {
		out[name] = text
	}
	for i := 0; i < len(changed); i += 2 {
		out[changed[i]] = changed[i+1]
		if changed[i+1] == "" {
			delete(out, changed[i])
		}
	}
	return out
}

// edit is f with something else in one file.
func (f files) edit(t *testing.T, name, old, now string) files {
	t.Helper()
	if !strings.Contains(f[name], old) {
		t.Fatalf("%s has no %q", name, old)
	}
	return f.with(name, strings.Replace(f[name], old, now, 1))
}

var (
	sumA = "sha512-" + strings.Repeat("A", 86) + "=="
	sumB = "sha512-" + strings.Repeat("B", 85) + "A=="
	hexA = strings.Repeat("a", 64)
)

// The registry that the lock files name, and another one.
const (
	registry = "https://packages.example.org/"
	evil     = "https://evil.example"
)

// good are lock files that list packages, by the command that installs them.
var good = map[string]files{
	"npm ci": {
		"package.json": `{"name":"p","dependencies":{"a":"^1.0.0"},"scripts":{"test":"x"}}`,
		"package-lock.json": `{"name":"p","lockfileVersion":3,"packages":{"":{"name":"p","dependencies":{"a":"^1.0.0"}},
 "node_modules/a":{"version":"1.0.0","resolved":"` + registry + `a/-/a-1.0.0.tgz","integrity":"` + sumA + `","dependencies":{"@s/b":"1"}},
 "node_modules/@s/b":{"version":"1.0.0","resolved":"` + registry + `@s/b/-/b-1.0.0.tgz","integrity":"` + sumB + `","peerDependencies":{"c":"*"},"peerDependenciesMeta":{"c":{"optional":true}}}}}`,
	},
	"pnpm install --frozen-lockfile": {
		"package.json": `{"dependencies":{"a":"^1.0.0"}}`,
		"pnpm-lock.yaml": `lockfileVersion: '9.0'
settings:
  autoInstallPeers: true
importers:
  .:
    dependencies:
      a:
        specifier: ^1.0.0
        version: 1.0.0(b@1.0.0)
packages:
  a@1.0.0:
    resolution: {integrity: ` + sumA + `}
    engines: {node: '>=10'}
  b@1.0.0:
    resolution: {integrity: ` + sumB + `}
snapshots:
  a@1.0.0(b@1.0.0):
    dependencies:
      b: 1.0.0
  b@1.0.0: {}
`,
	},
	"go mod download": {
		"go.mod": "module example.com/x\n\ngo 1.26\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\tgolang.org/x/c v0.1.0 // indirect\n)\n",
		"go.sum": "github.com/a/b v1.2.3 h1:" + strings.Repeat("A", 43) + "=\ngithub.com/a/b v1.2.3/go.mod h1:" + strings.Repeat("A", 43) + "=\ngolang.org/x/c v0.1.0 h1:" + strings.Repeat("A", 43) + "=\n",
	},
	"cargo fetch --locked": {
		"Cargo.toml": "[package]\nname = \"p\"\nversion = \"0.1.0\"\n[dependencies]\na_b = \"1\"\n",
		"Cargo.lock": "version = 4\n\n[[package]]\nname = \"a_b\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" + hexA + "\"\n\n[[package]]\nname = \"p\"\nversion = \"0.1.0\"\ndependencies = [\n \"a_b\",\n]\n",
	},
	"pip install --require-hashes --only-binary=:all: -r requirements.txt": {
		"requirements.txt": "# by hand\na==1.0 \\\n    --hash=sha256:" + hexA + "\nB[x]==2.0; python_version >= \"3.9\" --hash=sha256:" + hexA + " # why\n",
	},
}

func TestGood(t *testing.T) {
	for line, f := range good {
		l, err := Read(strings.Fields(line), 0, f.read)
		want := 2
		if strings.HasPrefix(line, "cargo") {
			want = 1
		}
		if err != nil || l.Count != want || CheckDigest(l.Digest) != nil || !Begins(l.Words) {
			t.Errorf("%s: %+v, %v", line, l, err)
		}
		for name := range f {
			if !slices.ContainsFunc(l.Seen, func(s Seen) bool { return s.Name == name && s.Sum != "" }) {
				t.Errorf("%s: %s is not among what was seen", line, name)
			}
		}
		again, err := Read(strings.Fields(line), 0, f.read)
		if err != nil || again.Digest != l.Digest {
			t.Errorf("%s: another digest for the same", line)
		}
	}
	l, err := Read([]string{"npm", "ci"}, 0, good["npm ci"].read)
	if err != nil || l.Says() != "2 packages of package-lock.json, from packages.example.org" {
		t.Error(l.Says(), err)
	}
}

// change is a project that is not the one that was allowed.
type change struct {
	line string
	name string
	f    func(*testing.T, files) files
}

func edit(name, old, now string) func(*testing.T, files) files {
	return func(t *testing.T, f files) files { return f.edit(t, name, old, now) }
}

func add(name, text string) func(*testing.T, files) files {
	return func(_ *testing.T, f files) files { return f.with(name, text) }
}

const npmEvil = `"node_modules/evil":{"version":"1.0.0","resolved":"` + registry + `evil/-/evil-1.0.0.tgz","integrity":"`

var (
	aNPM   = `"node_modules/a":{`
	atNPM  = "npm ci"
	atPNPM = "pnpm install --frozen-lockfile"
	atGo   = "go mod download"
	atCrgo = "cargo fetch --locked"
	atPip  = "pip install --require-hashes --only-binary=:all: -r requirements.txt"
)

// changes install something else, or may.
var changes = []change{
	{atNPM, "another version", edit("package-lock.json", `"version":"1.0.0","resolved":"`+registry+`a/-/`, `"version":"1.0.1","resolved":"`+registry+`a/-/`)},
	{atNPM, "another integrity", edit("package-lock.json", sumA, sumB)},
	{atNPM, "no integrity", edit("package-lock.json", `,"integrity":"`+sumA+`"`, ``)},
	{atNPM, "a weak integrity", edit("package-lock.json", sumA, "sha1-"+strings.Repeat("A", 27)+"=")},
	{atNPM, "a second weak integrity", edit("package-lock.json", sumA, sumA+" sha1-"+strings.Repeat("A", 27)+"=")},
	{atNPM, "another registry", edit("package-lock.json", "https://packages.example.org/a/", "https://evil.example/a/")},
	{atNPM, "a registry that looks alike", edit("package-lock.json", "https://packages.example.org/a/", "https://packages.exаmple.org/a/")},
	{atNPM, "credentials", edit("package-lock.json", "https://packages.example.org/a/", "https://packages.example.org:x@evil.example/a/")},
	{atNPM, "a redirect by its query", edit("package-lock.json", "a-1.0.0.tgz", "a-1.0.0.tgz?to=evil")},
	{atNPM, "plain http", edit("package-lock.json", "https://packages.example.org/a/", "http://packages.example.org/a/")},
	{atNPM, "git", edit("package-lock.json", "https://packages.example.org/a/-/a-1.0.0.tgz", "git+ssh://git@github.com/x/a.git#0123")},
	{atNPM, "a file", edit("package-lock.json", "https://packages.example.org/a/-/a-1.0.0.tgz", "file:../a.tgz")},
	{atNPM, "another package", edit("package-lock.json", aNPM, npmEvil+sumA+`"},`+aNPM)},
	{atNPM, "another package deeper", edit("package-lock.json", aNPM, strings.Replace(npmEvil, "node_modules/evil", "node_modules/a/node_modules/evil", 1)+sumA+`"},`+aNPM)},
	{atNPM, "an alias", edit("package-lock.json", aNPM, aNPM+`"name":"evil",`)},
	{atNPM, "a link", edit("package-lock.json", aNPM, `"node_modules/l":{"resolved":"sub","link":true},`+aNPM)},
	{atNPM, "a directory", edit("package-lock.json", aNPM, `"sub":{"version":"1.0.0"},`+aNPM)},
	{atNPM, "a link with an integrity", edit("package-lock.json", aNPM, aNPM+`"link":true,`)},
	{atNPM, "a bundled one", edit("package-lock.json", aNPM, `"node_modules/a/node_modules/evil":{"version":"1.0.0","inBundle":true},`+aNPM)},
	{atNPM, "the same name twice, the good one last", edit("package-lock.json", aNPM, npmEvil+sumA+`"},`+npmEvil+sumA+`"},`+aNPM)},
	{atNPM, "a member twice", edit("package-lock.json", `"integrity":"`+sumA+`"`, `"integrity":"`+sumB+`","integrity":"`+sumA+`"`)},
	{atNPM, "a member by another case", edit("package-lock.json", `"integrity":"`+sumA+`"`, `"Integrity":"`+sumA+`"`)},
	{atNPM, "packages twice", edit("package-lock.json", `"packages":{`, `"packages":{"":{}},"packages":{`)},
	{atNPM, "an escape in a name", edit("package-lock.json", aNPM, strings.Replace(npmEvil, "evil\":", "\\u0435vil\":", 1)+sumA+`"},`+aNPM)},
	{atNPM, "a name that leads out", edit("package-lock.json", aNPM, strings.Replace(npmEvil, "node_modules/evil", "node_modules/../../evil", 1)+sumA+`"},`+aNPM)},
	{atNPM, "a prototype", edit("package-lock.json", aNPM, strings.Replace(npmEvil, "node_modules/evil", "node_modules/__proto__", 1)+sumA+`"},`+aNPM)},
	{atNPM, "a package that needs one that is not there", edit("package-lock.json", `"@s/b":"1"`, `"@s/b":"1","evil":"1"`)},
	{atNPM, "a package that asks for another version", edit("package-lock.json", `"@s/b":"1"`, `"@s/b":"2"`)},
	{atNPM, "a project that asks for one more", edit("package.json", `"a":"^1.0.0"`, `"a":"^1.0.0","evil":"1"`)},
	{atNPM, "a project and a lock file that ask for another range", func(t *testing.T, f files) files {
		return f.edit(t, "package.json", "^1.0.0", "^2.0.0").edit(t, "package-lock.json", "^1.0.0", "^2.0.0")
	}},
	{atNPM, "an old form", edit("package-lock.json", `"lockfileVersion":3`, `"lockfileVersion":1`)},
	{atNPM, "another list for npm 6", edit("package-lock.json", `"packages":{`, `"dependencies":{"a":{"version":"1.0.0","resolved":"`+registry+`evil/-/evil-1.0.0.tgz","integrity":"`+sumB+`"}},"packages":{`)},
	{atNPM, "a byte order mark", edit("package-lock.json", `{"name"`, "\ufeff"+`{"name"`)},
	{atNPM, "two texts", edit("package-lock.json", `{"name"`, `{} {"name"`)},
	{atNPM, "a shrinkwrap", add("npm-shrinkwrap.json", "{}")},
	{atNPM, "no lock file", add("package-lock.json", "")},
	{atNPM, "another registry in .npmrc", add(".npmrc", "registry=https://evil.example/\n")},
	{atNPM, "a scope's registry in .npmrc", add(".npmrc", "@s:registry=https://evil.example/\n")},
	{atNPM, "a shell in .npmrc", add(".npmrc", "fund=false\nscript-shell=./evil\n")},
	{atNPM, "a variable in .npmrc", add(".npmrc", "loglevel=${X}\n")},
	{atNPM, "a script", edit("package.json", `"test":"x"`, `"preinstall":"npm i evil"`)},
	{atNPM, "a script, prepare", edit("package.json", `"test":"x"`, `"prepare":"npm i evil"`)},
	{atNPM, "a script after the install", edit("package.json", `"test":"x"`, `"dependencies":"npm i evil"`)},
	{atNPM, "a package with a list of its own", edit("package-lock.json", aNPM, aNPM+`"hasShrinkwrap":true,`)},
	{atNPM, "a lock file of yarn", add("yarn.lock", "evil@1:\n  version 1.0.0\n")},
	{atNPM, "a node of the project's", add(".node-version", "../../evil\n")},
	{atNPM, "a script of node-gyp", add("binding.gyp", "{}")},
	{atNPM, "workspaces", edit("package.json", `"name"`, `"workspaces":["x"],"name"`)},
	{atNPM, "overrides", edit("package.json", `"name"`, `"overrides":{"a":"npm:evil@1"},"name"`)},
	{atNPM, "another npm", edit("package.json", `"name"`, `"packageManager":"npm@8.0.0","name"`)},
	{atNPM, "an npm from elsewhere", edit("package.json", `"name"`, `"packageManager":"npm@https://evil.example/npm.tgz","name"`)},
	{atNPM, "an npm of the project", add(".tool-versions", "nodejs path:./evil\n")},
	{atNPM, "a registry of corepack", add(".corepack.env", "COREPACK_NPM_REGISTRY=https://evil.example\n")},
	{atPNPM, "another version", edit("pnpm-lock.yaml", "a@1.0.0:", "a@1.0.1:")},
	{atPNPM, "another integrity", edit("pnpm-lock.yaml", sumA, sumB)},
	{atPNPM, "no integrity", edit("pnpm-lock.yaml", "resolution: {integrity: "+sumA+"}", "resolution: {}")},
	{atPNPM, "a tarball", edit("pnpm-lock.yaml", "{integrity: "+sumA+"}", "{integrity: "+sumA+", tarball: 'https://evil.example/a.tgz'}")},
	{atPNPM, "git", edit("pnpm-lock.yaml", "{integrity: "+sumA+"}", "{type: git, repo: 'https://evil.example/a', commit: abc}")},
	{atPNPM, "a link", edit("pnpm-lock.yaml", "version: 1.0.0(b@1.0.0)", "version: link:../evil")},
	{atPNPM, "a patch", edit("pnpm-lock.yaml", "importers:", "patchedDependencies:\n  a@1.0.0: {hash: x, path: p.patch}\nimporters:")},
	{atPNPM, "an alias of YAML", edit("pnpm-lock.yaml", "resolution: {integrity: "+sumB+"}", "resolution: *x")},
	{atPNPM, "an anchor", edit("pnpm-lock.yaml", "resolution: {integrity: "+sumB, "resolution: &x {integrity: "+sumB)},
	{atPNPM, "a second document", edit("pnpm-lock.yaml", "lockfileVersion", "---\na: 1\n---\nlockfileVersion")},
	{atPNPM, "a key twice", edit("pnpm-lock.yaml", "  b@1.0.0:\n    res", "  b@1.0.0:\n    resolution: {integrity: "+sumA+"}\n    res")},
	{atPNPM, "a workspace", edit("pnpm-lock.yaml", "importers:\n", "importers:\n  sub: {}\n")},
	{atPNPM, "settings of a workspace", add("pnpm-workspace.yaml", "registries: {default: 'https://evil.example'}\n")},
	{atPNPM, "a hook", add(".pnpmfile.cjs", "x")},
	{atPNPM, "another registry", add(".npmrc", "registry=https://evil.example/\n")},
	{atPNPM, "a pnpm of the project's", edit("package.json", "{", `{"devEngines":{"runtime":{"name":"node"}},`)},
	{atGo, "another version", func(t *testing.T, f files) files {
		return f.edit(t, "go.mod", "b v1.2.3", "b v1.2.4").edit(t, "go.sum", "b v1.2.3 ", "b v1.2.4 ")
	}},
	{atGo, "another hash", edit("go.sum", "v1.2.3 h1:A", "v1.2.3 h1:B")},
	{atGo, "no hash", edit("go.sum", "github.com/a/b v1.2.3 h1", "github.com/a/b v1.2.5 h1")},
	{atGo, "two hashes", edit("go.sum", "golang.org/x/c", "github.com/a/b v1.2.3 h1:B"+strings.Repeat("A", 42)+"=\ngolang.org/x/c")},
	{atGo, "one more", edit("go.mod", "require (", "require (\n\tevil.example/x v1.0.0")},
	{atGo, "replaced", edit("go.mod", "require (", "replace github.com/a/b => evil.example/b v1.0.0\nrequire (")},
	{atGo, "replaced in a block", edit("go.mod", "require (", "replace (\n\tgithub.com/a/b => ./b\n)\nrequire (")},
	{atGo, "excluded", edit("go.mod", "require (", "exclude github.com/a/b v1.2.3\nrequire (")},
	{atGo, "a quoted line", edit("go.mod", "require (", "\"replace\" github.com/a/b => ./b\nrequire (")},
	{atGo, "another Go", edit("go.mod", "go 1.26", "go 1.27")},
	{atGo, "a toolchain", edit("go.mod", "go 1.26", "go 1.26\ntoolchain go1.27.1")},
	{atGo, "an old go line", edit("go.mod", "go 1.26", "go 1.16")},
	{atGo, "no go line", edit("go.mod", "go 1.26\n", "")},
	{atGo, "a workspace", add("go.work", "go 1.26\nuse ./x\n")},
	{atCrgo, "another checksum", edit("Cargo.lock", "aaa", "baa")},
	{atCrgo, "no checksum", edit("Cargo.lock", "checksum = ", "# ")},
	{atCrgo, "another registry", edit("Cargo.lock", "https://github.com/rust-lang/", "https://evil.example/")},
	{atCrgo, "git", edit("Cargo.lock", "registry+https://github.com/rust-lang/crates.io-index", "git+https://github.com/x/a#0123")},
	{atCrgo, "a directory", edit("Cargo.lock", "source = ", "# ")},
	{atCrgo, "a directory called like the project", edit("Cargo.lock", "name = \"a_b\"\nversion = \"1.0.0\"\nsource", "name = \"p\"\nversion = \"9.0.0\"\n# source")},
	{atCrgo, "a key twice", edit("Cargo.lock", "checksum = ", "checksum = \"x\"\nchecksum = ")},
	{atCrgo, "a patch", edit("Cargo.toml", "[dependencies]", "[patch.crates-io]\na_b = { path = \"x\" }\n[dependencies]")},
	{atCrgo, "another registry in the configuration", add(".cargo/config.toml", "[source.crates-io]\nreplace-with = 'x'\n")},
	{atCrgo, "a toolchain of the project's", add("rust-toolchain.toml", "[toolchain]\npath = './evil'\n")},
	{atPip, "another hash", edit("requirements.txt", "sha256:a", "sha256:b")},
	{atPip, "no hash", edit("requirements.txt", " --hash=sha256:"+hexA+" # why", "")},
	{atPip, "a weak hash", edit("requirements.txt", "sha256:"+hexA+" # why", "md5:"+strings.Repeat("a", 32))},
	{atPip, "one more", edit("requirements.txt", "a==1.0", "evil==1 --hash=sha256:"+hexA+"\na==1.0")},
	{atPip, "an index", edit("requirements.txt", "# by hand", "--index-url https://evil.example/\n# by hand")},
	{atPip, "another file", edit("requirements.txt", "# by hand", "-r more.txt\n# by hand")},
	{atPip, "an address", edit("requirements.txt", "a==1.0 ", "a @ https://evil.example/a.whl ")},
	{atPip, "a range", edit("requirements.txt", "a==1.0", "a>=1.0")},
	{atPip, "a variable", edit("requirements.txt", "a==1.0", "a==${X}")},
	{atPip, "a comment that goes on", edit("requirements.txt", "# by hand", "# by hand \\\nevil==1 --hash=sha256:"+hexA)},
	{atPip, "an encoding", edit("requirements.txt", "# by hand", "# coding: utf-7 +AAo-evil==1")},
	{atPip, "a Python of the project's", add(".python-version", "3.12\n../../evil\n")},
	{atPip, "a line that only Python ends", edit("requirements.txt", "# by hand", "# by hand\x1cevil==1 --hash=sha256:"+hexA)},
}

// Every other list has another digest, or none. The controls are
// TestGood, and that each text is changed.
func TestChanged(t *testing.T) {
	for _, c := range changes {
		f := good[c.line]
		was, err := Read(strings.Fields(c.line), 0, f.read)
		if err != nil {
			t.Fatal(c.line, err)
		}
		now, err := Read(strings.Fields(c.line), 0, c.f(t, f).read)
		if err == nil && now.Digest == was.Digest {
			t.Errorf("%s: %s: it counts as the same list", c.line, c.name)
		}
		if err != nil && (now.Digest != "" || strings.Contains(err.Error(), "x@")) {
			t.Errorf("%s: %s: %+v, %v", c.line, c.name, now, err)
		}
	}
}

// These change nothing of what is installed.
func TestSame(t *testing.T) {
	for _, c := range []change{
		{atNPM, "spaces", edit("package-lock.json", `"packages":{`, "\n \"packages\" : {")},
		{atNPM, "harmless settings", add(".npmrc", "# mine\nfund=false\nsave-exact = true\n")},
		{atNPM, "another test", edit("package.json", `"test":"x"`, `"test":"y"`)},
		{atNPM, "a version", add(".node-version", "v22.1.0\n")},
		{atNPM, "a file beside it", add("index.js", "x")},
		{atGo, "a comment", edit("go.mod", "// indirect", "// why")},
		{atGo, "a hash of another module", func(_ *testing.T, f files) files {
			return f.with("go.sum", f["go.sum"]+"github.com/z/z v1.0.0/go.mod h1:"+strings.Repeat("A", 43)+"=\n")
		}},
		{atPip, "a comment", edit("requirements.txt", "# by hand", "# by pip-compile")},
	} {
		f := good[c.line]
		was, err := Read(strings.Fields(c.line), 0, f.read)
		now, err2 := Read(strings.Fields(c.line), 0, c.f(t, f).read)
		if err != nil || err2 != nil || now.Digest != was.Digest {
			t.Errorf("%s: %s: %v, %v", c.line, c.name, err, err2)
		}
	}
}

// Only these commands, with these options, in this directory.
func TestCommands(t *testing.T) {
	for line, f := range good {
		for _, more := range []string{" evil", " --registry=" + evil, " --registry " + evil, " -C x", " --prefix x", " --prefix=x", " --userconfig=x", " -g", " --index-url=x", " -i x", " -e .",
			" --manifest-path=x", " --config x=y", " --target x", " --no-frozen-lockfile", " --ignore-scripts=false", " --modfile=x", " --", " --dir x", " -w", " --lockfile-dir x", " -r other.txt", " --only-binary=:none:"} {
			if _, err := Read(strings.Fields(line+more), 0, f.read); !errors.Is(err, ErrOther) {
				t.Errorf("%s%s: %v", line, more, err)
			}
		}
		if _, err := Read(strings.Fields(line), 1, f.with("../go.work", "x", "../package.json", "{}", "../pnpm-workspace.yaml", "x", "../Cargo.toml", "x", "../.tool-versions", "x").read); err == nil {
			t.Errorf("%s: a directory above says otherwise", line)
		}
		if _, err := Read(strings.Fields(line), 1, f.read); err != nil {
			t.Errorf("%s: control: %v", line, err)
		}
	}
	for _, line := range []string{"npm", "npm i", "npm install", "npm cit", "./npm ci", "pnpm install", "pnpm add a --frozen-lockfile", "go mod tidy", "go mod download a@latest", "cargo fetch", "pip install -r requirements.txt", "pip install --require-hashes -r ../r.txt", "pip install --require-hashes -r /r.txt", "pip install --require-hashes -r https://evil.example/r.txt", ""} {
		if _, err := Read(strings.Fields(line), 0, files{}.read); !errors.Is(err, ErrOther) {
			t.Errorf("%s: %v", line, err)
		}
	}
	f := good[atNPM].edit(t, "package.json", `"test":"x"`, `"prepare":"x"`)
	if _, err := Read([]string{"npm", "ci", "--ignore-scripts"}, 0, f.read); err != nil {
		t.Error(err)
	}
	if _, err := Read([]string{"npm", "ci"}, 0, func(string) ([]byte, error) { return nil, fs.ErrPermission }); err == nil {
		t.Error("what can't be read is no file")
	}
	if _, err := Read(strings.Fields("pip install --require-hashes -r requirements.txt"), 0, good[atPip].read); err == nil || !strings.Contains(err.Error(), "--only-binary") {
		t.Errorf("from the source: %v", err)
	}
}

// FuzzRead: no text makes it panic, and what has a digest has packages.
func FuzzRead(f *testing.F) {
	for line, g := range good {
		for name, text := range g {
			f.Add(line, name, text)
		}
	}
	f.Fuzz(func(t *testing.T, line, name, text string) {
		l, err := Read(strings.Fields(line), 0, good[line].with(name, text).read)
		if err == nil && (l.Count == 0 || CheckDigest(l.Digest) != nil || len(l.Seen) == 0) {
			t.Errorf("%+v", l)
		}
	})
}
