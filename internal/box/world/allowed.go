package world

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Directories of data come through by themselves where the user has named them. Only data
// does: a file that a program may run, load or obey is held like all other output, and so
// is one that git would show.

// allowedDirs are those of some names that can be directories of a folder, as its names are
// written. One that leads out, or is all of the folder, allows nothing.
func allowedDirs(names []string) (dirs []string) {
	for _, name := range names {
		dir := path.Clean(filepath.ToSlash(name))
		if name != "" && dir != "." && filepath.IsLocal(filepath.FromSlash(dir)) && workspace.Protected(dir) == workspace.NotProtected {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Allowed says which directories of a folder, by their names with slashes, have data that
// goes to the folder where output is held.
type Allowed interface{ AllowedOutput() []string }

// allowing decides which files of output are such data.
type allowing struct {
	root    string
	out     *outputs
	users   rules // of git, that are not the folder's
	dirs    []string
	tracked func(name string) bool
	onPath  []string         // directories of the folder that programs are looked for in, as its names are written
	ignored map[string]ruled // by directory
	copied  [][]byte         // how the path of a copy elsewhere is written
}

// ruled is what git's rules say about a directory of the folder.
type ruled struct {
	rules   rules
	ignored bool
	foreign bool // it is of another repository
}

// newAllowing is nil where nothing is let through.
func newAllowing(w *world) *allowing {
	if w.o.Allowed == nil || !w.stays || w.fresh {
		return nil
	}
	a := &allowing{root: w.root, out: w.out, dirs: allowedDirs(w.o.Allowed.AllowedOutput()), tracked: w.o.Tracked(w.root), ignored: map[string]ruled{}}
	if len(a.dirs) == 0 {
		return nil
	}
	a.users = w.o.usersRules(w.root)
	for _, variable := range searchPaths {
		for _, dir := range filepath.SplitList(os.Getenv(variable)) {
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				continue
			}
			if rel, err := filepath.Rel(w.root, real); err == nil && filepath.IsLocal(rel) {
				a.onPath = append(a.onPath, filepath.ToSlash(rel))
			}
		}
	}
	if w.kind == SeparateCopy {
		for _, at := range Written(w.upper()) {
			a.copied = append(a.copied, []byte(at))
		}
	}
	return a
}

// searchPaths are variables that name directories in which programs look for what they run.
var searchPaths = []string{"PATH", "PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB", "CLASSPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}

// has reports whether a name lies in a directory that the user has named, and which is the
// rest of it.
func (a *allowing) has(rel string) (rest string, ok bool) {
	for _, dir := range a.dirs {
		if below(rel, dir) {
			return strings.TrimPrefix(rel, dir+"/"), true
		}
	}
	return "", false
}

// about reports whether something of output may lie in such a directory.
func (a *allowing) about(rel string) bool {
	return slices.ContainsFunc(a.dirs, func(dir string) bool { return rel == dir || below(rel, dir) || below(dir, rel) })
}

// Why a file is held that lies in such a directory.
const (
	isLink       = "it is a link"
	isProgram    = "it is a program, or is run by one"
	isPage       = "a browser runs what is in it"
	obeysIt      = "programs obey it, or it may hold secrets"
	beginsByDot  = "its name begins with a dot, as those of settings do"
	oddName      = "its name can't be shown"
	onSearchPath = "programs are looked for in its directory"
	gitShows     = "git would show it: no .gitignore on the disk names it"
	gitTracks    = "git tracks it"
	namesTheCopy = "it has the path of the copy in it, in which it was built"
	earlierHeld  = "an earlier output lies there, and waits for you"
)

// why is why a file of output is held; "" lets it through. rest is its name in the directory
// that the user has named.
func (a *allowing) why(in *osfile.Dir, rel, rest string, info fs.FileInfo) string {
	for part := range strings.SplitSeq(rel, "/") {
		if low := strings.ToLower(part); programDirs[low] || dependencyDirs[low] {
			return onSearchPath
		}
		if !utf8.ValidString(part) || strings.ContainsFunc(part, unicode.IsControl) {
			return oddName
		}
	}
	for part := range strings.SplitSeq(rest, "/") {
		if strings.HasPrefix(part, ".") {
			return beginsByDot
		}
	}
	base := strings.ToLower(path.Base(rel))
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return isLink
	case !info.Mode().IsRegular():
		return isSpecial
	case workspace.IsExec(info.Mode()) || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 || programEndings[path.Ext(base)]:
		return isProgram
	case pageEndings[path.Ext(base)]:
		return isPage
	case obeyedNames[base] || obeyedEndings[path.Ext(base)] || decidedApart(rel) || workspace.Obeyed(rel):
		return obeysIt
	case slices.ContainsFunc(a.onPath, func(dir string) bool { return below(rel, dir) }):
		return onSearchPath
	case a.tracked(rel):
		return gitTracks
	case !a.gitIgnores(rel):
		return gitShows
	case a.out.covers(rel):
		return earlierHeld
	}
	return a.content(in, path.Base(rel), info)
}

// content is why a file is held because of what is in it.
func (a *allowing) content(in *osfile.Dir, name string, info fs.FileInfo) string {
	f, err := in.Open(name)
	if err != nil {
		return reason(err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(opened, info) {
		return swapped
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 && info.Size() > 0 {
		return reason(err)
	}
	head = bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf"))
	if slices.ContainsFunc(programBeginnings, func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }) {
		return isProgram
	}
	text := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	if slices.ContainsFunc(pageBeginnings, func(tag string) bool { return bytes.HasPrefix(text, []byte(tag)) }) {
		return isPage
	}
	if len(a.copied) > 0 && textHas(filepath.Join(in.Name(), name), a.copied) {
		return namesTheCopy
	}
	return ""
}

// gitIgnores reports whether git ignores a file by the rules that the disk has: those of
// texts that wait for review are not the user's yet.
func (a *allowing) gitIgnores(rel string) bool {
	dir := a.dir(up(rel))
	return !dir.foreign && (dir.ignored || dir.rules.ignored(path.Base(rel), false))
}

func (a *allowing) dir(rel string) ruled {
	if d, ok := a.ignored[rel]; ok {
		return d
	}
	d := ruled{rules: a.users}
	if rel != "." {
		d = a.dir(up(rel))
		name := path.Base(rel)
		d.ignored = d.ignored || d.rules.ignored(name, true)
		d.rules = d.rules.enter(name)
		d.foreign = d.foreign || isRepository(filepath.Join(a.root, filepath.FromSlash(rel)))
	}
	if text, err := os.ReadFile(filepath.Join(a.root, filepath.FromSlash(rel), ".gitignore")); err == nil {
		d.rules = d.rules.at(text)
	}
	a.ignored[rel] = d
	return d
}

// programDirs are names of directories in which programs, or what they load, are looked for.
var programDirs = words("bin sbin libexec scripts site-packages dist-packages venv virtualenv vendor plugins extensions")

// programEndings are those of scripts, and of what compilers make.
var programEndings = words(".sh .bash .zsh .fish .ksh .csh .tcsh .command .ps1 .psm1 .psd1 .bat .cmd .vbs .vbe .wsf .wsh .hta " +
	".py .pyw .pyc .pyo .pyd .pyz .pth .ipynb .rb .pl .pm .php .phar .lua .luac .js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte .coffee .el .elc .vim .r .jl .tcl .awk .groovy " +
	".gradle .kts .kt .scala .clj .exs .ex .erl .beam .go .rs .c .cc .cpp .h .hpp .m .swift .java .cs .fs .sql .nix .scpt .applescript " +
	".d .hs .ml .nim .zig .dart .pkl .pickle .joblib .pt .exe .com .scr .msi .dll .sys .so .dylib .a .lib .o .obj .rlib .rmeta .node .wasm .class .jar .war .ear .dex .apk .app .bundle .deb .rpm .pkg .dmg .appimage .desktop .lnk .url .reg .inf .service")

// pageEndings are those of what a browser, or an office program, opens and runs.
var pageEndings = words(".html .htm .xhtml .shtml .mht .mhtml .svg .xsl .xslt .swf .docm .xlsm .pptm .dotm .xlam")

// obeyedNames are files that build tools, interpreters and editors obey wherever they lie.
var obeyedNames = words("makefile gnumakefile cmakelists.txt cmakecache.txt build.ninja justfile rakefile gemfile gemfile.lock dockerfile containerfile vagrantfile procfile jenkinsfile brewfile " +
	"package.json package-lock.json tsconfig.json jsconfig.json deno.json bunfig.toml pyproject.toml setup.cfg tox.ini pytest.ini pyvenv.cfg pipfile requirements.txt " +
	"cargo.toml cargo.lock go.mod go.sum go.work pom.xml build.xml settings.xml composer.json taskfile.yml taskfile.yaml compose.yml compose.yaml docker-compose.yml docker-compose.yaml " +
	"compile_commands.json compile_flags.txt mcp.json agents.md claude.md gemini.md skill.md plugin.json authorized_keys known_hosts crontab config")

var obeyedEndings = words(".mk .mak .cmake .ninja .code-workspace .sublime-project .csproj .vcxproj .sln .props .targets .xcodeproj .ini .cfg .conf .cnf .rc .env .pem .key")

// programBeginnings are how programs begin: scripts, and those of the systems and machines.
var programBeginnings = []string{"#!", "\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf", "!<arch>", "\x00asm", "dex\n", "\x1bLua", "BC\xc0\xde"}

var pageBeginnings = []string{"<!doctype html", "<html", "<script", "<svg", "<?php"}

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(list) {
		m[name] = true
	}
	return m
}
