package gitconfig

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// holds reports whether the condition of an include in a file holds for a git directory.
// known is false for conditions that are not about its place.
func holds(condition, file, gitDir string) (holds, known bool) {
	pattern, known := strings.CutPrefix(condition, "gitdir:")
	fold := false
	if !known {
		if pattern, known = strings.CutPrefix(condition, "gitdir/i:"); !known {
			return false, false
		}
		fold = true
	}
	before := "" // of the path, which is taken as it is
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		before, pattern = filepath.ToSlash(filepath.Dir(file))+"/", rest
	} else if pattern = filepath.ToSlash(ExpandHome(pattern)); !path.IsAbs(pattern) && !filepath.IsAbs(pattern) {
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") || pattern == "" {
		pattern += "**"
	}
	if rest, ok := strings.CutSuffix(pattern, "/**"); ok {
		pattern = rest + "/**/*" // to git something is in it, and not it itself
	}
	pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(pattern)
	dir := filepath.ToSlash(gitDir)
	if fold {
		before, pattern, dir = strings.ToLower(before), strings.ToLower(pattern), strings.ToLower(dir)
	}
	rest, ok := strings.CutPrefix(dir, before)
	if !ok {
		return false, true
	}
	match, err := doublestar.Match(pattern, rest)
	return err == nil && match, true
}

// Moved is the text of a file of settings as a copy of it says the same in another git
// directory than gitDir: what it includes is where it was, and conditions about that place
// are decided. Those of files that it includes are not.
func Moved(file, gitDir string) ([]byte, error) {
	list, err := ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	moved := false
	for _, s := range list {
		section, middle, name := SplitKey(s.Key)
		if name == "path" && !s.Bare && (s.Key == "include.path" || section == "includeif" && middle != "") {
			moved = true
			if holds, known := holds(middle, file, gitDir); known && !holds {
				continue
			} else if known {
				section, middle = "include", ""
			}
			if !strings.HasPrefix(s.Value, "~") {
				s.Value = gitfile.Resolve(s.Value, filepath.Dir(file))
			}
		}
		fmt.Fprintf(&out, "[%s", section)
		if middle != "" {
			fmt.Fprintf(&out, ` "%s"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(middle))
		}
		fmt.Fprintf(&out, "]\n\t%s", name)
		if !s.Bare {
			fmt.Fprintf(&out, ` = "%s"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s.Value))
		}
		out.WriteByte('\n')
	}
	if !moved {
		return os.ReadFile(file)
	}
	return out.Bytes(), nil
}
