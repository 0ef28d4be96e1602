package confine

import (
	"errors"
	"io/fs"
	"os"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// loginFiles are the start-up files that login shells read last.
var loginFiles = []string{".profile", ".zprofile"}

// writeLogin has login shells in a private home keep the PATH of the command: agents start
// `bash -lc`, and the user's own start-up files, which would add to it, are not there. It
// keeps files that exist: programs of this home have made them.
func writeLogin(home string) error {
	dir, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, name := range loginFiles {
		f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.WriteString("[ -z \"$" + box.LoginPath + "\" ] || PATH=$" + box.LoginPath + "\n")
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
