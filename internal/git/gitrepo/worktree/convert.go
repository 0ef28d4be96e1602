package worktree

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// Conversion says how far the bytes of a tree's files are those of its
// objects.
type Conversion struct {
	// Needed reports whether a file may have other bytes than its object; nil:
	// none has.
	Needed func(name string) bool

	// Plumbing is why only the git command can make the files; nil: it isn't
	// needed.
	Plumbing error
}

// Conversions looks at the settings of the repository and at the attributes in
// want, the files of a tree. It errs on the safe side: a rule that is not
// understood converts.
func Conversions(r *gitrepo.Repo, want *index.Index) Conversion {
	conf, err := r.Readable()
	if err != nil {
		return Conversion{Plumbing: err}
	}
	for _, key := range [...]string{"core.sparsecheckout", "extensions.worktreeconfig"} {
		if conf.Bool(key, false) {
			return Conversion{Plumbing: fmt.Errorf("%w: the setting %s", gitfile.ErrUnsupported, key)}
		}
	}
	if conf["extensions.partialclone"] != "" {
		return Conversion{Plumbing: fmt.Errorf("%w: a partial clone", gitfile.ErrUnsupported)}
	}
	if !conf.Bool("core.symlinks", true) {
		return Conversion{Plumbing: fmt.Errorf("%w: the setting core.symlinks", gitfile.ErrUnsupported)}
	}
	if v := strings.ToLower(conf["core.autocrlf"]); v != "" && v != "input" && conf.Bool("core.autocrlf", false) {
		return Conversion{Needed: all}
	}
	crlf := strings.EqualFold(conf["core.eol"], "crlf")
	var patterns []string
	texts, err := attributeTexts(r, conf, want)
	if err != nil {
		return Conversion{Needed: all}
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if pattern, converts := attributeLine(line, conf, crlf); converts {
				patterns = append(patterns, pattern)
			}
		}
	}
	if len(patterns) == 0 {
		return Conversion{}
	}
	return Conversion{Needed: func(name string) bool {
		for _, p := range patterns {
			if strings.Contains(p, "/") || strings.ContainsAny(p, `"\`) {
				return true // it could be any file; only the simplest patterns are judged
			}
			if ok, err := path.Match(p, path.Base(name)); ok || err != nil {
				return true
			}
		}
		return false
	}}
}

func all(string) bool { return true }

// attributeTexts reads the files of attributes that apply to a tree.
func attributeTexts(r *gitrepo.Repo, conf gitconfig.Values, want *index.Index) ([]string, error) {
	var texts []string
	for i := range want.Entries {
		e := want.Entries[i]
		if path.Base(e.Name) != ".gitattributes" || e.Mode != filemode.Regular && e.Mode != filemode.Executable {
			continue
		}
		data, err := r.Blob(e.Hash)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(data))
	}
	own := gitconfig.UserFile("attributes")
	if file := conf["core.attributesfile"]; file != "" {
		own = gitfile.Resolve(gitconfig.ExpandHome(file), r.Dir)
	}
	for _, file := range [...]string{own, filepath.Join(r.CommonDir, "info", "attributes"), "/etc/gitattributes"} {
		data, err := gitfile.ReadSmall(file, gitconfig.MaxSize)
		if err != nil && !isAbsent(err) {
			return nil, err
		}
		texts = append(texts, string(data))
	}
	return texts, nil
}

// attributeLine reports whether a line of attributes makes git write other
// bytes than the object has, and for which names: gitattributes(5).
func attributeLine(line string, conf gitconfig.Values, crlf bool) (pattern string, converts bool) {
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
		return "", false
	}
	pattern = fields[0]
	if strings.HasPrefix(pattern, "[attr]") {
		pattern = "*" // a macro: whoever uses it is not known here
	}
	for _, attr := range fields[1:] {
		name, value, _ := strings.Cut(attr, "=")
		switch name {
		case "ident", "working-tree-encoding":
			return pattern, true
		case "eol":
			if value == "crlf" {
				return pattern, true
			}
		case "text", "crlf":
			if crlf || name == "crlf" {
				return pattern, true
			}
		case "filter":
			if conf["filter."+value+".smudge"] != "" || conf["filter."+value+".process"] != "" || conf.Bool("filter."+value+".required", false) {
				return pattern, true
			}
		}
	}
	return pattern, false
}
