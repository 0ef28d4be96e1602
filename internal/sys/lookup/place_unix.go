//go:build unix

package lookup

import (
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// foreign says that neither root nor the user owns a file.
func foreign(path string, info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "whose it is is not known"
	}
	if s.Uid == 0 || int(s.Uid) == os.Geteuid() || UnmappedRoot(s.Uid) {
		return ""
	}
	return path + " belongs to the user " + strconv.Itoa(int(s.Uid))
}

// open says that others than root and the user can change a file or directory. sticky
// takes a directory with that bit for one where they can't.
func open(path string, info fs.FileInfo, sticky bool) string {
	if why := foreign(path, info); why != "" {
		return why
	}
	mode := info.Mode()
	if sticky && mode.IsDir() && mode&fs.ModeSticky != 0 {
		return ""
	}
	if mode.Perm()&0o002 != 0 {
		return "everybody can write " + path + ": chmod o-w it"
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && mode.Perm()&0o020 != 0 && !administrators(s.Gid) {
		return "the group " + groupName(s.Gid) + " can write " + path + ": chmod g-w it"
	}
	return ""
}

// administrators reports whether the members of a group can do as root does anyway, or
// are those who install programs.
func administrators(gid uint32) bool {
	return gid == 0 || slices.Contains([]string{"root", "wheel", "staff", "admin"}, groupName(gid))
}

func groupName(gid uint32) string {
	id := strconv.Itoa(int(gid))
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}

// UnmappedRoot reports whether a user is how root looks here: in a user namespace in
// which root has no number, as that of Flatpak, the kernel shows another one.
func UnmappedRoot(uid uint32) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.Itoa(int(uid)) {
		return false
	}
	maps, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "0" {
			return false // who is outside and has no number is another user
		}
	}
	return true
}
