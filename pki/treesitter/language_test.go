package treesitter

import "testing"

func TestLanguage(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a/b.go", "", "go"},
		{"b.TS", "", "typescript"},
		{"b.tsx", "", "tsx"},
		{`dir\b.py`, "", "python"},
		{"Gemfile", "", "ruby"},
		{".bashrc", "", "bash"},
		{"Cargo.lock", "", "toml"},
		{"README.md", "", "markdown"},
		{"a.h", "int f(void);\n", "c"},
		{"a.h", "#pragma once\nnamespace a {\n", "cpp"},
		{"a.h", "struct classy { int x; };\n", "c"},
		{"a.h", "", "c"},
		{"run", "#!/bin/sh\n", "bash"},
		{"run", "#!/usr/bin/env python3.12\n", "python"},
		{"run", "#!/usr/bin/env -S X=1 node --flag\n", "javascript"},
		{"run", "#! /usr/bin/ruby -w\n", "ruby"},
		{"run", "#!/usr/bin/shutdown\n", ""},
		{"run", "#!", ""},
		{"run", "text", ""},
		{"run", "", ""},
		{"a.txt", "#!/bin/sh\n", ""},
		{".hidden", "#!/bin/sh\n", "bash"},
		{"a.bin", "", ""},
		{"", "", ""},
	} {
		if got := Language(c.name, []byte(c.src)); got != c.want {
			t.Errorf("%q with %q: got %q, want %q", c.name, c.src, got, c.want)
		}
	}
}

// Every language that a name leads to has a parser.
func TestLanguagesAreKnown(t *testing.T) {
	for _, table := range []map[string]string{byExtension, byName} {
		for name, lang := range table {
			if _, err := Extract(lang, nil); err != nil {
				t.Errorf("%s: %s: %v", name, lang, err)
			}
		}
	}
	for _, i := range byInterpreter {
		if _, err := Extract(i.lang, nil); err != nil {
			t.Errorf("%s: %s: %v", i.prefix, i.lang, err)
		}
	}
}
