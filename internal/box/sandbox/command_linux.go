package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// killPatience bounds the end of a tree that is ended from the server.
const killPatience = 250 * time.Millisecond

// prepare makes the command for a level. What it opens is closed by tidy.
func (s *Sandbox) prepare(level Level, spec Spec, dir string, argv []string) (_ *Cmd, err error) {
	c := &Cmd{level: level, network: spec.Network, delay: keptDelay}
	var last []func()
	tidy := sync.OnceFunc(func() {
		for _, f := range slices.Backward(last) {
			f()
		}
	})
	defer func() {
		if err != nil {
			tidy()
		}
	}()
	c.tidy = tidy
	if spec.After != nil {
		last = append(last, func() { c.removed = append(c.removed, spec.After()...) })
	}

	if level == None {
		s.once.Do(s.probe) // which for the other levels is done
	}
	k := &lent{s: s, use: use{level == None, spec.Limits}}
	c.proc = k
	p := plan{Argv: argv, Dir: dir, Limits: spec.Limits, Seccomp: level > None, Userns: level >= Bubblewrap, Terminal: spec.Terminal}
	switch {
	case level >= Bubblewrap:
		err = s.bubblewrap(c, k, &p, spec, &last)
	case level == Landlock:
		err = s.landlock(k, &p, spec, &last)
	default:
		c.plain = true
		k.job = job{Argv: argv, Dir: dir, Env: spec.environ(spec.Home, map[string]string{"HOME": s.tools.Home, "TMPDIR": os.TempDir()})}
	}
	k.job.Record = spec.Record
	if err != nil {
		return nil, err
	}
	return c, nil
}

// inherit makes a command inherit the plan, and more.
func (k *lent) inherit(p *plan, last *[]func(), more ...*os.File) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := pass("plan", data)
	if err != nil {
		return err
	}
	*last = append(*last, func() { f.Close() })
	k.files = append([]*os.File{f}, more...)
	return nil
}

// maxGuarded bounds the locks that go to a keeper with a command.
const maxGuarded = maxFiles / 2

// bubblewrap starts bwrap, in whose namespaces our own program takes away what
// is left, and becomes the command. The namespace of processes ends with bwrap.
func (s *Sandbox) bubblewrap(c *Cmd, k *lent, p *plan, spec Spec, last *[]func()) error {
	var guards []*guard
	for _, dir := range spec.writable() {
		g, err := protect(dir, spec.repositoriesIn(dir), spec.host)
		if err != nil {
			return err
		}
		guards = append(guards, g)
		if g.lock != nil && len(k.locks) < maxGuarded {
			k.job.Guarded = append(k.job.Guarded, dir)
			k.locks = append(k.locks, g.lock)
		}
		*last = append(*last, func() { c.removed = append(c.removed, g.release()...) })
	}
	p.Env = spec.environ(s.tools.Home, map[string]string{"HOME": s.tools.Home, "TMPDIR": "/tmp"})
	p.Families = []int{unix.AF_INET, unix.AF_INET6}
	if !spec.Network || s.tools.Landlock >= 6 {
		// With the network of the machine come its abstract sockets, which only
		// newer versions of Landlock keep away.
		p.Families = append(p.Families, unix.AF_UNIX)
	}
	if c.level == Full {
		p.Files = &fileRules{
			Read:    []string{"/"},
			Write:   append([]string{"/tmp", s.tools.Home, "/dev/shm"}, spec.writable()...),
			Devices: []string{"/dev"},
			TCP:     true, // is left to the namespace
		}
	}
	places := slices.Concat(installed(s.tools.Home), spec.ReadOnly, spec.Writable, []string{spec.Root})
	for _, l := range spec.Layers {
		places = append(places, filepath.Join(s.tools.Home, l.On))
	}
	if err := errors.Join(clearWay(spec.Home, s.tools.Home, places), clearWay(spec.Temp, "/tmp", places)); err != nil {
		return err
	}
	sealed, remove, err := seal(spec.Sealed)
	if err != nil {
		return err
	}
	*last = append(*last, remove)
	shown, remove, err := spec.show(guards)
	if err != nil {
		return err
	}
	*last = append(*last, remove)
	words, masks := bwrapArgs(s.tools, s.self, spec, guards, sealed, shown)
	args, err := pass("arguments", nulTerminated(words))
	if err != nil {
		return err
	}
	*last = append(*last, func() { args.Close() })
	theirs, err := c.watchMasks(masks, shown, last)
	if err != nil {
		return err
	}
	p.Mounts = planFD + 2
	k.job.Path, k.job.Dir, k.job.Namespace = s.tools.Bwrap, "/", true
	k.job.Argv = []string{s.tools.Bwrap, "--args", fmt.Sprint(planFD + 1), "--", helperPath, InitCommand, roleConfine}
	layers := spec.Layers
	if spec.Merged != nil && spec.Merged.Mount != nil {
		layers = append([]Layer{{Mount: spec.Merged.Mount, At: spec.Merged.At}}, layers...)
	}
	if len(layers) == 0 {
		return k.inherit(p, last, args, theirs)
	}
	a := attachment{Argv: k.job.Argv}
	var mounts []*os.File
	for _, l := range layers {
		f, err := l.Mount.another()
		if err != nil {
			return err
		}
		*last = append(*last, func() { f.Close() })
		mounts, a.At = append(mounts, f), append(a.At, l.At)
	}
	at, err := passJSON("attachment", a)
	if err != nil {
		return err
	}
	*last = append(*last, func() { at.Close() })
	k.job.Path, k.job.Argv, k.job.Mounts = s.self, []string{s.self, InitCommand, roleAttach}, true
	return k.inherit(p, last, append([]*os.File{args, theirs, at}, mounts...)...)
}

// landlock starts a process of ours that takes its own rights away, and becomes
// the command.
func (s *Sandbox) landlock(k *lent, p *plan, spec Spec, last *[]func()) error {
	home, temp := spec.Home, spec.Temp
	own, err := os.MkdirTemp("", "sidecar-ls-command-*")
	if err != nil {
		return err
	}
	*last = append(*last, func() { _ = os.RemoveAll(own) }) // in case its keeper could not
	for _, d := range []struct {
		dir  *string
		name string
	}{{&home, "home"}, {&temp, "tmp"}} {
		if *d.dir == "" {
			*d.dir = filepath.Join(own, d.name)
			if err := os.Mkdir(*d.dir, 0o700); err != nil {
				return err
			}
		}
	}
	p.Env = spec.environ(home, map[string]string{"HOME": home, "TMPDIR": temp})
	masked := machineSecrets()
	p.Files = &fileRules{
		Read:    slices.Concat(programs, around("/etc", masked), []string{"/proc", "/sys/devices/system/cpu", s.self}, installed(s.tools.Home), spec.ReadOnly, []string{spec.Root}),
		Write:   append([]string{home, temp}, spec.writable()...),
		Devices: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"},
		TCP:     spec.Network,
	}
	if spec.Network {
		// No sockets of the machine's services: they have names in the file
		// system, which Landlock does not guard.
		p.Families = []int{unix.AF_INET, unix.AF_INET6}
	}
	k.job = job{Path: s.self, Argv: []string{s.self, InitCommand, roleConfine}, Env: []string{"GOMAXPROCS=1"}, Dir: "/", Own: own}
	return k.inherit(p, last)
}
