package shadow

import "testing"

type room struct {
	Settings
	said Limits
}

func (r room) Limits() Limits { return r.said }

// TestFilesFollowBytes: whoever gives shadows more room has room for more files too;
// less room leaves their number, and a number that is said holds.
func TestFilesFollowBytes(t *testing.T) {
	for _, c := range []struct {
		said Limits
		want int
	}{
		{Limits{}, 1 << 20},
		{Limits{Bytes: 32 << 30}, 1 << 20},
		{Limits{Bytes: 64 << 30}, 2 << 20},
		{Limits{Bytes: 1 << 20}, 1 << 20},
		{Limits{Bytes: 64 << 30, Files: 7}, 7},
	} {
		m := &Manager{o: Options{Settings: room{said: c.said}}}
		if got := m.limits().Files; got != c.want {
			t.Errorf("%+v: %d files, want %d", c.said, got, c.want)
		}
	}
}
