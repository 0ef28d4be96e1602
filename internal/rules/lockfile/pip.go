package lockfile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var requirement = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*)(\[[A-Za-z0-9._, -]*\])?==([0-9A-Za-z.!+-]+)$`)

// pip lists what a file of requirements pins, with its hashes.
func pip(s *source, c command) (string, []pkg, error) {
	lock := c.options["-r"]
	if !c.has("--only-binary") {
		return lock, nil, errors.New("pip may build a package from its source, with others that no hash names; with --only-binary=:all: it does not")
	}
	data, err := s.needed(lock)
	if err != nil {
		return lock, nil, err
	}
	text := string(data)
	if strings.ContainsAny(text, "\r\f\v\x00$") || !plainASCII(text) {
		return lock, nil, fmt.Errorf("%s has characters that pip may take for something else", lock)
	}
	for line := range strings.SplitSeq(text, "\n") { // readers differ about these: one ends with its comment, the other is in another encoding
		if at := strings.IndexByte(line, '#'); at >= 0 && (strings.HasSuffix(line, "\\") || strings.Contains(line[at:], "coding")) {
			return lock, nil, fmt.Errorf("%s has a comment that pip may take for something else: %.80q", lock, line)
		}
	}
	var list []pkg
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if at := strings.IndexByte(line, '#'); at == 0 || at > 0 && strings.ContainsAny(line[at-1:at], " \t") {
			line = line[:at]
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		var hashes, rest []string
		fields := strings.Fields(line)
		for _, f := range fields {
			text, is := strings.CutPrefix(f, "--hash=")
			name, sum, _ := strings.Cut(text, ":")
			switch {
			case !is && len(hashes) == 0:
				rest = append(rest, f)
			case !is || !strongHex(name, sum):
				return lock, nil, fmt.Errorf("%s has %.80q", lock, f)
			default:
				hashes = append(hashes, text)
			}
		}
		spec, marker, _ := strings.Cut(strings.Join(rest, " "), ";")
		m := requirement.FindStringSubmatch(strings.ReplaceAll(spec, " ", ""))
		if m == nil || strings.ContainsAny(marker, "#\\`") {
			return lock, nil, fmt.Errorf("%s has %.80q, which is no version of a package", lock, strings.Join(rest, " "))
		}
		if len(hashes) == 0 {
			return lock, nil, weak(lock, m[1], "")
		}
		slices.Sort(hashes)
		list = append(list, pkg{"", strings.ToLower(m[1]) + m[2], m[3], strings.Join(hashes, " "), strings.TrimSpace(marker)})
	}
	return lock, list, nil
}

func plainASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 126 || r < 32 && r != '\n' && r != '\t' })
}
