package lookup

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// trustedInstaller owns what is part of Windows.
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

// foreign says that neither the system nor the user owns a file. What others may do with
// it is not asked: directories that everybody may write are rare on PATH there, and
// their lists of rights are not read here.
func foreign(path string, _ fs.FileInfo) string {
	f, err := os.Open(path)
	if err != nil {
		return "" // that of a directory on the way may be refused; the program's is read
	}
	defer f.Close()
	sd, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return ""
	}
	owner, _, err := sd.Owner()
	if err != nil || owner == nil {
		return ""
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err == nil && owner.Equals(me.User.Sid) || owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) || owner.IsWellKnown(windows.WinLocalSystemSid) || owner.String() == trustedInstaller {
		return ""
	}
	return path + " belongs to " + owner.String()
}

func open(path string, info fs.FileInfo, _ bool) string { return foreign(path, info) }
