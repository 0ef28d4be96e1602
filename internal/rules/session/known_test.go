package session

import (
	"fmt"
	"testing"
)

// TestKnown: a file is known as it was read whole, or as the session itself made it since.
func TestKnown(t *testing.T) {
	text := func(s string) []byte { return []byte(s) }
	edit := func(k *Known, before, after string) { k.Made("a", "", text(before), text(after)) }
	for _, c := range []struct {
		name    string
		do      func(k *Known)
		now     string
		changed bool
	}{
		{"never read", func(*Known) {}, "x", false},
		{"as it was read", func(k *Known) { k.Saw("a", text("1"), true) }, "1", false},
		{"changed since", func(k *Known) { k.Saw("a", text("1"), true) }, "2", true},
		{"read again", func(k *Known) { k.Saw("a", text("1"), true); k.Saw("a", text("2"), true) }, "2", false},
		{"a part read", func(k *Known) { k.Saw("a", text("1"), false) }, "2", true},
		{"a part read again", func(k *Known) { k.Saw("a", text("1"), true); k.Saw("a", text("2"), false) }, "2", true},
		{"edited by itself", func(k *Known) { k.Saw("a", text("1"), true); edit(k, "1", "2") }, "2", false},
		{"edited on top of others' text", func(k *Known) { k.Saw("a", text("1"), true); edit(k, "2", "3") }, "3", true},
		{"edited without having read it", func(k *Known) { edit(k, "1", "2") }, "3", false},
		{"made by itself", func(k *Known) { k.Made("a", "", nil, text("1")) }, "2", true},
		{"deleted by itself", func(k *Known) {
			k.Saw("a", text("1"), true)
			k.Made("a", "", text("1"), nil)
		}, "2", false},
		{"moved here", func(k *Known) {
			k.Saw("b", text("1"), true)
			k.Made("a", "b", text("1"), text("2"))
		}, "3", true},
		{"gone", func(k *Known) { k.Saw("a", text("1"), true); k.Gone("a") }, "2", false},
	} {
		var k Known
		c.do(&k)
		if _, changed := k.Changed("a", text(c.now)); changed != c.changed {
			t.Errorf("%s: changed %v", c.name, changed)
		}
	}
}

// TestKnownIsBounded: the oldest files are forgotten, and of texts the older ones first.
func TestKnownIsBounded(t *testing.T) {
	var k Known
	for i := range 2 * maxKnown {
		k.Saw(fmt.Sprint(i), make([]byte, maxKnownText/8), true)
	}
	k.Saw("huge", make([]byte, maxKnownText+1), true)
	held := 0
	for _, f := range k.files {
		held += len(f.text)
	}
	if len(k.files) != maxKnown || held > maxKnownTexts || held < maxKnownTexts/2 {
		t.Errorf("%d files, %d bytes", len(k.files), held)
	}
	if was, changed := k.Changed("huge", nil); !changed || was != nil {
		t.Errorf("huge: %d bytes, changed %v", len(was), changed)
	}
	if was, changed := k.Changed(fmt.Sprint(2*maxKnown-1), nil); !changed || was == nil {
		t.Error("the newest text is not kept")
	}
}
