package gitcmd

import "context"

// Command returns the path of the git command. It fails with ErrNoGit when there
// is none, or one that is too old.
func Command(ctx context.Context) (path string, err error) {
	var g Git
	return g.binary(ctx)
}
