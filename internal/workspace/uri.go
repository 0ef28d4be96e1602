package workspace

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// FilePath returns the operating system's path that a file URI names, cleaned.
// A URI of another scheme, of another host or that can't be read is not ours.
func FilePath(uri string) (string, bool) {
	rest, ok := cutPrefixFold(uri, "file:")
	if !ok || strings.ContainsAny(rest, "?#\x00") {
		return "", false
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, p, _ := strings.Cut(after, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", false
		}
		rest = "/" + p
	}
	p, err := url.PathUnescape(rest)
	if err != nil || !strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) {
		return "", false
	}
	if hasDrive(p[1:]) {
		p = strings.ToUpper(p[1:2]) + p[2:]
	}
	return filepath.FromSlash(path.Clean(p)), true
}

// hasDrive reports whether p begins with a drive letter, as in c:/x.
func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/')
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// FileURI is the file URI of an absolute path of the operating system.
func FileURI(abs string) string {
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // c:/x
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}
