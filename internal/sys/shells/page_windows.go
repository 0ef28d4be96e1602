package shells

import "golang.org/x/sys/windows"

// CodePage is what the programs of a command print in that don't print UTF-8: each
// command has a console of its own, which begins with the code page of the system's.
func CodePage() uint32 {
	page, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetOEMCP").Call()
	return uint32(page)
}
