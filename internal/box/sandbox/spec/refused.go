package spec

// RefusedError says why a command was not started at all.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// SetupError is what was said instead of starting a command.
type SetupError struct{ Said string }

func (e *SetupError) Error() string {
	return "the command was not started: " + e.Said
}
