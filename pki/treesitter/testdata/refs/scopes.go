package scopes

import (
	_ "embed"
	"fmt"
	. "math"
	str "strings"

	"example.com/go-thing/v2"
	"example.com/store"
	"gopkg.in/check.v1"
	yaml "gopkg.in/yaml.v3"
)

type Base struct{ name string }

type Shop struct {
	*Base
	store.Cache
	items map[string][]*store.Item
	on    func(int) *store.Item
}

const (
	First Level = iota
	Second
)

type Level int

var (
	shared = store.New()
	a, b   = store.Pair()
)

func (s *Shop) Sell(name string, n int) (out *store.Item, err error) {
	name = str.TrimSpace(name) // a parameter hides nothing else
	for _, it := range s.items[name] {
		if it.Price() > n {
			out = it
			break
		}
	}
	if fmt := store.Format(name); fmt.Valid() {
		fmt.Print() // not the package
	}
	fmt.Println(First, Pi, yaml.Node{Kind: 1}, check.C{}, thing.X)
	store := s.on(1) // nor this
	store.Drop()
	s.name, s.Base.name = "", ""
	return out, s.fail()
}

func (s *Shop) fail() error {
	var list = []Base{{name: "x"}, {"y"}}
	m := map[string]Base{shared.Key: {name: "z"}}
	ch := make(chan *store.Item)
	(<-ch).Price()
	list[0].name += "!"
	for k := range m {
		_ = k
	}
	switch v := interface{}(s).(type) {
	case *Base:
		v.name = "b"
	case *Shop, nil:
		_ = v
	}
	first, ok := m["a"]
	_, _ = first.name, ok
	f := func(b *Base) *Base { return b }
	f(nil).name = ""
	type local struct{ Base }
	var l local
	l.name = "l"
	new(Base).name = "n"
	var e interface{ Error() string } = &Missing{Level: First, Base: *f(nil)}
	return e.(error)
}

type Missing struct {
	Level Level
	Base
}

func (Missing) Error() string { return "missing" }

func Map[T any, S ~[]T](s S, f func(T) T) []T {
	for i := range s {
		s[i] = f(s[i])
	}
	return append(Map[T](nil, nil), s...)
}
