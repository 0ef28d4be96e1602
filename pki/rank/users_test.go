package rank_test

import (
	"fmt"
	"path"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/rank"
)

// callers are the paths of the units that a walk finds to call the function of
// that name in a file, with their scores, of which the file's is 1.
func callers(t *testing.T, parts []rank.Part, name, file string) (paths []string, scores []float32) {
	t.Helper()
	for i, p := range parts {
		for u := range p.Units {
			if p.Name(uint32(u)) != name || p.Files[p.Units[u].File].Path != file {
				continue
			}
			around := rank.Around{Text: func(rank.Ref) []byte { return nil }, Imports: func(rank.Ref, []byte) []rank.Edge { return nil }}
			hit := rank.Hit{Ref: rank.Ref{Part: uint32(i), Unit: uint32(u)}, Score: 1}
			for _, r := range rank.Walk(parts, []rank.Hit{hit}, rank.Filter{}, 1, 1000, around) {
				if r.Relation != rank.CalledBy {
					t.Errorf("%s %s", r.Relation, parts[r.Part].Name(r.Unit))
				}
				paths, scores = append(paths, parts[r.Part].Files[parts[r.Part].Units[r.Unit].File].Path), append(scores, r.Score)
			}
			return paths, scores
		}
	}
	t.Fatalf("there is no %s", name)
	return nil, nil
}

// TestUsers: of a name that few use, or few bear, all users count, of others those
// in the same directory, not below it, however the files are spread over segments.
func TestUsers(t *testing.T) {
	for _, c := range []struct{ far, bearers, want int }{
		{300, 1, 300}, {360, 1, 360}, {361, 1, 0}, {2000, 1, 0}, {2000, 3, 0}, {300, 12, 300}, {300, 13, 0},
	} {
		var files []written
		add := func(dir string, users int) {
			for range users {
				n := len(files)
				files = append(files, written{path: fmt.Sprintf("%s/u%03d.go", dir, n%1000), text: fmt.Sprintf("func holder%d() { lease() }\n", n)})
			}
		}
		add("far", c.far/2)
		for n := range c.bearers {
			files = append(files, written{path: fmt.Sprintf("home/in/b%d.go", n), text: "func lease() {}\n"})
		}
		add("home/in", 20)
		add("home/in/side", 10)
		add("home/inner", 9)
		add("far", c.far-c.far/2)
		files = append(files, written{path: "home/inner.go", text: "func beside() { lease() }\n"})
		for n := range 30 { // something else that has the word
			files = append(files, written{path: fmt.Sprintf("home/in/o%d.go", n), text: fmt.Sprintf("func other%d() { lease_all() }\n", n)})
		}
		for _, segments := range []int{1, 2, 7} {
			got := map[string]int{}
			names, scores := callers(t, spread(files, segments), "lease", "home/in/b0.go")
			for i, name := range names {
				got[path.Dir(name)]++
				score := 0.5 / float32(min(c.bearers, 4))
				if path.Dir(name) != "home/in" {
					score *= 0.8
				}
				if scores[i] != score {
					t.Fatalf("%d users, %d bearers, %d segments: %s has %v, want %v", c.far, c.bearers, segments, name, scores[i], score)
				}
			}
			want := map[string]int{"home/in": 20}
			if c.want > 0 {
				want["far"], want["home/in/side"], want["home/inner"], want["home"] = c.want, 10, 9, 1
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d users, %d bearers, %d segments: %v, want %v", c.far, c.bearers, segments, got, want)
			}
		}
	}
}

// TestUsersOfTheRoot: a file of the top has no directory in common with those
// below. What is in a file that is gone uses nothing.
func TestUsersOfTheRoot(t *testing.T) {
	files := []written{
		{path: "b.go", text: "func lease() {}\n"}, {path: "gone.go", text: "func gone() { lease() }\n"}, {path: "u.go", text: "func holder() { lease() }\n"},
	}
	for n := range 500 {
		files = append(files, written{path: fmt.Sprintf("far/u%03d.go", n), text: fmt.Sprintf("func holder%d() { lease() }\n", n)})
	}
	parts := spread(files, 3)
	for i, p := range parts {
		parts[i].Dead = func(file uint32) bool { return p.Files[file].Path == "gone.go" }
	}
	if got, _ := callers(t, parts, "lease", "b.go"); fmt.Sprint(got) != "[u.go]" {
		t.Errorf("lease is called in %v", got)
	}
}
