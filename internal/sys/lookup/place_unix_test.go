//go:build unix

package lookup

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestOthersWrite: a program that others than root and the user can replace is not taken.
func TestOthersWrite(t *testing.T) {
	chmod := func(p place, name string, mode os.FileMode) {
		if err := ownfile.Chmod(p.at(name), mode); err != nil {
			p.Fatal(err)
		}
	}
	group := 4711 // root has any
	if os.Geteuid() != 0 {
		group = os.Getegid()
	}
	chgrp := func(p place, name string, gid int) {
		if err := ownfile.Chown(p.at(name), -1, gid); err != nil {
			p.Fatal(err)
		}
	}
	if g, err := user.LookupGroupId(strconv.Itoa(group)); err == nil && administrators(uint32(group)) {
		needs.Skip(t, needs.OtherUser, fmt.Sprintf("the user's only group is %s", g.Name))
	}
	for _, c := range []struct {
		name, why string
		make      func(p place)
		mend      func(p place)
	}{
		{"a directory that everybody can write", "everybody can write", func(p place) { chmod(p, "bin", 0o777) }, func(p place) { chmod(p, "bin", 0o755) }},
		{"one with the sticky bit", "everybody can write", func(p place) { chmod(p, "bin", 0o777|os.ModeSticky) }, func(p place) { chmod(p, "bin", 0o755|os.ModeSticky) }},
		{"one that a group can write", "can write", func(p place) { chgrp(p, "bin", group); chmod(p, "bin", 0o775) }, func(p place) { chmod(p, "bin", 0o755) }},
		{"a program that everybody can write", "everybody can write", func(p place) { chmod(p, "bin/git-tool", 0o757) }, func(p place) { chmod(p, "bin/git-tool", 0o755) }},
		{"one that a group can write", "can write", func(p place) { chgrp(p, "bin/git-tool", group); chmod(p, "bin/git-tool", 0o775) }, func(p place) { chmod(p, "bin/git-tool", 0o755) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			notTaken(newPlace(t), "bin", c.why, func(p place) { p.program("bin/git-tool"); c.make(p) }, c.mend)
		})
	}
	t.Run("a directory above that everybody can write", func(t *testing.T) {
		notTaken(newPlace(t), "open/bin", "everybody can write", func(p place) { p.program("open/bin/git-tool"); chmod(p, "open", 0o777) },
			func(p place) { chmod(p, "open", 0o777|os.ModeSticky) }) // where nobody can move what is another's
	})
	t.Run("where the target lies", func(t *testing.T) {
		notTaken(newPlace(t), "links", "everybody can write", func(p place) {
			p.link(p.program("open/git-tool"), "links/git-tool")
			chmod(p, "open", 0o777)
		}, func(p place) { chmod(p, "open", 0o755) })
	})
	if os.Geteuid() != 0 {
		return // who is not root can't give files away
	}
	chown := func(p place, name string, uid int) {
		if err := ownfile.Lchown(p.at(name), uid, -1); err != nil {
			p.Fatal(err)
		}
	}
	for _, name := range []string{"bin", "bin/git-tool"} {
		t.Run("another's "+name, func(t *testing.T) {
			notTaken(newPlace(t), "bin", "belongs to the user 4711", func(p place) { p.program("bin/git-tool"); chown(p, name, 4711) }, func(p place) { chown(p, name, 0) })
		})
	}
	t.Run("another's link", func(t *testing.T) {
		notTaken(newPlace(t), "links", "belongs to the user 4711", func(p place) {
			p.link(p.program("bin/git-tool"), "links/git-tool")
			chown(p, "links/git-tool", 4711)
		}, func(p place) { chown(p, "links/git-tool", 0) })
	})
	t.Run("administrators' groups", func(t *testing.T) {
		p := newPlace(t)
		want := p.program("bin/git-tool")
		p.path("bin")
		chgrp(p, "bin", 0)
		chmod(p, "bin", 0o775)
		if at, err := p.finder().Find("git-tool"); err != nil || at != want {
			t.Errorf("%s, %v", at, err)
		}
	})
}
