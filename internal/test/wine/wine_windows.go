package wine

import "golang.org/x/sys/windows"

// Running reports whether this is Wine.
func Running() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
