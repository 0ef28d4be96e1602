package confine

import (
	"bytes"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

var wideCharToMultiByte = windows.NewLazySystemDLL("kernel32.dll").NewProc("WideCharToMultiByte")

// encodings are the ways in which programs encode a text that they print: cmd.exe and many
// others write it in the code page of DOS or in that of Windows, and no console says so.
func encodings(text string) [][]byte {
	all := [][]byte{[]byte(text)}
	if !slices.ContainsFunc(all[0], func(b byte) bool { return b >= 0x80 }) {
		return all
	}
	wide, err := windows.UTF16FromString(text)
	if err != nil {
		return all
	}
	const ansi, oem = 0, 1 // CP_ACP, CP_OEMCP
	for _, page := range []uintptr{ansi, oem} {
		out := make([]byte, 4*len(wide))
		n, _, _ := wideCharToMultiByte.Call(page, 0, uintptr(unsafe.Pointer(&wide[0])), uintptr(len(wide)-1),
			uintptr(unsafe.Pointer(&out[0])), uintptr(len(out)), 0, 0)
		if n == 0 || n > uintptr(len(out)) {
			continue
		}
		if out = out[:n]; !slices.ContainsFunc(all, func(b []byte) bool { return bytes.Equal(b, out) }) {
			all = append(all, out)
		}
	}
	return all
}
