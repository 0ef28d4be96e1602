package app

import (
	"context"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/internal/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/settle"
)

// areasOf are the directories that a command writes to, as far as git may meet
// what is in them, the root first: its private home is below the workspace.
func areasOf(spec *sandbox.Spec) (areas []settle.Area, err error) {
	add := func(dir string, a settle.Area) {
		if dir != "" && err == nil {
			a.Dir, err = filepath.EvalSymlinks(dir)
			areas = append(areas, a)
		}
	}
	add(spec.Root, settle.Area{Without: aside})
	add(spec.Home, settle.Area{Private: true})
	for _, dir := range spec.Writable {
		add(dir, settle.Area{})
	}
	return areas, err
}

// confine prepares a command in the sandbox. What it makes of repositories is
// looked after until it has ended; told hears of what is set aside meanwhile.
func (c *core) confine(ctx context.Context, box *sandbox.Sandbox, conf confinement, told func(string), dir string, argv ...string) (*sandbox.Cmd, error) {
	spec := conf.Spec
	if len(conf.areas) == 0 || spec.LookOnly {
		return box.Command(ctx, spec, dir, argv...)
	}
	o := settle.Options{Areas: conf.areas, Repositories: spec.Repositories, Look: c.seen.look, Tidy: sweep, Told: told}
	if c.stateErr == nil {
		o.Dir = c.home.Records()
	}
	w, err := settle.Begin(o)
	if err != nil {
		return nil, err
	}
	spec.After, spec.Record = w.End, w.Record()
	cmd, err := box.Command(ctx, spec, dir, argv...)
	if err != nil {
		w.End()
	}
	return cmd, err
}

// sweep removes what a killed server left in the way.
func sweep(dir string, repositories []string) { sandbox.Sweep(dir, repositories...) }

// settleRecord ends what a server began that was killed.
func settleRecord(record string) { settle.After(record, sweep, lookAt) }

// setAside says what was set aside when nobody waited for it.
func setAside(text string) string {
	return "a command made what git would run programs of; set aside: " + text
}
