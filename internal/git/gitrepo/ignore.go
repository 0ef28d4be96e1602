package gitrepo

import (
	"path/filepath"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// MaxPattern bounds a file of patterns, in bytes.
const MaxPattern = 1 << 20

// IgnoreRules are the rules that are no file of the working tree.
func (r *Repo) IgnoreRules() workspace.GitRules {
	var rules workspace.GitRules
	conf, err := r.config()
	if err != nil {
		return rules
	}
	files := r.excludeFiles(conf)
	if text, err := gitfile.ReadSmall(files[0], MaxPattern); err == nil {
		rules.AddUser(text)
	}
	if text, err := gitfile.ReadSmall(files[1], MaxPattern); err == nil {
		rules.AddExclude(text)
	}
	return rules
}

// UserIgnores finds the user's own ignore file for directories, as git would. The
// zero value is ready.
type UserIgnores struct {
	mu    sync.Mutex
	repos map[string]*Repo // of directories; their settings are read again when they change
}

// File is the path of the user's ignore file that holds in a directory, or "".
func (u *UserIgnores) File(dir string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.repos[dir]
	if r == nil || !gitfile.Exists(r.GitDir) {
		var err error
		if r, err = Open(dir, Options{}); err != nil {
			delete(u.repos, dir)
			return userIgnore(gitconfig.User("", excludesFile))
		}
		if u.repos == nil {
			u.repos = map[string]*Repo{}
		}
		u.repos[dir] = r
	}
	conf, err := r.config()
	if err != nil {
		return userIgnore(gitconfig.User(r.GitDir, excludesFile))
	}
	return r.excludeFiles(conf)[0]
}

// excludesFile is the setting that names the user's ignore file.
const excludesFile = "core.excludesfile"

// userIgnore is the user's ignore file where no repository says anything of it.
func userIgnore(conf map[string]string, err error) string {
	file := gitconfig.ExpandHome(conf[excludesFile])
	if err != nil || !filepath.IsAbs(file) {
		return gitconfig.UserFile("ignore")
	}
	return file
}

// excludeFiles are the user's own ignore file and the repository's.
func (r *Repo) excludeFiles(conf gitconfig.Values) []string {
	user := gitconfig.UserFile("ignore")
	if file := conf[excludesFile]; file != "" {
		user = gitfile.Resolve(gitconfig.ExpandHome(file), r.Dir)
	}
	return []string{user, r.CommonDir + "/info/exclude"}
}
