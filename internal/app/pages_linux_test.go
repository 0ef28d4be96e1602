package app

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"testing"
)

// unwritable agrees with the standard library about this very program.
func TestUnwritableSegments(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	head := data[:4096]
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Type != elf.ET_EXEC {
		if got := unwritable(head); got != nil {
			t.Errorf("%v %v %v: %v", f.Class, f.Data, f.Type, got)
		}
		t.Skip("this test is laid out in another way: ", f.Type)
	}
	var want []segment
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W == 0 {
			want = append(want, segment{p.Vaddr, p.Vaddr + p.Memsz})
		}
	}
	if got := unwritable(head); len(want) < 2 || !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	le := binary.LittleEndian
	for name, spoil := range map[string]func(h []byte) []byte{
		"empty":               func([]byte) []byte { return nil },
		"half a header":       func(h []byte) []byte { return h[:40] },
		"no program headers":  func(h []byte) []byte { return h[:64] },
		"half of them":        func(h []byte) []byte { return h[:64+3*56/2] },
		"not ELF":             func(h []byte) []byte { h[1] = 'e'; return h },
		"32 bits":             func(h []byte) []byte { h[4] = 1; return h },
		"high bytes first":    func(h []byte) []byte { h[5] = 2; return h },
		"loaded anywhere":     func(h []byte) []byte { le.PutUint16(h[16:], uint16(elf.ET_DYN)); return h },
		"other entries":       func(h []byte) []byte { le.PutUint16(h[54:], 64); return h },
		"far away":            func(h []byte) []byte { le.PutUint64(h[32:], 1<<63); return h },
		"just before the end": func(h []byte) []byte { le.PutUint64(h[32:], uint64(len(h))-1); return h },
		"very many":           func(h []byte) []byte { le.PutUint16(h[56:], 0xffff); return h },
		"none":                func(h []byte) []byte { le.PutUint16(h[56:], 0); return h },
		"all can be written": func(h []byte) []byte {
			at, n := le.Uint64(h[32:]), le.Uint16(h[56:])
			for i := range uint64(n) {
				h[at+i*56+4] |= 2
			}
			return h
		},
	} {
		if got := unwritable(spoil(slices.Clone(head))); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
