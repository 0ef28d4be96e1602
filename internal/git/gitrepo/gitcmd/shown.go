package gitcmd

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitconfig"
)

// ShownSettings are a repository's settings for whom its secrets are not for: without
// the helpers and headers that log in, and without what addresses say of who does.
// decides names what in them decides on what is run or where something is sent. A
// file that can't be read is shown empty.
func ShownSettings(file string) (shown []byte, decides []string) {
	list, err := gitconfig.ReadFile(file)
	if err != nil {
		return nil, []string{"unreadable"}
	}
	gitDir := filepath.Dir(file)
	var b strings.Builder
	last := ""
	for _, s := range list {
		section, middle, name := gitconfig.SplitKey(s.Key)
		if hazardous(s, gitDir, filepath.Dir(gitDir)) || directs(s, section, name) {
			decides = append(decides, s.Key+"\x00"+s.Value)
		}
		if section == "credential" || secretName(name) {
			continue
		}
		head := "[" + section + "]"
		if middle != "" {
			head = fmt.Sprintf(`[%s "%s"]`, section, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(withoutLogin(middle)))
		}
		if head != last {
			b.WriteString(head + "\n")
			last = head
		}
		if s.Bare {
			b.WriteString("\t" + name + "\n")
			continue
		}
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(withoutLogin(s.Value))
		fmt.Fprintf(&b, "\t%s = \"%s\"\n", name, value)
	}
	return []byte(b.String()), decides
}

// directs reports whether a setting says where something is sent or taken from.
func directs(s gitconfig.Setting, section, name string) bool {
	switch section {
	case "remote":
		return name == "url" || name == "pushurl" || name == "proxy" || name == "pushdefault"
	case "url", "http", "https", "credential", "submodule", "include", "includeif":
		return true
	case "branch":
		return (name == "remote" || name == "pushremote") && strings.ContainsAny(s.Value, ":/\\")
	}
	return false
}

// secretName reports whether a setting is a secret by its name: a token of some
// program, or headers and cookies that log in.
func secretName(name string) bool {
	for _, word := range []string{"password", "passwd", "smtppass", "token", "secret", "extraheader", "cookiefile", "apikey"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

var address = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#'"]*@`)

// withoutLogin is a text without what its addresses say of who logs in: of ssh
// that is a name, of others a password or a token, too.
func withoutLogin(text string) string {
	return address.ReplaceAllStringFunc(text, func(found string) string {
		scheme, login, _ := strings.Cut(strings.TrimSuffix(found, "@"), "://")
		name, _, hasPassword := strings.Cut(login, ":")
		if strings.HasSuffix(strings.ToLower(scheme), "ssh") {
			if !hasPassword {
				return found
			}
			return scheme + "://" + url.PathEscape(name) + "@"
		}
		return scheme + "://"
	})
}
