package textindex

import "testing"

// Processors without VBMI2 mark the same.
func TestMarkIsTheSameWithAVX2(t *testing.T) {
	defer func(had bool) { hasVBMI2 = had }(hasVBMI2)
	hasVBMI2 = false
	TestMarkIsTheSame(t)
}
