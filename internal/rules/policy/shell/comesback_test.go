package shell

import (
	"strings"
	"testing"
)

// What a command deletes is lost, unless all of it is kept.
func TestComesBack(t *testing.T) {
	kept := func(path string) bool {
		return path != "." && path != ".." && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, ".git")
	}
	for line, lost := range map[string]bool{
		"rm -f docs/a.md":                       false,
		"rm -rf docs cart":                      false,
		"rm -rf -- docs":                        false,
		"rm -rf docs/*":                         false,
		"true && rm -f a | cat":                 false,
		"truncate -s 0 a":                       false,
		"rm -rf .":                              true,
		"rm -rf *":                              true,
		"rm -rf ..":                             true,
		"rm -rf docs /etc":                      true,
		"rm -rf .git":                           true,
		"rm -rf $X":                             true,
		"rm -rf $X/*":                           true,
		"rm -rf \"$X\"/a":                       true,
		"rm -rf ~/a":                            true,
		"rm -rf $(cat list)":                    true,
		"cd .git && rm -rf refs":                true,
		"git -C x push --force && rm -f docs/a": true,
		"rm -f docs/a && git push --force":      true,
		"sudo rm -rf docs":                      true,
		"echo docs | xargs rm -rf":              true,
		"git reset --hard":                      true,
		"bash -c 'cd /; rm -rf docs'":           true,
		"dd if=/dev/zero of=a":                  true,
		"docker rm -f docs":                     true,
		"pushd /tmp; rm -rf docs":               true,
		"$RM; rm -rf docs":                      true,
	} {
		j := Judge{Kept: kept}
		if v := j.Judge(line); (v.Irrecoverable != "") != lost {
			t.Errorf("%s: %q", line, v.Irrecoverable)
		}
		j = Judge{}
		if v := j.Judge(line); v.Irrecoverable == "" && lost {
			t.Errorf("%s without a queue: nothing is lost", line)
		}
	}
}
