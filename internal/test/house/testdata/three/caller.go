package three

// F calls.
func F() int {
	t := T{}
	return t.method()
}
