//go:build !unix

package ownstate

import "io/fs"

// mine reports that this user wrote a file: whose it is says nothing here.
func (v *vetting) mine(fs.FileInfo) bool { return true }
