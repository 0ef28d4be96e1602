package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// keepsExec reports whether files have execute bits.
const keepsExec = false

// fileID tells files apart that have several names.
type fileID struct{ volume, high, low uint32 }

// identify returns which file is open, and whether a new one could not take its
// place: because it has other names, which would go on with the old text.
func identify(file *os.File, _ fs.FileInfo) (id fileID, stays bool) {
	links, id := linksOf(syscall.Handle(file.Fd()))
	return id, links > 1
}

// linksOf returns how many names a file has, 0 if that is not known.
func linksOf(file syscall.Handle) (uint32, fileID) {
	var i syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(file, &i); err != nil {
		return 0, fileID{}
	}
	return i.NumberOfLinks, fileID{i.VolumeSerialNumber, i.FileIndexHigh, i.FileIndexLow}
}

// Linked reports whether a file, of that path of the operating system, has further
// names, through which it may be changed.
func Linked(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return false
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	file, err := syscall.CreateFile(name, 0, share, nil, syscall.OPEN_EXISTING, syscall.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return false
	}
	defer syscall.CloseHandle(file)
	links, _ := linksOf(file)
	return links > 1
}

// lstatLinked describes a regular file that a walk has met, and whether it is Linked.
// The file is opened for both; where it can't be, it is not known to be linked.
func lstatLinked(root *os.Root, rel string) (info fs.FileInfo, linked bool, err error) {
	file, err := root.Open(rel)
	if err != nil {
		info, err = root.Lstat(rel)
		return info, false, err
	}
	defer file.Close()
	links, _ := linksOf(syscall.Handle(file.Fd()))
	info, err = file.Stat()
	return info, links > 1 && err == nil && info.Mode().IsRegular(), err
}

func owner(fs.FileInfo) (uid, gid int) { return -1, -1 }

func chown(*os.File, int, int) error { return nil }

func isRunning(error) bool { return false }
