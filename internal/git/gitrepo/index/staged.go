package index

import (
	"crypto/sha256"
	"fmt"
)

// Staged stands for what an index file stages: two with the same files, whatever they
// say of the working tree, are equal in it.
func Staged(data []byte) (string, error) {
	if len(data) == 0 {
		return "", nil
	}
	x, err := parse(data)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for e := range x.all {
		fmt.Fprintf(sum, "%o %s %d %q\n", e.Mode(), e.Hash(), e.Stage(), e.Name)
	}
	return string(sum.Sum(nil)), nil
}
