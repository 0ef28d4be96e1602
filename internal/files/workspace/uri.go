package workspace

import (
	"net/url"
	"path"
	"regexp"
	"runtime"
	"strings"
)

// FilePath returns the operating system's path that a file URI names, cleaned.
// A URI of another scheme, of another host or that can't be read is not ours. On
// Windows another host is a server, and its path a UNC path.
func FilePath(uri string) (string, bool) { return filePath(runtime.GOOS, uri) }

func filePath(system, uri string) (string, bool) {
	rest, ok := cutPrefixFold(uri, "file:")
	if !ok || strings.ContainsAny(rest, "?#\x00") {
		return "", false
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, rest, _ = strings.Cut(after, "/")
		rest = "/" + rest
	}
	host, err1 := url.PathUnescape(host)
	p, err2 := url.PathUnescape(rest)
	if err1 != nil || err2 != nil || !strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) {
		return "", false
	}
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	if system == "windows" {
		return windowsPath(host, strings.ReplaceAll(p, `\`, "/"))
	}
	return path.Clean(p), host == ""
}

// server is the name of a machine, which is none of the prefixes \\.\ and \\?\.
var server = regexp.MustCompile(`^[\pL\pN][\pL\pN._$-]*$`)

// windowsPath makes C:\x of /c:/x, and \\host\share\x of /share/x.
func windowsPath(host, p string) (string, bool) {
	if unc, ok := strings.CutPrefix(p, "//"); ok && host == "" { // file:////host/share/x
		host, p, _ = strings.Cut(unc, "/")
		p = "/" + p
	}
	var root string
	switch {
	case host != "":
		share, below, _ := strings.Cut(p[1:], "/")
		if !server.MatchString(host) || share == "" || share == "." || share == ".." || checkSegments("windows", share) != nil {
			return "", false
		}
		root, p = `\\`+host+`\`+share, "/"+below
	case hasDrive(p[1:]):
		root, p = strings.ToUpper(p[1:3]), "/"+p[3:]
	default:
		return "", false // of which drive it is, is not said
	}
	return root + strings.ReplaceAll(path.Clean(p), "/", `\`), true
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
func FileURI(abs string) string { return fileURI(runtime.GOOS, abs) }

func fileURI(system, abs string) string {
	u := url.URL{Scheme: "file", Path: abs}
	if system == "windows" {
		p := strings.ReplaceAll(abs, `\`, "/")
		long, isLong := strings.CutPrefix(p, "//?/") // what a path longer than 260 characters may begin with
		if unc, ok := cutPrefixFold(long, "UNC/"); isLong && ok {
			p = "//" + unc
		} else if isLong {
			p = long
		}
		if after, ok := strings.CutPrefix(p, "//"); ok {
			u.Host, p, _ = strings.Cut(after, "/")
		}
		u.Path = "/" + strings.TrimPrefix(p, "/") // C:/x
	}
	return u.String()
}
