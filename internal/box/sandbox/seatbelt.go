package sandbox

import (
	"errors"
	"io/fs"
	"os"
	slash "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// On macOS the kernel holds a command to a profile, by the paths of what it asks
// for (sandbox-exec(1)). The language of profiles is Scheme with a few words more;
// Apple documents it by the profiles of its own in /System/Library/Sandbox/Profiles,
// and everybody else by trying. What is used here are the words that the profiles
// of Chromium, Bazel and other agents have used for years, in their plainest form:
// of the rules that match, the last one decides.
//
// Two words are left out, so that nobody has them: file-link and file-clone. A hard
// link gives a hidden or protected file another path, which no rule knows.

// belt is what a profile says besides the Spec.
type belt struct {
	home     string   // of the user: its files can't be read
	readable []string // what can be read there all the same
	obeyed   []string // can't be written, whether it exists or not
}

// profile is that of a Spec that was resolved, with a Home and a Temp, and
// the parameters that it names its directories by, as NAME=value.
func profile(s spec.Spec, b belt) (text string, params []string) {
	p := sbpl{names: map[string]string{}}
	for _, d := range []struct{ name, path string }{{"TEMP", s.Temp}, {"HOME", s.Home}, {"USER_HOME", b.home}, {"ROOT", s.Root}} {
		if p.names[d.path] == "" && d.path != "" {
			p.names[d.path] = d.name
			params = append(params, d.name+"="+d.path)
		}
	}
	own, private := s.WritableDirs(), []string{s.Home, s.Temp}
	shut := slices.Concat(s.Hidden, s.Sealed, b.obeyed)
	for _, path := range s.ReadOnly {
		if slices.ContainsFunc(own, func(dir string) bool { return spec.Within(path, dir) }) && !slices.Contains(own, path) {
			shut = append(shut, path)
		}
	}

	p.say("(version 1)")
	p.say("(deny default)")

	p.note("Processes: its own are the command's matter, and those of others are not.")
	p.rule("allow process-exec")
	p.rule("allow process-fork")
	p.rule("allow signal", "(target same-sandbox)")
	p.rule("allow process-info*", "(target same-sandbox)")
	p.rule("allow file-map-executable")

	p.note("The machine: what it is and who its users are, not the arguments and environments of processes.")
	p.rule("allow mach-host*")
	p.rule("allow sysctl-read", each("sysctl-name", sysctls), each("sysctl-name-prefix", sysctlPrefixes))
	p.rule("allow mach-lookup", each("global-name", services))
	p.rule("allow ipc-posix-shm-read-data", each("ipc-posix-name", []string{"apple.shm.notification_center"}))
	p.rule("allow ipc-posix-sem")
	p.rule("allow file-write-data file-ioctl", each("literal", devices), `(subpath "/dev/fd")`)
	if s.Terminal {
		p.rule("allow file-read* file-write-data file-ioctl", `(literal "/dev/tty")`, `(regex "^/dev/ttys[0-9]+$")`)
	}

	p.note("Reading: everything but the user's home and what root keeps from others.")
	p.rule("allow file-read*")
	p.rule("deny file-read-data file-read-xattr", p.below(b.home), p.below(machineKeys...))
	p.rule("allow file-read*", p.below(slices.Concat([]string{s.Root}, own, private, s.ReadOnly, b.readable)...))

	p.note("Writing.")
	p.rule("allow file-write*", p.below(own...))

	p.note("Sockets: those in its private directories, and the machine's network if it may.")
	p.rule("allow system-socket", "(socket-domain AF_UNIX)")
	p.rule("allow network-bind network-inbound", sockets("local", p.below(private...)))
	p.rule("allow network-outbound", sockets("remote", p.below(private...)))
	if s.Network {
		p.rule("allow system-socket")
		p.rule("allow network-bind network-inbound", `(local ip "*:*")`)
		p.rule("allow network-outbound", `(remote ip "*:*")`, p.at("/private/var/run/mDNSResponder"))
		p.rule("allow mach-lookup", each("global-name", networkServices))
		p.rule("allow sysctl-read", each("sysctl-name-prefix", []string{"net.routetable."}))
	}

	p.note("What is hidden, and what can only be looked at. Nothing of it can be made, moved or replaced, nor moved with what it is in.")
	p.rule("deny file-read-data file-read-xattr", p.below(slices.Concat(s.Hidden, s.Sealed)...))
	p.rule("deny file-write*", p.below(shut...), p.caseless(b.obeyed))
	p.rule("allow file-write*", p.below(private...)) // they may be in what is shut
	p.rule("deny file-write-unlink", p.at(holders(slices.Concat(own, private), slices.Concat(shut, private))...))
	return p.String(), params
}

// holders are the directories that are written, and those in them that hold what is
// shut: rules are about paths, and with a directory the paths in it would change.
func holders(own, shut []string) []string {
	list := slices.Clone(own)
	for _, dir := range own {
		for _, path := range shut {
			if spec.Within(path, dir) {
				list = append(list, spec.Above(dir, path)...)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Names that programs need. Nobody may ask for kern.procargs2, which shows the
// environment of every process of the user, nor for the services that start
// programs or hold passwords.
var (
	sysctls = []string{"kern.argmax", "kern.boottime", "kern.hostname", "kern.maxfiles", "kern.maxfilesperproc", "kern.maxproc", "kern.ngroups",
		"kern.secure_kernel", "kern.usrstack64", "kern.version", "kern.willshutdown", "sysctl.proc_cputype", "vm.loadavg"}
	sysctlPrefixes = []string{"hw.", "kern.os", "kern.proc.pgrp.", "kern.proc.pid.", "machdep.cpu.", "machdep.ptrauth"}

	services = []string{"com.apple.bsd.dirhelper", "com.apple.logd", "com.apple.system.logger", "com.apple.system.notification_center",
		"com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership"}
	networkServices = []string{"com.apple.SystemConfiguration.DNSConfiguration", "com.apple.SystemConfiguration.configd", "com.apple.networkd",
		"com.apple.dnssd.service", "com.apple.trustd", "com.apple.trustd.agent"}

	devices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper"}

	machineKeys = []string{"/Library/Keychains", "/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/sudoers.d", "/private/var/db/dslocal", "/private/var/root"}
)

// obeyed lists the names in a writable directory that programs obey: those that must
// not be written, whether they exist or not. see is what must be visible besides.
func obeyed(s spec.Spec, dir string) (list, see []string, err error) {
	in := func(dir string, names ...string) {
		for _, name := range names {
			list = append(list, filepath.Join(dir, name))
		}
	}
	repository := func(git string) {
		if spec.LinkedGitDir(git) {
			in(git, spec.LinkedProtected...)
			return
		}
		in(git, slices.Concat(spec.GitProtected, []string{spec.GitTrap})...)
	}
	switch {
	case spec.LinkedGitDir(dir):
		repository(dir)
		return list, nil, nil
	case slices.Contains(spec.GitData, filepath.Base(dir)) && spec.GitDir(filepath.Dir(dir)):
		return nil, nil, nil // nothing in it is run or obeyed
	case spec.GitDir(dir): // a bare repository, or the git directory of another tree
		repository(dir)
	}
	for _, name := range spec.Protected {
		if slices.Contains(spec.Missing, name) || spec.Exists(filepath.Join(dir, name)) {
			in(dir, name)
		}
	}
	repositories := append([]string{filepath.Join(dir, ".git")}, s.RepositoriesIn(dir)...)
	slices.Sort(repositories)
	for _, git := range slices.Compact(repositories) {
		info, err := os.Lstat(git)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(git) == dir:
			list = append(list, git)
		case errors.Is(err, fs.ErrNotExist) || git == dir:
		case err != nil:
			return nil, nil, err
		case info.IsDir() && (spec.GitDir(git) || spec.LinkedGitDir(git)):
			repository(git)
		default:
			list = append(list, git)
			see = append(see, spec.LinkedTree(git)...)
		}
	}
	for _, path := range list {
		// A rule is about where a link leads, so that it could be replaced.
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, nil, spec.LinkError(path)
		}
	}
	return list, see, nil
}

// sbpl is a profile that is being written.
type sbpl struct {
	strings.Builder
	names map[string]string // the parameters that stand for paths
}

func (p *sbpl) say(line string)  { p.WriteString(line + "\n") }
func (p *sbpl) note(text string) { p.say("\n; " + text) }

// rule writes a rule for whatever one of the filters matches. A rule whose filters
// are all empty is about nothing, and one without filters about everything.
func (p *sbpl) rule(what string, filters ...any) {
	var list []string
	for _, f := range filters {
		switch f := f.(type) {
		case string:
			list = append(list, f)
		case []string:
			list = append(list, f...)
		}
	}
	if len(filters) > 0 && len(list) == 0 {
		return
	}
	p.say("(" + strings.Join(append([]string{what}, list...), "\n  ") + ")")
}

// name is a path in a rule.
func (p *sbpl) name(path string) string {
	if name := p.names[path]; name != "" {
		return "(param " + quote(name) + ")"
	}
	return quote(path)
}

// below matches paths and all that is in them, and at the paths alone.
func (p *sbpl) below(paths ...string) []string { return p.filters("subpath", paths) }
func (p *sbpl) at(paths ...string) []string    { return p.filters("literal", paths) }

func (p *sbpl) filters(word string, paths []string) []string {
	var list []string
	for _, path := range spelled(paths...) {
		list = append(list, "("+word+" "+p.name(path)+")")
	}
	return list
}

// caseless matches paths and what is in them however their last name is written:
// most disks of Macs make no difference, and what is not there yet has the name
// that it is asked for by.
func (p *sbpl) caseless(paths []string) []string {
	names := map[string][]string{} // by directory
	var dirs []string
	for _, path := range paths {
		dir, name := slash.Split(path)
		if names[dir] == nil {
			dirs = append(dirs, dir)
		}
		names[dir] = append(names[dir], anyCase(name))
	}
	var list []string
	for _, dir := range dirs {
		list = append(list, "(regex "+quote("^"+regexQuote(dir)+"("+strings.Join(names[dir], "|")+")(/|$)")+")")
	}
	return list
}

// sockets match sockets by their paths at one end.
func sockets(end string, paths []string) []string {
	var list []string
	for _, path := range paths {
		list = append(list, "("+end+" unix-socket "+path+")")
	}
	return list
}

// each is a filter for each of some values.
func each(word string, values []string) []string {
	var list []string
	for _, v := range values {
		list = append(list, "("+word+" "+quote(v)+")")
	}
	return list
}

// spelled are paths without links, each once, and the names of those that a link of
// the system leads to: /tmp, /var and /etc are in /private.
func spelled(paths ...string) []string {
	var list []string
	add := func(path string) {
		if path != "" && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	for _, path := range paths {
		add(path)
		for _, dir := range []string{"/tmp", "/var", "/etc"} {
			if spec.Within(path, "/private"+dir) {
				add(strings.TrimPrefix(path, "/private"))
			}
		}
	}
	return list
}

// quote is a string of Scheme.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}

// regexQuote is an expression that matches nothing but text.
func regexQuote(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if strings.IndexByte(`\.[](){}*+?^$|`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// anyCase is one that matches a name in large and small letters.
func anyCase(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if low, up := strings.ToLower(string(c)), strings.ToUpper(string(c)); c < 0x80 && low != up {
			b.WriteString("[" + low + up + "]")
			continue
		}
		b.WriteString(regexQuote(string([]byte{c})))
	}
	return b.String()
}
