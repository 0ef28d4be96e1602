package rank

import "testing"

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a template":      {"Crash on save\n\n<!-- Please describe\nthe bug. -->\nIt crashes.\n<!-- Thank you", "Crash on save\n\n \nIt crashes."},
		"a comment alone": {"<!-- what is it? -->", "<!-- what is it? -->"},
		"trailers": {
			"Cache: keep the last entry\n\nIt was dropped.\n\nFixes: #123\nSigned-off-by: A <a@b.c>\nReviewed-by: B\n(cherry picked from commit 1234)\n",
			"Cache: keep the last entry\n\nIt was dropped.",
		},
		"what only looks like one": {"Which header is wrong\n\nCache-Control: max-age=1\nis sent twice", "Which header is wrong\n\nCache-Control: max-age=1\nis sent twice"},
		"a title like a trailer":   {"Fixes: the cache", "Fixes: the cache"},
		"pip freeze": {
			"Wrong marker\n\npip list:\npytest==6.0.0rc1\npluggy==0.13.0\npy 1.9.0\n\nSee above.",
			"Wrong marker\n\npip list:\n\nSee above.",
		},
		"a table": {"Slow start\n| package | version |\n|---|---|\n| numpy | 1.2.3 |\n| pandas | 2.0.1 |\n| scipy | 1.4.1 |\nwhy?", "Slow start\n| package | version |\nwhy?"},
		"an environment": {
			"Hangs\n- Python version: 3.8.1\n- OS: Ubuntu 20.04\n- node v18.2.0\nwhen closed",
			"Hangs\nwhen closed",
		},
		"two are a sentence's": {"Breaks since\nnumpy 1.2.3\npandas 2.0.1\nat import", "Breaks since\nnumpy 1.2.3\npandas 2.0.1\nat import"},
		"nothing of it":        {"where is the cache\ncleared?", "where is the cache\ncleared?"},
		"no text":              {"", ""},
	} {
		if got := clean(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
