//go:build !linux

package keeper

// Keepers has nothing that waits elsewhere.
type Keepers struct{ Self string }

// Sweep does nothing.
func (*Keepers) Sweep() {}

// Close does nothing.
func (*Keepers) Close() {}

// AdoptOrphans has nothing to do here: where no keeper is there are no tests of
// one.
func AdoptOrphans() (end func(), err error) { return func() {}, nil }
