package sandbox

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

const unsupported = "on Windows commands are limited, by a job object, but not confined"

// userDirs is empty: the variables that name the user's directories are kept.
func userDirs() map[string]string { return map[string]string{} }

// memoryStatus is MEMORYSTATUSEX, which is not in x/sys/windows.
type memoryStatus struct {
	length, load                              uint32
	total, free                               uint64
	totalPage, freePage, totalVirtual, unused uint64
	unusedExtended                            uint64
}

// defaultMemory is three quarters of the machine's memory.
func defaultMemory() int64 {
	var m memoryStatus
	m.length = uint32(unsafe.Sizeof(m))
	ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx").Call(uintptr(unsafe.Pointer(&m)))
	if ok == 0 {
		return -1
	}
	return int64(m.total) / 4 * 3
}
