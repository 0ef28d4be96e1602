package confine

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// allowedOutput is what the user lets through of output that is held.
type allowedOutput struct{ settings Settings }

// AllowedOutput implements world.Allowed.
func (a allowedOutput) AllowedOutput() []string { return a.settings.Now().Strings("output.allow") }

// HeldOutput lists the output that sessions hold, the newest first; session "" is all.
func (c *Confiner) HeldOutput(session string) (list []workspace.Held, err error) {
	list = []workspace.Held{}
	for _, dir := range c.o.Folders {
		held, err := c.worlds.Output(dir, session)
		if err != nil {
			return nil, err
		}
		list = append(list, held...)
	}
	return list, nil
}

// AcceptOutput moves it to the workspace. It is a person's decision: no tool comes here.
// files counts what was moved, left says what is held still, and why.
func (c *Confiner) AcceptOutput(session string) (files int, left []string, err error) {
	defer decided(c, "accept", session)(func() (bool, error) { return len(left) == 0, err })
	for _, dir := range c.o.Folders {
		n, said, err := c.worlds.AcceptOutput(dir, session)
		files, left = files+n, append(left, said...)
		if err != nil {
			return files, left, err
		}
	}
	c.worlds.Forget()
	return files, left, nil
}

// TakeBuilt moves what a person had built afresh, in a session of its own, to the workspace,
// in the place of what is held in the same directories; session "" is all that is held.
// Without take it goes: nobody is to have it.
func (c *Confiner) TakeBuilt(built, session string, take bool) (files int, left []string, err error) {
	c.worlds.CloseSession(built)
	defer c.worlds.Forget()
	if !take {
		for _, dir := range c.o.Folders {
			err = errors.Join(err, c.worlds.DropOutput(dir, built))
		}
		return 0, nil, err
	}
	defer decided(c, "accept", built)(func() (bool, error) { return len(left) == 0, err })
	for _, dir := range c.o.Folders {
		n, said, replaced, err := c.worlds.TakeBuilt(dir, built, session)
		files, left = files+n, append(left, said...)
		if c.o.Recorder != nil && len(replaced) > 0 {
			c.o.Recorder.DecidedOutput("replace", replaced, true, err)
		}
		if err != nil {
			return files, left, err
		}
	}
	return files, left, nil
}

// DropOutput removes it.
func (c *Confiner) DropOutput(session string) (err error) {
	defer decided(c, "drop", session)(func() (bool, error) { return true, err })
	var errs []error
	for _, dir := range c.o.Folders {
		errs = append(errs, c.worlds.DropOutput(dir, session))
	}
	c.worlds.Forget()
	return errors.Join(errs...)
}

// decided has what is held now recorded with what becomes of it.
func decided(c *Confiner, what, session string) (then func(end func() (whole bool, err error))) {
	if c.o.Recorder == nil {
		return func(func() (bool, error)) {}
	}
	of, _ := c.HeldOutput(session) // what can't be listed fails to be decided on, too
	return func(end func() (bool, error)) {
		whole, err := end()
		c.o.Recorder.DecidedOutput(what, of, whole, err)
	}
}
