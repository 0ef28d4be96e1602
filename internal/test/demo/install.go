package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/registry"
)

// notInstalled begins the line of a machine on which nothing can be installed.
const notInstalled = "nothing is installed: "

// needed is the agent's task in the project whose tests need a package.
const needed = "Make the tests pass."

// install lets our own agent install a package. That is one question, and one line of output.
func (d *demo) install() error {
	if _, err := exec.LookPath("npm"); err != nil {
		d.out.done(notInstalled + "this machine has no npm")
		return nil //nolint:nilerr // it goes on without
	}
	d.repo, d.files = filepath.Join(d.dir, "user"), registry.User
	if err := d.make(d.repo, "a test"); err != nil {
		return err
	}
	if err := d.start(); err != nil {
		return err
	}
	if lacks, err := d.lacks(); err != nil {
		return err
	} else if lacks != "" {
		d.out.done(notInstalled+"each command is asked about here; %s", lacks)
		return d.stop()
	}
	k, err := d.prompt("review", needed)
	if err != nil {
		return err
	}
	for _, do := range []func(*talk) error{d.installs, d.tests, d.reviews} {
		if err := do(k); err != nil {
			return err
		}
	}
	if err := k.close(); err != nil {
		return err
	}
	return d.stop()
}

// lacks returns the first thing for lack of which commands are asked about here.
func (d *demo) lacks() (string, error) {
	var e dispatch.Explanation
	if err := d.execute("sidecar.mode.set", map[string]any{"mode": "review"}, nil); err != nil {
		return "", err
	}
	err := d.execute("sidecar.policy.explain", map[string]any{"name": "run_command", "arguments": map[string]any{"command": registry.Install}}, &e)
	return effects.Lacks(e.Conditions), err
}

// installs is the agent's install, which asks for the host of the packages.
func (d *demo) installs(k *talk) error {
	turn, err := k.of(needed)
	if err != nil {
		return err
	}
	turn.CallOwn("run_command", map[string]any{"command": registry.Install})
	d.out.call("run_command", registry.Install)
	q, err := k.answer("allow_session")
	if err != nil {
		return err
	}
	question, _, _ := strings.Cut(q.Text, "\n")
	if !strings.HasPrefix(question, "npm wants "+registry.Host) {
		return fmt.Errorf("the question is %q", q.Text)
	}
	d.out.quote(question, 0)
	d.out.done("the user allows the host for this session")
	return nil
}

// tests has the agent run the tests with the package.
func (d *demo) tests(k *talk) error {
	turn, err := k.of(needed)
	if err != nil {
		return err
	}
	if !strings.Contains(turn.Result, "added 1 package") {
		return fmt.Errorf("npm says %s", turn.Result)
	}
	d.out.call("run_tests", "npm test")
	turn.CallOwn("run_tests", map[string]any{"command": "npm test"})
	if turn, err = k.of(needed); err != nil {
		return err
	}
	if !strings.Contains(turn.Result, registry.Says) {
		return fmt.Errorf("run_tests says %s", turn.Result)
	}
	d.out.quote(registry.Says, 0)
	turn.Say("The tests pass.")
	if err := k.done(); err != nil {
		return err
	}
	if n := k.asked(); n != 1 {
		return fmt.Errorf("the user is asked %d times, want once", n)
	}
	d.out.done("nothing else is asked")
	return nil
}

// reviews is the user's review: what git has in the queue, what it ignores in a line.
func (d *demo) reviews(*talk) error {
	q, err := d.pending()
	if err != nil {
		return err
	}
	var names []string
	for _, e := range q.Edits {
		names = append(names, e.Path)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"package-lock.json", "package.json"}) {
		return fmt.Errorf("these are pending: %q", names)
	}
	d.out.call("pending", strings.Join(names, "  "))
	var held struct {
		Entries []workspace.Held `json:"entries"`
	}
	for len(held.Entries) == 0 { // it is held once nothing writes it any more
		if err := d.execute("sidecar.review.output", map[string]any{"action": "list"}, &held); err != nil {
			return err
		}
	}
	if len(held.Entries) != 1 || !slices.Equal(held.Entries[0].Names, []string{"node_modules"}) {
		return fmt.Errorf("this output waits: %+v", held.Entries)
	}
	d.out.call("output", "node_modules")
	d.out.done("all that git ignores is one line of the review")
	if err := d.same(d.files); err != nil {
		return err
	}
	if text, err := d.read(registry.LeftishFile); err != nil || text != "" {
		return fmt.Errorf("%s is on the disk before it was accepted: %q, %w", registry.LeftishFile, text, err)
	}
	if err := d.acceptAll(2); err != nil {
		return err
	}
	if err := d.execute("sidecar.review.output", map[string]any{"action": "accept"}, nil); err != nil {
		return err
	}
	if says, err := d.command(os.Environ(), "node", "test.js"); err != nil || !strings.Contains(says, registry.Says) {
		return fmt.Errorf("the test on the disk: %s, %w", says, err)
	}
	d.out.done("the user accepts both; now the test passes on the disk, too")
	return nil
}
