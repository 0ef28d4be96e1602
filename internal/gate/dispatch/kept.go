package dispatch

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

// fileText stands in the place of the text of a file that may hold secrets.
const fileText = "[REDACTED:file]"

// texts are the members in which tools get the text of a file, without marks between words.
var texts = map[string]bool{
	"content": true, "contents": true, "text": true, "search": true, "replace": true, "oldstring": true, "newstring": true, "oldstr": true, "newstr": true,
	"oldtext": true, "newtext": true, "oldcontent": true, "newcontent": true, "inserttext": true, "filetext": true, "source": true, "newsource": true,
	"data": true, "body": true, "lines": true, "value": true, "values": true, "append": true,
}

func isText(name string) bool {
	return texts[strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))]
}

// users are members beside a secret that are none.
var users = map[string]bool{"user": true, "username": true, "login": true, "name": true, "id": true, "email": true, "type": true, "url": true, "host": true, "region": true, "path": true, "kind": true, "key": true}

// meant is the name of the member k of an object, by what the object means: the value beside the
// name of a variable has that name, and what is in a secret is one.
func meant(object map[string]any, name, k string) string {
	lower := strings.ToLower(k)
	switch lower {
	case "value":
		for _, beside := range [...]string{"name", "key", "Name", "Key"} {
			if s, ok := object[beside].(string); ok && k != beside {
				if redact.SecretName(s) {
					return s
				}
			}
		}
	case "pass", "pw":
		if object["user"] != nil || object["username"] != nil {
			return "password"
		}
	}
	if redact.SecretName(name) && !users[lower] && !redact.SecretName(k) {
		return name
	}
	return k
}

// recorded is what is kept of arguments, besides that secrets are hidden in them: a value
// that stands where one does is none that a record needs, nor is the text of a file
// that may hold them.
func recorded(args json.RawMessage, r Redactor) member {
	var v any
	secret := false
	if json.Unmarshal(args, &v) == nil {
		eachString(v, "", func(name string, list []string) []string {
			for _, s := range list {
				secret = secret || name != "" && !isText(name) && mayHoldSecrets(s)
			}
			return list
		})
	}
	return func(name string, list []string) []string {
		for i, s := range list {
			if secret && isText(name) && s != "" {
				s = fileText
			}
			list[i] = withoutSecretFiles(s)
		}
		return r.Record(name, list, mayHoldSecrets)
	}
}

func mayHoldSecrets(path string) bool { return workspace.Sensitive(filepath.ToSlash(path)) }

// withoutSecretFiles is a text without the lines that a patch in it has of files that may hold
// secrets.
func withoutSecretFiles(s string) string {
	if !strings.Contains(s, "+++ ") && !strings.Contains(s, "--- ") && !strings.Contains(s, "*** ") {
		return s
	}
	var out strings.Builder
	secret, marked := false, false
	for rest := s; rest != ""; {
		line := rest
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			line = rest[:end+1]
		}
		rest = rest[len(line):]
		switch begins, path := patchHeader(line, rest); {
		case begins:
			secret, marked = mayHoldSecrets(path), false
		case path != "":
			secret = secret || mayHoldSecrets(path)
		case strings.HasPrefix(line, "*** End Patch"):
			secret = false
		case secret && !strings.HasPrefix(line, "@@ "):
			if !marked {
				out.WriteString(fileText + "\n")
			}
			marked = true
			continue
		case secret: // which may have a line of the file behind it
			if end := strings.Index(line[3:], "@@"); end >= 0 {
				line = line[:3+end+2] + "\n"
			} else {
				line = "@@\n"
			}
		}
		out.WriteString(line)
	}
	return out.String()
}

// patchHeader is the path in a line of a patch that names a file; begins is whether another file
// begins there.
func patchHeader(line, rest string) (begins bool, path string) {
	line = strings.TrimRight(line, "\r\n")
	for _, head := range [...]string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
		if path, ok := strings.CutPrefix(line, head); ok {
			return true, strings.TrimSpace(path)
		}
	}
	for _, head := range [...]string{"*** Move to: ", "rename to ", "copy to "} {
		if path, ok := strings.CutPrefix(line, head); ok {
			return false, strings.TrimSpace(path)
		}
	}
	if path, ok := strings.CutPrefix(line, "diff --git "); ok {
		_, to, _ := strings.Cut(path, " b/")
		return true, strings.Trim(to, `"`)
	}
	if path, ok := strings.CutPrefix(line, "--- "); ok && strings.HasPrefix(rest, "+++ ") {
		return true, patchPath(path)
	}
	if path, ok := strings.CutPrefix(line, "+++ "); ok {
		return false, patchPath(path)
	}
	return false, ""
}

func patchPath(path string) string {
	path, _, _ = strings.Cut(path, "\t")
	path = strings.Trim(strings.TrimSpace(path), `"`)
	return strings.TrimPrefix(strings.TrimPrefix(path, "a/"), "b/")
}
