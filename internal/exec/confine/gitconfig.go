package confine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
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

// writeGitConfig puts the user's settings of git, as they hold in a repository
// (nil is none), into the home of commands. What is in that directory was made by commands: no link in
// it is followed out of it, and nothing of it is opened. standIns: files of the
// repository have stand-ins, or are copies, which git tells from them by what it
// does not look at then. ignored are directories that stand in for missing names.
func writeGitConfig(home string, repo *gitrepo.Repo, standIns bool, ignored []string) (set map[string]string, err error) {
	gitDir := ""
	if repo != nil {
		gitDir = repo.GitDir
	}
	set, err = gitconfig.User(gitDir, gitKeys...)
	if err != nil {
		set = nil // git itself would refuse them, and say so
	}
	if set = maps.Clone(set); set == nil {
		set = map[string]string{}
	}
	if repo != nil && gitconfig.Safe(repo.Dir) { // it may be another user's
		set["safe.directory"] = repo.Dir
	}
	if len(ignored) > 0 {
		set["core.excludesfile"] = "~/" + gitIgnore
	}
	if standIns {
		maps.Copy(set, map[string]string{"core.checkstat": "minimal", "core.trustctime": "false"})
	}
	if err := writeSettings(home, set); err != nil || len(ignored) == 0 {
		return set, err
	}
	dir, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return set, putInHome(dir, gitIgnore, strings.Join(ignored, "\n")+"\n")
}

// writeSettings puts such settings into a home.
func writeSettings(home string, set map[string]string) error {
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
func inEnv(set map[string]string) []string {
	env := []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_COUNT=" + strconv.Itoa(len(set))}
	for i, key := range slices.Sorted(maps.Keys(set)) {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+set[key])
	}
	return env
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
func gitText(set map[string]string) string {
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
	for _, key := range slices.Sorted(maps.Keys(set)) {
		section, name, _ := strings.Cut(key, ".")
		fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, name, quote.Replace(set[key]))
	}
	return b.String()
}
