// Package ring keeps things.
package ring

import "fmt"

// Max is the most.
const Max = 3

const (
	// A is first.
	A Kind = iota
	B      // second
	_
)

var (
	errFull, errEmpty = fmt.Errorf("full"), fmt.Errorf("empty")
	table             = map[string]int{
		"a": 1,
	}
)

// Kind is a kind.
type Kind int

type (
	// Ring holds them.
	Ring[T any] struct {
		fmt.Stringer
		head, tail int
		data       []T // the data
	}
	Alias = Ring[int]
)

// Store stores.
type Store interface {
	fmt.Stringer
	// Get gets.
	Get(key string) (int, error)
	interface{ Inline() }
}

// Put puts it.
func (r *Ring[T]) Put(v T,
	more ...T) (n int, err error) {
	local := func() {}
	_ = local
	return 0, nil
}

func (Kind) Größe() {}

func Map[K comparable, V any](m map[K]V) []K { return nil }

func after() {}
