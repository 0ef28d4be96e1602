package keeper

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes what programs of this process leave behind fall back to
// it. end, which may be called often, ends all of that; it must not be called
// while a program is waited for.
func AdoptOrphans() (end func(), err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("orphans can't be adopted: %w", err)
	}
	return func() { endTree(os.Getpid(), treePatience, reapAll) }, nil
}
