//go:build !unix

package index

import "io/fs"

// fileNumber is not known here.
func fileNumber(fs.FileInfo) uint64 { return 0 }
