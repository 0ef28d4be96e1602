//go:build !race

package e2e

func dontWait() {}
