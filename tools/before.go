package tools

import (
	"encoding/json"
	"fmt"
)

// Before lets f look at the arguments of t, valid and decoded, before anything
// is decided about a call: f refuses it, so that nobody is asked in vain, or
// says what it would do. In is the argument struct of t; another is a
// programming error and panics at the first call.
func Before[In any](t *Tool, f func(In) (Effects, error)) *Tool {
	bind := t.bind
	t.bind = func(args json.RawMessage) (*Bound, error) {
		b, err := bind(args)
		if err != nil {
			return nil, err
		}
		in, ok := b.Args.(In)
		if !ok {
			panic(fmt.Sprintf("tool %q: its arguments are %T, not %T", t.Name, b.Args, in))
		}
		b.Effects, err = f(in)
		return b, err
	}
	return t
}
