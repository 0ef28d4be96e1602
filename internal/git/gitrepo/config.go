package gitrepo

import (
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// config returns the settings of the machine, the user, the repository and the
// working tree, as they are now.
func (r *Repo) config() (gitconfig.Values, error) { return r.configs.Values(r.GitDir, r.CommonDir) }

// checkFormat fails with ErrUnsupported when the repository is of a kind that is
// not read in this process.
func checkFormat(c gitconfig.Values) error {
	if v := c["core.repositoryformatversion"]; v != "" && v != "0" && v != "1" {
		return fmt.Errorf("%w: the repository has the format %s", gitfile.ErrUnsupported, v)
	}
	for key, value := range c {
		name, ok := strings.CutPrefix(key, "extensions.")
		if !ok {
			continue
		}
		switch name {
		case "noop", "noop-v1", "preciousobjects", "worktreeconfig", "relativeworktrees", "partialclone":
			continue
		case "objectformat":
			if strings.EqualFold(value, "sha1") {
				continue
			}
		case "refstorage":
			if strings.EqualFold(value, "files") {
				continue
			}
		}
		return fmt.Errorf("%w: the repository uses %s = %s", gitfile.ErrUnsupported, key, value)
	}
	return nil
}

// Readable returns the settings if the repository can be read in this process.
func (r *Repo) Readable() (gitconfig.Values, error) {
	conf, err := r.config()
	if err != nil {
		return nil, err
	}
	return conf, checkFormat(conf)
}

// isPartial reports whether git fetches objects when it needs them: see
// "Promisor remotes" in its technical documentation.
func (r *Repo) isPartial() bool {
	conf, err := r.config()
	if err != nil {
		return false
	}
	for key := range conf {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") && conf.Bool(key, false) {
			return true
		}
	}
	return conf["extensions.partialclone"] != ""
}
