// Package three is for a test.
package three

// T is a type.
type T struct{ field int }
