// Package trace writes down which functions a program runs through. The program is built with
// a call of In at the beginning of each function; without HOUSE_TRACE they do nothing.
package trace

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"sync"
)

var (
	mu   sync.Mutex
	file *os.File
	once sync.Once
)

// In notes that a function of a file begins, and gives what notes its end.
func In(where, function string) func() {
	once.Do(func() {
		if name := os.Getenv("HOUSE_TRACE"); name != "" {
			file, _ = os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0) // children have no such file
		}
	})
	if file == nil {
		return func() {}
	}
	id := goroutine()
	note(id, ">", where, function)
	return func() { note(id, "<", where, function) }
}

func note(id []byte, what, where, function string) {
	mu.Lock()
	defer mu.Unlock()
	fmt.Fprintf(file, "%s %s %s %s\n", id, what, where, function)
}

// goroutine is the number of the goroutine that calls.
func goroutine() []byte {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	return fields[1]
}
