package userdirs

import "golang.org/x/sys/windows"

func machineBase() string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return ""
	}
	return dir
}
