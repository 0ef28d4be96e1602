package lockfile

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const goSum = "go.sum"

var (
	modulePath = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*\.[a-zA-Z0-9.-]+(/[a-zA-Z0-9._~+-]+)*$`)
	moduleVer  = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$`)
	goVersion  = regexp.MustCompile(`^1\.[0-9]{2,3}(\.[0-9]+)?([a-z]+[0-9]+)?$`)
)

// goModules lists what go.mod requires, with the hashes of go.sum.
func goModules(s *source, _ command) (string, []pkg, error) {
	mod, err := s.needed("go.mod")
	if err != nil {
		return goSum, nil, err
	}
	sum, err := s.needed(goSum)
	if err != nil {
		return goSum, nil, err
	}
	hashes := map[string]string{}
	for line := range strings.SplitSeq(string(sum), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 {
			return goSum, nil, fmt.Errorf("%s has the line %.80q", goSum, line)
		}
		text, ok := strings.CutPrefix(f[2], "h1:")
		b, err := base64.StdEncoding.DecodeString(text)
		key := f[0] + " " + f[1]
		if !ok || err != nil || len(b) != 32 || hashes[key] != "" && hashes[key] != f[2] {
			return goSum, nil, fmt.Errorf("%s has no one hash for %s", goSum, key)
		}
		hashes[key] = f[2]
	}
	requires, err := readGoMod(string(mod))
	if err != nil {
		return goSum, nil, fmt.Errorf("go.mod %w", err)
	}
	for i, r := range requires {
		if r.integrity == unlisted {
			continue
		}
		if requires[i].integrity = hashes[r.name+" "+r.version]; requires[i].integrity == "" {
			return goSum, nil, weak(goSum, r.name+" "+r.version, "")
		}
		requires[i].needs = hashes[r.name+" "+r.version+"/go.mod"]
	}
	return goSum, requires, nil
}

// readGoMod reads the directives that it knows, and fails for others: one that replaces a
// module installs another one.
func readGoMod(text string) (list []pkg, err error) {
	block, lists := "", false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.ContainsAny(line, "\"`\r") || strings.Contains(line, "/*") {
			return nil, fmt.Errorf("has the line %.80q", line)
		}
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			continue
		case block == "" && len(f) == 2 && f[1] == "(":
			block = f[0]
			continue
		case block != "" && len(f) == 1 && f[0] == ")":
			block = ""
			continue
		case block != "":
			f = append([]string{block}, f...)
		}
		switch f[0] {
		case "module", "retract", "tool", "ignore", "godebug": // of the main module, they install nothing
		case "go":
			if len(f) != 2 || !goVersion.MatchString(f[1]) {
				return nil, fmt.Errorf("has no Go version that is known: %.40q", line)
			}
			minor, _ := strconv.Atoi(strings.Split(f[1], ".")[1])
			lists = minor >= 17
			list = append(list, pkg{name: "go", version: f[1], integrity: unlisted})
		case "toolchain":
			list = append(list, pkg{name: "toolchain", version: strings.Join(f[1:], " "), integrity: unlisted})
		case "require":
			if len(f) != 3 || !modulePath.MatchString(f[1]) || !moduleVer.MatchString(f[2]) {
				return nil, fmt.Errorf("requires %.80q", strings.Join(f[1:], " "))
			}
			host, _, _ := strings.Cut(f[1], "/")
			list = append(list, pkg{host: host, name: f[1], version: f[2]})
		default:
			return nil, fmt.Errorf("has %.40q, by which another module may be installed", f[0])
		}
	}
	if !lists {
		return nil, fmt.Errorf("does not list all that is installed: that takes the line go 1.17 or later")
	}
	return list, nil
}
