package mask

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// secrets of the machine below /etc, which look empty. Ordinary users can't
// read most of them; root can.
var secrets = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/security/opasswd",
	"/etc/ssl/private", "/etc/krb5.keytab", "/etc/NetworkManager/system-connections", "/etc/wireguard", "/etc/openvpn", "/etc/docker", "/etc/kubernetes",
	"/etc/letsencrypt", "/etc/ppp", "/etc/netrc", "/etc/credstore", "/etc/credstore.encrypted"}

// MachineSecrets are those that exist, and the host keys of ssh.
func MachineSecrets() []string {
	keys, _ := filepath.Glob("/etc/ssh/ssh_host_*_key")
	return slices.DeleteFunc(append(keys, secrets...), func(name string) bool { return !spec.Exists(name) })
}

// HelperPath is where the server's program is found in the sandbox.
const HelperPath = "/run/sidecar-ls"

// mounts collects arguments of bwrap (bwrap(1)). They are carried out in order.
type mounts struct {
	spec  spec.Spec
	args  []string
	masks []mask
	links map[string]string // that lead elsewhere in the sandbox
}

// mask is a mount that keeps something from a command.
type mask struct {
	path  string // what it lies over
	place string // the same, as the sandbox has it
}

func (m *mounts) add(args ...string)      { m.args = append(m.args, args...) }
func (m *mounts) readOnly(path string)    { m.add("--ro-bind", m.spec.Source(path), path) }
func (m *mounts) writable(path string)    { m.add("--bind", m.spec.Source(path), path) }
func (m *mounts) temporary(path string)   { m.add("--perms", "1777", "--tmpfs", path) }
func (m *mounts) at(source, there string) { m.add("--bind", source, there) }

// mask adds a mount over something that a directory of the command has in it.
func (m *mounts) mask(path string, add func(string)) {
	if len(m.spec.Worlds()) > 0 && !spec.Exists(m.spec.Host(path)) {
		return // there is nothing that it could lie over
	}
	place := path
	for link, target := range m.links {
		if spec.Within(path, link) {
			place = target + strings.TrimPrefix(path, link)
		}
	}
	m.masks = append(m.masks, mask{path, place})
	add(path)
}

// link makes a link, with a target that is relative to it.
func (m *mounts) link(target, path string) {
	m.add("--symlink", target, path)
	m.links[path] = filepath.Join(filepath.Dir(path), target)
}

// hide makes path look empty.
func (m *mounts) hide(path string) {
	if info, err := os.Stat(m.spec.Host(path)); err == nil && info.IsDir() {
		m.add("--perms", "0555", "--tmpfs", path, "--remount-ro", path)
		return
	}
	m.add("--ro-bind", "/dev/null", path)
}

// BwrapArgs is the whole view of the machine that a command gets: nothing is
// there that is not listed here. Somebody else could undo the masks while
// it runs.
func BwrapArgs(home string, disableUserns bool, self string, s spec.Spec, guards []*Guard, sealed []sealed, settings *shownSettings) (args []string, masks []mask) {
	a := &mounts{spec: s, links: map[string]string{}}
	a.add("--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv")
	if disableUserns {
		a.add("--disable-userns")
	}
	if s.Network || s.Joined {
		a.add("--share-net")
	}
	for _, dir := range spec.Programs {
		switch info, err := os.Lstat(dir); {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			if target, err := os.Readlink(dir); err == nil {
				a.add("--symlink", target, dir)
			}
		default:
			a.readOnly(dir)
		}
	}
	a.readOnly("/etc")
	for _, path := range MachineSecrets() {
		a.hide(path)
	}
	a.add("--proc", "/proc", "--dev", "/dev")
	if os.Geteuid() == 0 {
		// Root owns these files, with capabilities or without.
		a.readOnly("/proc/sys")
		if spec.Exists("/proc/sysrq-trigger") {
			a.add("--ro-bind", "/dev/null", "/proc/sysrq-trigger")
		}
	}
	a.add("--tmpfs", "/run", "--dir", "/var")
	a.link("../run", "/var/run")
	if s.Network {
		if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && !spec.Within(real, "/etc") {
			a.readOnly(real)
		}
	}
	if s.Etc != "" {
		a.names(s.Etc)
	}
	if s.Temp != "" {
		a.at(s.Temp, "/tmp")
	} else {
		a.temporary("/tmp")
	}
	a.link("../tmp", "/var/tmp")
	if s.Home != "" {
		a.at(s.Home, home)
		for _, l := range s.Layers {
			a.at(l.At, filepath.Join(home, l.On))
		}
		for _, l := range s.HomeDirs {
			in := filepath.Join(home, l.In)
			a.add("--perms", "0700", "--tmpfs", in)
			a.add("--bind-try", l.Dir, filepath.Join(in, l.On)) // it may go with a session before
		}
	} else {
		a.add("--perms", "0700", "--tmpfs", home)
	}
	for _, path := range spec.Installed(home) {
		a.readOnly(path)
	}
	for _, path := range s.ReadOnly {
		if !s.InFolders(path) {
			a.readOnly(path)
		}
	}
	for _, g := range guards {
		for _, path := range g.see {
			a.readOnly(path)
		}
	}
	// A mount covers what is mounted below it before: a directory before those in it.
	dirs := map[string]func(string){}
	for _, dir := range s.Folders() {
		dirs[dir] = a.readOnly // of one that can be written, a guard comes after it
	}
	for _, g := range guards {
		dirs[g.dir] = a.writable
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		dirs[dir](dir)
	}
	for _, m := range s.Worlds() {
		for _, path := range m.Real {
			a.writable(path)
		}
		for _, l := range m.Lent {
			a.add("--ro-bind", l.Dir, l.Place)
		}
	}
	if settings.dir != "" {
		a.add("--ro-bind", settings.dir, settingsPath)
	}
	read := func(path string) {
		if copied := settings.source(path); copied != "" {
			a.add("--ro-bind", copied, path)
			return
		}
		a.readOnly(path)
	}
	for _, p := range inside(s, guards) {
		switch p.is {
		case kept:
			a.mask(p.path, a.writable)
		case closed:
			a.mask(p.path, read)
		case opened:
			a.writable(p.path)
		}
	}
	for _, path := range settings.names {
		if settings.files[path].closed {
			a.mask(path, func(path string) { a.add("--ro-bind", settings.source(path), path) })
		}
	}
	for _, path := range s.Hidden {
		a.mask(path, a.hide)
	}
	for _, f := range sealed {
		a.mask(f.path, func(path string) { a.add("--ro-bind", f.standIn, path) })
	}
	a.add("--ro-bind", self, HelperPath)
	a.add("--remount-ro", "/run", "--remount-ro", "/")
	return a.args, a.masks
}

// place is something in a directory that can be written.
type place struct {
	path string
	is   int
}

// The kinds of places, in the order in which they are mounted at one path.
const (
	closed = iota // it can't be written
	kept          // it must not be renamed
	opened        // it can be, although what it is in can't: what git keeps for a linked working tree
)

// inside are the places in the directories that can be written. A mount covers all that is
// mounted below it before, so a directory comes before what is in it; and what lies in a
// place that can't be written needs no mount of its own.
func inside(s spec.Spec, guards []*Guard) (list []place) {
	add := func(is int, paths ...string) {
		for _, path := range paths {
			if p := (place{path, is}); !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	for _, g := range guards {
		add(kept, g.keep...)
		add(closed, g.readOnly...)
		if slices.Contains(s.Writable, g.dir) && spec.LinkedGitDir(g.dir) {
			add(opened, g.dir)
		}
	}
	for _, path := range s.ReadOnly {
		for _, dir := range s.WritableDirs() {
			if spec.Within(path, dir) && path != dir {
				add(kept, spec.Above(dir, path)...)
				add(closed, path)
			}
		}
	}
	slices.SortFunc(list, func(a, b place) int { return cmp.Or(strings.Compare(a.path, b.path), a.is-b.is) })
	var mounted []place
	for _, p := range list {
		in := -1 // the innermost that is mounted around it, or at its path
		for i, other := range mounted {
			if other.is != kept && spec.Within(p.path, other.path) {
				in = i
			}
		}
		shut := in >= 0 && mounted[in].is == closed
		if shut != (p.is == opened) {
			continue
		}
		mounted = append(mounted, p)
	}
	return mounted
}

// ClearWay removes links that an earlier command put into a private directory,
// source, which is seen as at: bwrap makes the places of later mounts in it, and
// would follow them out of it.
func ClearWay(source, at string, mounts []string) error {
	for _, path := range mounts {
		if source == "" || path == at || !spec.Within(path, at) {
			continue
		}
		for _, dir := range append(spec.Above(at, path), path) {
			there := filepath.Join(source, strings.TrimPrefix(dir, at))
			if info, err := os.Lstat(there); err == nil && !info.IsDir() {
				if err := os.Remove(there); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// NulTerminated is the form of arguments for --args.
func NulTerminated(args []string) []byte {
	return []byte(strings.Join(args, "\x00") + "\x00")
}
