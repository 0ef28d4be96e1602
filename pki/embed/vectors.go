package embed

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// unit gives vectors the length one.
func unit(vectors [][]float32) error {
	for _, v := range vectors {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
			return errors.New("the endpoint answered a vector without a direction")
		}
		by := float32(1 / math.Sqrt(sum))
		for i := range v {
			v[i] *= by
		}
	}
	return nil
}

// Key stands for a text.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(text string) Key {
	sum := sha256.Sum256([]byte(text))
	return Key(sum[:16])
}

// ID is the number of a vector, from one; 0 is none.
type ID uint32

// Vectors keeps vectors of one model in a byte per dimension. It is safe for
// concurrent use.
type Vectors struct {
	mu     sync.RWMutex
	dims   int
	byKey  map[Key]ID
	scales []float32 // what one step of a vector is
	cells  []int8    // of all vectors, one after the other
	cache  *cache    // nil: they are kept nowhere
}

// NewVectors returns none.
func NewVectors() *Vectors { return &Vectors{byKey: map[Key]ID{}} }

// Len is how many there are.
func (v *Vectors) Len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.scales)
}

// Find returns the vector of a text.
func (v *Vectors) Find(k Key) (ID, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	id, ok := v.byKey[k]
	return id, ok
}

// ErrDimensions is what Add and Nearest say about vectors of another length
// than those that are there.
type ErrDimensions struct{ Got, Want int }

func (e ErrDimensions) Error() string {
	return fmt.Sprintf("the endpoint answers vectors of %d dimensions, those that are kept have %d; if the model was changed, rebuild the index (sidecar.knowledge.rebuild)", e.Got, e.Want)
}

// Add keeps vectors of texts, as Client.Embed returns them.
func (v *Vectors) Add(keys []Key, vectors [][]float32) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, vec := range vectors {
		if v.dims == 0 {
			v.dims = len(vec)
		}
		if len(vec) != v.dims {
			return ErrDimensions{len(vec), v.dims}
		}
		if _, known := v.byKey[keys[i]]; known {
			continue
		}
		cells, scale := quantized(vec)
		v.set(keys[i], scale, cells)
		if v.cache != nil {
			v.cache.append(keys[i], scale, cells)
		}
	}
	return nil
}

// set adds one. v.mu is held.
func (v *Vectors) set(k Key, scale float32, cells []int8) {
	v.scales, v.cells = append(v.scales, scale), append(v.cells, cells...)
	v.byKey[k] = ID(len(v.scales))
}

// quantized is a vector in steps of scale.
func quantized(vec []float32) (cells []int8, scale float32) {
	most := float32(0)
	for _, x := range vec {
		most = max(most, x, -x)
	}
	cells, scale = make([]int8, len(vec)), most/127
	for i, x := range vec {
		cells[i] = int8(math.Round(float64(x / scale)))
	}
	return cells, scale
}

// Near is a vector and how close it is: 1 is the same direction.
type Near[T any] struct {
	Of         T
	Similarity float32
}

// Nearest returns the n of a list whose vectors are closest to a query's. each
// calls its argument with every element and its vector.
func Nearest[T any](v *Vectors, query []float32, n int, each func(yield func(T, ID))) ([]Near[T], error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if len(v.scales) > 0 && len(query) != v.dims {
		return nil, ErrDimensions{len(query), v.dims}
	}
	q, scale := quantized(query)
	var best []Near[T]
	each(func(of T, id ID) {
		if id == 0 || int(id) > len(v.scales) {
			return
		}
		s := v.similarity(q, scale, id)
		if len(best) == n && s <= best[n-1].Similarity {
			return
		}
		at, _ := slices.BinarySearchFunc(best, s, func(b Near[T], s float32) int { return cmp.Compare(s, b.Similarity) })
		best = slices.Insert(best, at, Near[T]{of, s})
		best = best[:min(len(best), n)]
	})
	return best, nil
}

// Similarity returns how close vectors are to a query's: 1 is the same direction.
// The zero ID, which is no vector, has none.
func (v *Vectors) Similarity(query []float32) (func(ID) (float32, bool), error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if len(v.scales) > 0 && len(query) != v.dims {
		return nil, ErrDimensions{len(query), v.dims}
	}
	q, scale := quantized(query)
	return func(id ID) (float32, bool) {
		v.mu.RLock()
		defer v.mu.RUnlock()
		if id == 0 || int(id) > len(v.scales) {
			return 0, false
		}
		return v.similarity(q, scale, id), true
	}, nil
}

// similarity compares a vector with one in steps of scale. v.mu is held.
func (v *Vectors) similarity(q []int8, scale float32, id ID) float32 {
	return scale * v.scales[id-1] * float32(dot(q, v.cells[(int(id)-1)*v.dims:][:len(q)]))
}

func dot(a, b []int8) (sum int32) {
	b = b[:len(a)]
	for i := range a {
		sum += int32(a[i]) * int32(b[i])
	}
	return sum
}
