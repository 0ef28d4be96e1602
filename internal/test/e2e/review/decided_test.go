package review_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// What a person does with the queue is written down as calls are: what, to
// which files, with which hashes; without secrets. What was just called is there
// when the log is verified.
func TestDecisionsAreWrittenDown(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"})
	const secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	r.Mode("review")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		e2e.Command[json.RawMessage](r, "sidecar.tools.call", e2e.Object{"name": "write_file", "arguments": e2e.Object{"path": name, "content": "two\n"}})
	}
	uri := func(name string) string { return "file://" + filepath.Join(dir, name) }
	e2e.Command[json.RawMessage](r, "sidecar.review.propose", e2e.Object{"uri": uri("b.txt"), "text": "three\n"})
	e2e.Command[json.RawMessage](r, "sidecar.review.accept", e2e.Object{"uris": []string{uri("a.txt"), uri("b.txt")}})
	e2e.Command[json.RawMessage](r, "sidecar.review.undo", e2e.Object{})
	e2e.Command[json.RawMessage](r, "sidecar.review.reject", e2e.Object{"uris": []string{uri("c.txt")}, "reason": "it has " + secret})
	e2e.Write(t, filepath.Join(dir, "a.txt"), "somebody else\n")
	e2e.Command[json.RawMessage](r, "sidecar.review.accept", e2e.Object{"uris": []string{uri("a.txt")}})

	// Reads are written soon after; to verify writes them before.
	e2e.Command[json.RawMessage](r, "sidecar.tools.call", e2e.Object{"name": "read_file", "arguments": e2e.Object{"path": "a.txt"}})
	report := e2e.Command[auditlog.Report](r, "sidecar.audit.verify", e2e.Object{})
	if report.Records != 9 || len(report.Faults) != 0 {
		t.Errorf("%+v, want 9 records", report)
	}
	got, err := auditlog.Find(filepath.Join(dir, ".sidecar", "logs"), auditlog.Query{})
	if err != nil || len(got) != 9 {
		t.Fatalf("%d records, %v", len(got), err)
	}
	one, two, three := auditlog.Sum([]byte("one\n")), auditlog.Sum([]byte("two\n")), auditlog.Sum([]byte("three\n"))
	for i, want := range []struct {
		tool, outcome string
		ok            bool
		changes       []auditlog.Change
	}{
		{"propose", "allow", true, []auditlog.Change{{Path: "b.txt", Kind: "modify", State: "pending", Before: two, After: three}}},
		{"accept", "allow", true, []auditlog.Change{{Path: "a.txt", Kind: "modify", State: "applied", Before: one, After: two}, {Path: "b.txt", Kind: "modify", State: "applied", Before: one, After: three}}},
		{"undo", "allow", true, []auditlog.Change{{Path: "b.txt", Kind: "modify", State: "applied", Before: three, After: one}, {Path: "a.txt", Kind: "modify", State: "applied", Before: two, After: one}}},
		{"reject", "deny", true, []auditlog.Change{{Path: "c.txt", Kind: "modify", State: "rejected", Before: one, After: two}}},
		{"accept", "allow", false, []auditlog.Change{{Path: "a.txt", State: "failed"}}},
	} {
		rec := got[3+i]
		if rec.Tool != "sidecar.review."+want.tool || rec.By != "user" || rec.Outcome != want.outcome || rec.OK != want.ok || rec.Session != "default" || rec.Access != "edit" || (rec.Code == "") != want.ok {
			t.Errorf("%d: %+v", i, rec)
		}
		a, _ := json.Marshal(rec.Changes)
		b, _ := json.Marshal(want.changes)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: %s\nwant %s", want.tool, a, b)
		}
	}
	if args := string(got[6].Arguments); strings.Contains(args, secret) || !strings.Contains(args, "it has [REDACTED:") {
		t.Errorf("reason %s", args)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "somebody else\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// A log that can't be written is told once, and calls go on.
func TestUnwrittenLogIsToldOnce(t *testing.T) {
	e2e.Home(t)
	for _, broken := range []bool{true, false} {
		dir := e2e.Project(t, map[string]string{"a.txt": "one\n"})
		r, log := e2e.ServeWhole(t, dir, fakeeditor.Options{})
		if broken { // after the start, which sets aside what is in the way
			logs := filepath.Join(dir, ".sidecar", "logs")
			if err := errors.Join(ownfile.MkdirAll(filepath.Dir(logs), 0o755), ownfile.RemoveAll(logs), ownfile.WriteFile(logs, []byte("a file\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		r.Mode("review")
		for _, text := range []string{"two\n", "three\n", "four\n"} {
			if res := e2e.Command[e2e.Result](r, "sidecar.tools.call", e2e.Object{"name": "write_file", "arguments": e2e.Object{"path": "a.txt", "content": text}}); !res.OK {
				t.Errorf("%+v", res)
			}
		}
		var report json.RawMessage
		if err := r.ExecuteCommand(t.Context(), "sidecar.audit.verify", e2e.Object{}, &report); (err != nil) != broken {
			t.Errorf("verify: %s, %v", report, err)
		}
		if err := r.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		want, told := 0, 0
		if broken {
			want = 1
		}
		for _, m := range r.Record().Notifications {
			if m.Method == "window/showMessage" && strings.Contains(string(m.Params), "not written down") {
				told++
			}
		}
		if logged := strings.Count(log.String(), "calls are not written down"); told != want || logged != want {
			t.Errorf("broken: %v, told %d times, logged %d times", broken, told, logged)
		}
	}
}
