package workspace

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

var ntQueryDirectoryFile = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtQueryDirectoryFile")

// nameOfEntry is FILE_NAMES_INFORMATION, which a name follows.
type nameOfEntry struct{ next, index, length uint32 }

const fileNamesInformation = 12 // the class of that

// matching returns the names, sorted, of what Windows finds in a directory by a name,
// be it in another letter case or a short one. The directory is asked for that name
// alone, and now: nothing of it is remembered. There may be further names in the
// answer, and none where the file system can't be asked so.
func matching(root *os.Root, dir, base string) (names []string) {
	file, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer file.Close()
	pattern, err := windows.NewNTUnicodeString(base)
	if err != nil {
		return nil
	}
	var status windows.IO_STATUS_BLOCK
	var buf [512]uint64 // aligned as the entries are
	const size = unsafe.Sizeof(buf)
	for {
		code, _, _ := ntQueryDirectoryFile.Call(file.Fd(), 0, 0, 0, uintptr(unsafe.Pointer(&status)),
			uintptr(unsafe.Pointer(&buf)), size, fileNamesInformation, 0, uintptr(unsafe.Pointer(pattern)), 0)
		if windows.NTStatus(code) != windows.STATUS_SUCCESS {
			slices.Sort(names)
			return names
		}
		for at := uintptr(0); ; {
			entry := (*nameOfEntry)(unsafe.Pointer(&buf[at/8]))
			name := unsafe.Slice((*uint16)(unsafe.Add(unsafe.Pointer(entry), unsafe.Sizeof(*entry))), entry.length/2)
			names = append(names, windows.UTF16ToString(name))
			if entry.next == 0 {
				break
			}
			at += uintptr(entry.next)
		}
	}
}
