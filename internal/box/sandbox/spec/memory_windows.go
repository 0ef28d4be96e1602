package spec

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX, which is not in x/sys/windows.
type memoryStatus struct {
	length, load                              uint32
	total, free                               uint64
	totalPage, freePage, totalVirtual, unused uint64
	unusedExtended                            uint64
}

// DefaultMemory is three quarters of the machine's memory.
func DefaultMemory() int64 {
	var m memoryStatus
	m.length = uint32(unsafe.Sizeof(m))
	ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx").Call(uintptr(unsafe.Pointer(&m)))
	if ok == 0 {
		return -1
	}
	return int64(m.total) / 4 * 3
}
