//go:build !windows

package confine

// encodings are the ways in which programs encode a text that they print.
func encodings(text string) [][]byte { return [][]byte{[]byte(text)} }
