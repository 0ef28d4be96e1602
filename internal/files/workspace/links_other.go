//go:build !linux

package workspace

func (f *folder) plain(string) bool { return false }
