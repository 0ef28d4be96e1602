package confine

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

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

// DropOutput removes it.
func (c *Confiner) DropOutput(session string) error {
	var errs []error
	for _, dir := range c.o.Folders {
		errs = append(errs, c.worlds.DropOutput(dir, session))
	}
	c.worlds.Forget()
	return errors.Join(errs...)
}
