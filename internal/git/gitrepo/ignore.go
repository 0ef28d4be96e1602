package gitrepo

import (
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

// excludeFiles are the user's own ignore file and the repository's.
func (r *Repo) excludeFiles(conf gitconfig.Values) []string {
	user := gitconfig.UserFile("ignore")
	if file := conf["core.excludesfile"]; file != "" {
		user = gitfile.Resolve(gitconfig.ExpandHome(file), r.Dir)
	}
	return []string{user, r.CommonDir + "/info/exclude"}
}
