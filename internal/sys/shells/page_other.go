//go:build !windows

package shells

// CodePage is that of what programs print; elsewhere than on Windows it is UTF-8.
func CodePage() uint32 { return 0 }
