package confine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
)

// gitKeys are the settings of the user's that git may know in the sandbox: who
// commits, and what else decides on the bytes of a commit. None of them names a
// program, a file or a secret.
var gitKeys = []string{"user.name", "user.email", "user.useconfigonly", "author.name", "author.email", "committer.name", "committer.email",
	"init.defaultbranch", "core.autocrlf", "core.eol", "i18n.commitencoding"}

// gitConfig is where they are, below the home of commands. A command's own
// git config --global goes to another file, and comes after it.
const gitConfig = ".config/git/config"

// gitIgnore is what git takes no notice of besides, for those settings.
const gitIgnore = ".config/git/stand-ins"

// gitParts decide on git's settings in the home of commands.
type gitParts struct {
	repos    []*gitrepo.Repo // of the folders that a command sees, its own first; nil is none
	standIns bool            // files of a repository have stand-ins, or are copies, which git tells from them by what it does not look at then
	ignored  []string        // directories that stand in for missing names
}

// writeGitConfig puts the user's settings of git, as they hold in the first repository,
// into the home of commands. What is in that directory was made by commands: no link in
// it is followed out of it, and nothing of it is opened.
func writeGitConfig(home string, p gitParts) (set gitSettings, err error) {
	gitDir := ""
	if repo := p.repos[0]; repo != nil {
		gitDir = repo.GitDir
	}
	set = gitSettings{}
	user, err := gitconfig.User(gitDir, gitKeys...)
	if err == nil { // else git itself would refuse them, and say so
		for key, value := range user {
			set[key] = []string{value}
		}
	}
	for _, repo := range p.repos {
		if repo != nil && gitconfig.Safe(repo.Dir) { // it may be another user's
			set["safe.directory"] = append(set["safe.directory"], repo.Dir)
		}
	}
	if len(p.ignored) > 0 {
		set["core.excludesfile"] = []string{"~/" + gitIgnore}
	}
	if p.standIns {
		maps.Copy(set, gitSettings{"core.checkstat": {"minimal"}, "core.trustctime": {"false"}})
	}
	if err := writeSettings(home, set); err != nil || len(p.ignored) == 0 {
		return set, err
	}
	dir, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return set, putInHome(dir, gitIgnore, strings.Join(p.ignored, "\n")+"\n")
}

// gitSettings are settings of git with their values, of which the last one counts, or all.
type gitSettings map[string][]string

// writeSettings puts such settings into a home.
func writeSettings(home string, set gitSettings) error {
	dir, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer dir.Close()
	if len(set) == 0 {
		return dir.RemoveAll(gitConfig)
	}
	for _, name := range []string{".config", path.Dir(gitConfig)} { // what stands in the way goes
		if info, err := dir.Lstat(name); err == nil && !info.IsDir() {
			if err := dir.Remove(name); err != nil {
				return err
			}
		}
	}
	if err := dir.MkdirAll(path.Dir(gitConfig), 0o700); err != nil {
		return err
	}
	return putInHome(dir, gitConfig, gitText(set))
}

// inEnv are variables by which git knows such settings, and none that commands left in their
// home.
func inEnv(set gitSettings) []string {
	env, n := []string{"GIT_CONFIG_GLOBAL=" + os.DevNull}, 0
	for _, key := range slices.Sorted(maps.Keys(set)) {
		for _, value := range set[key] {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
			n++
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// putInHome writes a file of the home of commands, whatever they left in its place.
func putInHome(dir *os.Root, name, text string) error {
	fresh := name + "." + rand.Text() // several commands may begin at once
	f, err := dir.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(fresh, name)
	}
	if err != nil {
		return errors.Join(err, dir.RemoveAll(fresh), dir.RemoveAll(name))
	}
	return nil
}

// gitText is a file of settings, as git reads it.
func gitText(set gitSettings) string {
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
	for _, key := range slices.Sorted(maps.Keys(set)) {
		section, name, _ := strings.Cut(key, ".")
		fmt.Fprintf(&b, "[%s]\n", section)
		for _, value := range set[key] {
			fmt.Fprintf(&b, "\t%s = \"%s\"\n", name, quote.Replace(value))
		}
	}
	return b.String()
}
