package config

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// trustedInstaller owns what is part of Windows.
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

// admin reports whether an account is one of administrators, or the system.
func (m MachineFile) admin(sid *windows.SID) bool {
	return sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) || sid.IsWellKnown(windows.WinLocalSystemSid) ||
		sid.String() == trustedInstaller || m.Owner != "" && sid.String() == m.Owner
}

func security(path string) (*windows.SECURITY_DESCRIPTOR, error) {
	return windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
}

// owner is whose a file is, and whether that is an administrator or the system.
func (m MachineFile) owner(path string, _ fs.FileInfo) (owner string, admin bool) {
	sd, err := security(path)
	if err != nil {
		return "somebody", false
	}
	sid, _, err := sd.Owner()
	if err != nil || sid == nil {
		return "somebody", false
	}
	return sid.String(), m.admin(sid)
}

// Rights with which others could put something else in the place of a directory or of what
// is in it, and those with which they could change a file. Whoever may only add files to a
// directory replaces none, as in %ProgramData%, where everybody may.
const (
	replaceDir = windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_ALL | 0x40 // FILE_DELETE_CHILD
	changeFile = windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_ALL | windows.GENERIC_WRITE | windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA
)

// open says that others than administrators can change a file, or put another one in its
// place. The list of rights of the volume's top is Windows' own.
func (m MachineFile) open(path string, info fs.FileInfo, _ bool) string {
	sd, err := security(path)
	if err != nil {
		return fmt.Sprintf("who may write %s is not known: %v", path, err)
	}
	dacl, _, err := sd.DACL()
	if err != nil || dacl == nil {
		return path + " can be written by everybody: it has no list of rights"
	}
	rights := windows.ACCESS_MASK(changeFile)
	if info.IsDir() {
		if rights = replaceDir; filepath.Dir(path) == path {
			return ""
		}
	}
	for i := range uint32(dacl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(dacl, i, &ace); err != nil {
			return fmt.Sprintf("who may write %s is not known: %v", path, err)
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || ace.Mask&rights == 0 {
			continue
		}
		if sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart)); !m.admin(sid) {
			return fmt.Sprintf("%s can be written by %s: take that right away with icacls", path, sid)
		}
	}
	return ""
}
