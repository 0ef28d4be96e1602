package workspace

import (
	"io/fs"
	"os"
)

// meta is what a file has besides its text, and keeps when the text changes.
type meta struct {
	Mode     fs.FileMode       `json:"mode"` // permission, setuid, setgid and sticky bits
	UID, GID int               `json:",omitempty"`
	Xattrs   map[string][]byte `json:"xattrs,omitempty"`
}

// KeepsExec reports whether files have execute bits on this system. Where they have
// none, nothing that changes them does anything.
const KeepsExec = keepsExec

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func readMeta(file *os.File, info fs.FileInfo) (*meta, error) {
	m := &meta{Mode: info.Mode() & modeBits}
	m.UID, m.GID = owner(info)
	var err error
	m.Xattrs, err = readXattrs(file)
	return m, err
}

// writeTo gives a new file the owner first, because that clears bits, and the
// mode before the attributes, because an access list is one of them.
func (m *meta) writeTo(file *os.File) error {
	if err := chown(file, m.UID, m.GID); err != nil {
		return err
	}
	if err := file.Chmod(m.Mode); err != nil {
		return err
	}
	return writeXattrs(file, m.Xattrs)
}
