package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killPatience bounds the end of a tree that is ended from the server.
const killPatience = 250 * time.Millisecond

// prepare makes the command for a level. What it opens is closed by tidy.
func (s *Sandbox) prepare(ctx context.Context, level Level, spec Spec, dir string, argv []string) (_ *Cmd, err error) {
	c := &Cmd{level: level, network: spec.Network}
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

	p := plan{Argv: argv, Dir: dir, Limits: spec.Limits, Seccomp: level > None, Userns: level >= Bubblewrap}
	if level == None {
		s.once.Do(s.probe) // which for the other levels is done
	}
	group, err := newCgroup(s.tools.Cgroups, spec.Limits)
	if err != nil {
		group = &cgroup{} // the others of the limits hold
	}
	last = append(last, group.remove)
	p.Cgroups = len(group.join)

	if level >= Bubblewrap {
		err = s.bubblewrap(ctx, c, &p, spec, group, &last)
	} else {
		err = s.supervised(ctx, c, &p, spec, group, &last)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// files are what a process inherits: the plan, the groups, and more.
func files(p *plan, group *cgroup, more ...*os.File) ([]*os.File, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	f, err := pass("plan", data)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]*os.File{f}, group.join, more), nil
}

// bubblewrap starts bwrap, in whose namespaces our own program takes away what
// is left, and becomes the command. The namespace of processes ends with bwrap,
// which ends with the server.
func (s *Sandbox) bubblewrap(ctx context.Context, c *Cmd, p *plan, spec Spec, group *cgroup, last *[]func()) error {
	var guards []*guard
	for _, dir := range append([]string{spec.Root}, spec.Writable...) {
		g, err := protect(dir)
		if err != nil {
			return err
		}
		guards = append(guards, g)
		*last = append(*last, func() { c.removed = append(c.removed, g.release()...) })
	}
	p.Env = environment(spec.Env, map[string]string{"HOME": s.tools.Home, "TMPDIR": "/tmp"})
	p.Families = []int{unix.AF_INET, unix.AF_INET6}
	if !spec.Network || s.tools.Landlock >= 6 {
		// With the network of the machine come its abstract sockets, which only
		// newer versions of Landlock keep away.
		p.Families = append(p.Families, unix.AF_UNIX)
	}
	if c.level == Full {
		p.Files = &fileRules{
			Read:    []string{"/"},
			Write:   slices.Concat([]string{spec.Root, "/tmp", s.tools.Home, "/dev/shm"}, spec.Writable),
			Devices: []string{"/dev"},
			TCP:     true, // is left to the namespace
		}
	}
	mounts := slices.Concat(installed(s.tools.Home), spec.ReadOnly, spec.Writable, []string{spec.Root})
	if err := errors.Join(clearWay(spec.Home, s.tools.Home, mounts), clearWay(spec.Temp, "/tmp", mounts)); err != nil {
		return err
	}
	sealed, remove, err := seal(spec.Sealed)
	if err != nil {
		return err
	}
	*last = append(*last, remove)
	args, err := pass("arguments", nulTerminated(bwrapArgs(s.tools, s.self, spec, guards, sealed)))
	if err != nil {
		return err
	}
	inherit, err := files(p, group, args)
	if err != nil {
		args.Close()
		return err
	}
	c.cmd = exec.CommandContext(ctx, s.tools.Bwrap, "--args", fmt.Sprint(planFD+len(inherit)-1), "--", helperPath, InitCommand, roleConfine)
	c.cmd.Env = []string{} // a nil one would be the server's
	c.cmd.Dir = "/"
	c.cmd.ExtraFiles = inherit
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	*last = append(*last, func() { inherit[0].Close(); args.Close() })
	c.kill = func() {
		if c.cmd.Process != nil {
			_ = c.cmd.Process.Kill() // and the kernel ends the namespace
		}
		group.kill()
	}
	return nil
}

// supervised starts a process of ours that keeps the tree of the command below
// itself, and ends it when the server goes.
func (s *Sandbox) supervised(ctx context.Context, c *Cmd, p *plan, spec Spec, group *cgroup, last *[]func()) error {
	home, temp := spec.Home, spec.Temp
	if c.level > None {
		own, err := os.MkdirTemp("", "sidecar-ls-command-*")
		if err != nil {
			return err
		}
		p.Own = own
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
		p.Env = environment(spec.Env, map[string]string{"HOME": home, "TMPDIR": temp})
		masked := machineSecrets()
		p.Files = &fileRules{
			Read:    slices.Concat(programs, around("/etc", masked), []string{"/proc", "/sys/devices/system/cpu", s.self}, installed(s.tools.Home), spec.ReadOnly),
			Write:   slices.Concat([]string{spec.Root, home, temp}, spec.Writable),
			Devices: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"},
			TCP:     spec.Network,
		}
		if spec.Network {
			// No sockets of the machine's services: they have names in the file
			// system, which Landlock does not guard.
			p.Families = []int{unix.AF_INET, unix.AF_INET6}
		}
	} else {
		p.Env = environment(spec.Env, map[string]string{"HOME": s.tools.Home, "TMPDIR": os.TempDir()})
	}
	end, lifeline, err := os.Pipe()
	if err != nil {
		return err
	}
	p.Lifeline = planFD + 1 + len(group.join)
	inherit, err := files(p, group, end)
	if err != nil {
		return err
	}
	*last = append(*last, func() { inherit[0].Close(); end.Close(); lifeline.Close() })
	c.cmd = exec.CommandContext(ctx, s.self, InitCommand, roleSupervise)
	c.cmd.Env = []string{"GOMAXPROCS=2"}
	c.cmd.Dir = "/"
	c.cmd.ExtraFiles = inherit
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.kill = func() {
		group.kill()
		if p := c.cmd.Process; p != nil {
			_ = p.Signal(syscall.SIGCONT)
			endTree(p.Pid, killPatience, nil)
		}
	}
	return nil
}
