package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	boxnet "github.com/sidecar-ls/sidecar-ls/internal/box/net"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mount"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/rights"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// prepare makes the command for a level. What it opens is closed by tidy.
func (s *Sandbox) prepare(level spec.Level, want spec.Spec, dir string, argv []string) (_ *Cmd, err error) {
	c := &Cmd{level: level, reaches: reaches(want.Network), delay: keptDelay}
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
	if want.After != nil {
		last = append(last, func() { c.removed = append(c.removed, want.After()...) })
	}

	if level == spec.None {
		s.once.Do(s.probe) // which for the other levels is done
	}
	k := s.keepers.Run(s.tools.Cgroups, level == spec.None, want.Limits)
	c.proc = k
	p := rights.Plan{Argv: argv, Dir: dir, Limits: want.Limits, Seccomp: level > spec.None, Userns: level >= spec.Bubblewrap, Terminal: want.Terminal}
	if level >= spec.Bubblewrap && !want.Network && want.Session != "" {
		if n := s.networks.Join(want.Session, want.Ended); n != nil {
			k.In(n)
			want.Joined, c.left = true, n.Left()
			if err := s.serveNames(c, n, &want, &last); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case level >= spec.Bubblewrap:
		err = s.bubblewrap(c, k, &p, want, &last)
	case level == spec.Landlock:
		err = s.landlock(k, &p, want, &last)
	default:
		c.plain = true
		k.Job = keeper.Job{Argv: argv, Dir: dir, Env: want.Environ(want.Home, map[string]string{"HOME": s.tools.Home, "TMPDIR": os.TempDir()})}
	}
	k.Job.Record = want.Record
	if err != nil {
		return nil, err
	}
	return c, nil
}

// serveNames has the names of hosts lead out of a session's network, where a command wants
// that.
func (s *Sandbox) serveNames(c *Cmd, n *boxnet.Joint, want *spec.Spec, last *[]func()) error {
	if want.Names == nil || s.opts.Hand == nil {
		return nil
	}
	err := n.Serve(boxnet.Names{Ports: want.Names.Ports, Here: want.Names.Here}, func(a boxnet.Arrival, conn *net.TCPConn) { s.opts.Hand(n, a, conn) })
	if err != nil {
		return &spec.RefusedError{Why: err.Error()}
	}
	dir, remove, err := mask.Names()
	if err != nil {
		return err
	}
	*last = append(*last, remove)
	want.Etc, c.reaches = dir, spec.ByHost
	return nil
}

// warm starts what runs the first command in the network of a session.
func (s *Sandbox) warm(n *boxnet.Joint) {
	s.keepers.Warm(s.tools.Cgroups, spec.Limits{}.WithDefaults(), n)
}

// inherit makes a command inherit the plan, and more.
func inherit(k *keeper.Run, p *rights.Plan, last *[]func(), more ...*os.File) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := child.Pass("plan", data)
	if err != nil {
		return err
	}
	*last = append(*last, func() { f.Close() })
	k.Files = append([]*os.File{f}, more...)
	return nil
}

// maxGuarded bounds the locks that go to a keeper with a command.
const maxGuarded = keeper.MaxFiles / 2

// bubblewrap starts bwrap, in whose namespaces our own program takes away what
// is left, and becomes the command. The namespace of processes ends with bwrap.
func (s *Sandbox) bubblewrap(c *Cmd, k *keeper.Run, p *rights.Plan, want spec.Spec, last *[]func()) error {
	var guards []*mask.Guard
	for _, dir := range want.WritableDirs() {
		g, err := mask.Protect(dir, want.RepositoriesIn(dir), want.Host)
		if err != nil {
			return err
		}
		guards = append(guards, g)
		for _, f := range g.Locks {
			if len(k.Locks) < maxGuarded {
				k.Job.Guarded = append(k.Job.Guarded, dir)
				k.Locks = append(k.Locks, f)
			}
		}
		*last = append(*last, func() { c.removed = append(c.removed, g.Release()...) })
	}
	p.Env = want.Environ(s.tools.Home, map[string]string{"HOME": s.tools.Home, "TMPDIR": "/tmp"})
	p.Families = []int{unix.AF_INET, unix.AF_INET6}
	if !want.Network || s.tools.Landlock >= 6 {
		// With the network of the machine come its abstract sockets, which only
		// newer versions of Landlock keep away.
		p.Families = append(p.Families, unix.AF_UNIX)
	}
	if c.level == spec.Full {
		p.Files = &rights.FileRules{
			Read:    []string{"/"},
			Write:   append([]string{"/tmp", s.tools.Home, "/dev/shm"}, want.WritableDirs()...),
			Devices: []string{"/dev"},
			TCP:     true, // is left to the namespace
		}
	}
	places := slices.Concat(spec.Installed(s.tools.Home), want.ReadOnly, want.Writable, want.Folders())
	home := want.Home
	for _, l := range want.Layers {
		places = append(places, filepath.Join(s.tools.Home, l.On))
		if l.On == "" {
			home = l.Mount.Path()
		}
	}
	for _, l := range want.HomeDirs {
		places = append(places, filepath.Join(s.tools.Home, l.In))
	}
	if err := errors.Join(mask.ClearWay(home, s.tools.Home, places), mask.ClearWay(want.Temp, "/tmp", places)); err != nil {
		return err
	}
	sealed, remove, err := mask.Seal(want.Sealed)
	if err != nil {
		return err
	}
	*last = append(*last, remove)
	shown, remove, err := mask.ShowSettings(want, guards)
	if err != nil {
		return err
	}
	*last = append(*last, remove)
	words, masks := mask.BwrapArgs(s.tools.Home, s.tools.DisableUserns, s.self, want, guards, sealed, shown)
	args, err := child.Pass("arguments", mask.NulTerminated(words))
	if err != nil {
		return err
	}
	*last = append(*last, func() { args.Close() })
	theirs, watched, stop, err := mask.WatchMasks(masks, shown, func(path string) {
		c.lost.Store(&path)
		c.proc.Kill()
	}, func(path string) { c.replaced.Store(&path) })
	if err != nil {
		return err
	}
	c.watched = watched
	*last = append(*last, stop)
	p.Mounts = child.PlanFD + 2
	k.Job.Path, k.Job.Dir, k.Job.Namespace = s.tools.Bwrap, "/", true
	k.Job.Argv = []string{s.tools.Bwrap, "--args", fmt.Sprint(child.PlanFD + 1), "--", mask.HelperPath, child.InitCommand, child.RoleConfine}
	var layers []spec.Layer
	for _, m := range want.Worlds() {
		if m.Mount != nil {
			layers = append(layers, spec.Layer{Mount: m.Mount, At: m.At})
		}
	}
	layers = append(layers, want.Layers...)
	if len(layers) == 0 {
		return inherit(k, p, last, args, theirs)
	}
	a := mount.Attachment{Argv: k.Job.Argv}
	var mounts []*os.File
	for _, l := range layers {
		f, err := l.Mount.Copy()
		if err != nil {
			return err
		}
		*last = append(*last, func() { f.Close() })
		mounts, a.At = append(mounts, f), append(a.At, l.At)
	}
	at, err := child.PassJSON("attachment", a)
	if err != nil {
		return err
	}
	*last = append(*last, func() { at.Close() })
	k.Job.Path, k.Job.Argv, k.Job.Mounts = s.self, []string{s.self, child.InitCommand, child.RoleAttach}, true
	return inherit(k, p, last, append([]*os.File{args, theirs, at}, mounts...)...)
}

// landlock starts a process of ours that takes its own rights away, and becomes
// the command.
func (s *Sandbox) landlock(k *keeper.Run, p *rights.Plan, want spec.Spec, last *[]func()) error {
	home, temp := want.Home, want.Temp
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
	p.Env = want.Environ(home, map[string]string{"HOME": home, "TMPDIR": temp})
	masked := mask.MachineSecrets()
	p.Files = &rights.FileRules{
		Read:    slices.Concat(spec.Programs, rights.Around("/etc", masked), []string{"/proc", "/sys/devices/system/cpu", s.self}, spec.Installed(s.tools.Home), want.ReadOnly, []string{want.Root}),
		Write:   append([]string{home, temp}, want.WritableDirs()...),
		Devices: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"},
		TCP:     want.Network,
	}
	if want.Network {
		// No sockets of the machine's services: they have names in the file
		// system, which Landlock does not guard.
		p.Families = []int{unix.AF_INET, unix.AF_INET6}
	}
	k.Job = keeper.Job{Path: s.self, Argv: []string{s.self, child.InitCommand, child.RoleConfine}, Env: []string{"GOMAXPROCS=1"}, Dir: "/", Own: own}
	return inherit(k, p, last)
}
