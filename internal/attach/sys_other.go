//go:build !unix

package attach

import (
	"io/fs"
	"os"
)

const supported = false

func mine(fs.FileInfo) bool { return false }

func lockFile(string) (*os.File, error) { return nil, ErrUnsupported }

func lockDir(string) (func(), error) { return nil, ErrUnsupported }
