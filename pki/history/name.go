package history

import (
	"hash/fnv"
	"strings"
)

// Name is a unit's name with that of what it belongs to. That two of a file
// share one is so rare that it only costs a place in an order. 0 is none.
type Name uint32

// NameOf is the name of a unit. Of what it belongs to the last name counts.
func NameOf(owner, name string) Name {
	h := fnv.New32a()
	h.Write([]byte(owner[strings.LastIndexAny(owner, ".:")+1:]))
	h.Write([]byte{'.'})
	h.Write([]byte(name))
	return Name(max(1, h.Sum32()))
}
