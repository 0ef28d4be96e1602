package gitfile

import "errors"

// Errors that callers branch on. They come wrapped in what they are about.
var (
	// ErrUnsupported says that the repository uses something that is not read
	// in this process. The git command may be able to.
	ErrUnsupported = errors.New("not read in process")

	// ErrCorrupt says that a file of the repository is damaged.
	ErrCorrupt = errors.New("damaged")
)
