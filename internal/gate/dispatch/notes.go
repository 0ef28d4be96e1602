package dispatch

import "fmt"

// notes are what the model is told besides a tool's own text.
type notes []string

func (n *notes) add(texts ...string) { *n = append(*n, texts...) }

func (n *notes) addf(format string, args ...any) { n.add(fmt.Sprintf(format, args...)) }
