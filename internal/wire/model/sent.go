package model

import (
	"bytes"
	"maps"
	"slices"
)

// Sent keeps messages as they are on the wire, from request to request of a
// conversation: they begin with the same ones, and to write them anew takes longer than
// all else when there are many. The zero value is ready. One request uses it at a time.
type Sent struct {
	from string
	of   []Message
	as   [][]byte // what each is, with commas between; empty: nothing
}

// written is a list as it is on the wire, in parts.
type written [][]byte

// write has the messages on the wire. one says what a message is there; what is said of
// those of apart depends on where they stand, so that they are not kept.
func (r Request) write(p Profile, apart map[int]bool, one func(i int, m Message) []any) (written, error) {
	kept := r.Sent
	if kept == nil {
		kept = &Sent{}
	}
	if from := p.from() + p.Name; kept.from != from {
		*kept = Sent{from: from}
	}
	all := make(written, 0, len(r.Messages))
	for i, m := range r.Messages {
		if i < len(kept.of) && kept.as[i] != nil && !apart[i] && m.same(kept.of[i]) {
			all = append(all, kept.as[i])
			continue
		}
		text := []byte{}
		for _, item := range one(i, m) {
			part, err := marshal(item)
			if err != nil {
				return nil, err
			}
			if len(text) > 0 {
				text = append(text, ',')
			}
			text = append(text, part...)
		}
		all = append(all, text)
		kept.of, kept.as = append(kept.of[:min(i, len(kept.of))], m), append(kept.as[:min(i, len(kept.as))], text)
		if apart[i] {
			kept.as[i] = nil
		}
	}
	return all, nil
}

// same reports whether two messages say the same.
func (m Message) same(o Message) bool {
	return m.Role == o.Role && slices.EqualFunc(m.Blocks, o.Blocks, Block.same)
}

func (b Block) same(o Block) bool {
	return b.Kind == o.Kind && b.Text == o.Text && b.ID == o.ID && b.Name == o.Name && b.Args == o.Args && b.Failed == o.Failed &&
		b.Media == o.Media && bytes.Equal(b.Data, o.Data) && slices.EqualFunc(b.Images, o.Images, Block.same) &&
		(b.Raw == o.Raw || b.Raw != nil && o.Raw != nil && b.Raw.From == o.Raw.From && bytes.Equal(b.Raw.Data, o.Raw.Data))
}

// body is an object of JSON, whose members may be written already.
func (f fields) body() ([]byte, error) {
	size := 64 << 10 // about what all else has
	for _, v := range f {
		list, _ := v.(written)
		for _, part := range list {
			size += len(part) + 1
		}
	}
	b := append(make([]byte, 0, size), '{')
	for i, name := range slices.Sorted(maps.Keys(f)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		list, ok := f[name].(written)
		if !ok {
			text, err := marshal(f[name])
			if err != nil {
				return nil, err
			}
			b = append(b, text...)
			continue
		}
		b = append(b, '[')
		n := 0
		for _, part := range list {
			if len(part) == 0 {
				continue
			}
			if n++; n > 1 {
				b = append(b, ',')
			}
			b = append(b, part...)
		}
		b = append(b, ']')
	}
	return append(b, '}'), nil
}
