package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	dmp "github.com/sergi/go-diff/diffmatchpatch"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
)

// locate has the server find a block that is not as in the file: spaces for
// tabs, three slips, a line left out. policy.explain computes the edit and
// applies nothing.
func locate(ctx context.Context, r *row) error {
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("static int handler_%d(struct device *dev)", i), "{",
			fmt.Sprintf("\tint status_%d = read_register(dev, %d);", i, i*7), fmt.Sprintf("\tif (status_%d < 0) {", i),
			fmt.Sprintf("\t\treport_error(dev, \"handler %d failed\");", i), "\t\treturn -EIO;", "\t}",
			fmt.Sprintf("\twrite_register(dev, %d, status_%d | FLAG_%d);", i*7+1, i, i%13), "\treturn 0;", "}")
	}
	at := 5000
	block := slices.Clone(lines[at : at+20])
	for i, l := range block {
		block[i] = strings.ReplaceAll(l, "\t", "    ")
	}
	block[2] = strings.Replace(block[2], "register", "registr", 1)
	block[7] = strings.Replace(block[7], "write", "wirte", 1)
	block[14] = strings.Replace(block[14], "failed", "faild", 1)
	block = slices.Delete(block, 15, 16)
	text, search := strings.Join(lines, "\n")+"\n", strings.Join(block, "\n")
	s, err := launch(ctx, map[string]string{"big.c": text})
	if err != nil {
		return err
	}
	arguments := map[string]any{"path": "big.c", "search": search, "replace": strings.Replace(search, "int status", "long status", 1)}
	var got struct {
		Effects struct {
			Writes []string `json:"writes"`
		} `json:"effects"`
		Reason string `json:"reason"`
	}
	var peer []time.Duration
	wrong := 0
	took, err := timed(*rounds, func() error {
		err := s.ExecuteCommand(ctx, "sidecar.policy.explain", map[string]any{"name": "edit_file", "arguments": arguments}, &got)
		if err == nil && len(got.Effects.Writes) != 1 {
			err = fmt.Errorf("not found: %s", got.Reason)
		}
		return err
	})
	if err != nil {
		return err
	}
	for range *rounds {
		begin := time.Now()
		d := dmp.New()
		d.MatchDistance, d.MatchThreshold = len(text), 0.6
		where := d.MatchMain(text, search[:32], 0)
		peer = append(peer, time.Since(begin))
		if where < 0 || strings.Count(text[:where], "\n") != at {
			wrong++
		}
	}
	r.ours = took.Round(10*time.Microsecond).String() + " over stdio, with the diff"
	r.peer = fmt.Sprintf("go-diff's match %v, wrong %d of %d; difflib 16 s (published anchor)", cost.Middle(peer).Round(10*time.Microsecond), wrong, *rounds)
	return s.stop(ctx)
}

func lineEdit(ctx context.Context, r *row) error {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d of the file\n", i)
	}
	s, err := launchRaw(ctx, map[string]string{"big.txt": text.String()})
	if err != nil {
		return err
	}
	if _, err := s.Command("sidecar.mode.set", `{"mode":"review"}`); err != nil {
		return err
	}
	n := 0
	took, err := timed(*rounds, func() error {
		n++
		at := 5000 + n
		_, err := s.Tool("edit_file", map[string]string{"path": "big.txt", "search": fmt.Sprintf("line %d of", at), "replace": fmt.Sprintf("LINE %d of", at)})
		return err
	})
	if err != nil {
		return err
	}
	sync, err := timed(*rounds, func() error {
		f, err := os.Create(filepath.Join(s.dir, "probe"))
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, 4096))
		return errors.Join(err, f.Sync(), f.Close())
	})
	r.ours = took.Round(10 * time.Microsecond).String()
	r.peer = fmt.Sprintf("write and sync of 4 KB here: %v", sync.Round(10*time.Microsecond))
	return errors.Join(err, s.stop())
}

// thousandEdits starts a server that holds an edit of each of a thousand files.
func thousandEdits(ctx context.Context, mode string) (*raw, error) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%02d/f%03d.txt", i%20, i)] = "one\ntwo\nthree\n"
	}
	s, err := launchRaw(ctx, files)
	if err != nil {
		return nil, err
	}
	if _, err := s.Command("sidecar.mode.set", fmt.Sprintf(`{"mode":%q}`, mode)); err != nil {
		return nil, err
	}
	for name := range files {
		if _, err := s.Tool("edit_file", map[string]string{"path": name, "search": "two", "replace": "zwei"}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// acceptBatch accepts a batch, all of it or nothing, in turn with a loop that
// writes as many files and promises nothing; each accept is undone.
func acceptBatch(ctx context.Context, r *row) error {
	s, err := thousandEdits(ctx, "audit")
	if err != nil {
		return err
	}
	var ours, peer []time.Duration
	for range *rounds {
		begin := time.Now()
		body, err := s.Command("sidecar.review.accept", "{}")
		ours = append(ours, time.Since(begin))
		if err == nil && bytes.Count(body, []byte("file://")) != 1000 {
			err = fmt.Errorf("not all were accepted: %.300s", body)
		}
		if err != nil {
			return err
		}
		bare, err := bareLoop()
		if err != nil {
			return err
		}
		peer = append(peer, bare)
		if _, err := s.Command("sidecar.review.undo", "{}"); err != nil {
			return err
		}
	}
	took, bare := cost.Middle(ours), cost.Middle(peer)
	r.ours = took.Round(time.Millisecond).String()
	r.peer = fmt.Sprintf("a bare loop of write, sync, rename %v (%.1f×)", bare.Round(time.Millisecond), float64(took)/float64(bare))
	return s.stop()
}

func listThousand(ctx context.Context, r *row) error {
	s, err := thousandEdits(ctx, "review")
	if err != nil {
		return err
	}
	edits := 0
	list, err := timed(*rounds, func() error {
		body, err := s.Command("sidecar.review.list", "{}")
		edits = bytes.Count(body, []byte(`"kind":"modify"`))
		return err
	})
	if err != nil {
		return err
	}
	begin := time.Now()
	if _, err := s.Command("sidecar.review.accept", "{}"); err != nil {
		return err
	}
	accept := time.Since(begin)
	bare, err := bareLoop()
	if err != nil {
		return err
	}
	r.ours = fmt.Sprintf("%v for %d", list.Round(10*time.Microsecond), edits)
	r.peer = fmt.Sprintf("accepting them all %v, a bare loop of write, sync, rename %v (%.1f×)", accept.Round(time.Millisecond), bare.Round(time.Millisecond), float64(accept)/float64(bare))
	return s.stop()
}

// bareLoop writes a thousand small files again, each synced and renamed.
func bareLoop() (took time.Duration, err error) {
	dir, err := os.MkdirTemp("", "sidecar-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	begin := time.Now()
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf("f%03d", i))
		f, err := os.Create(name + ".tmp")
		if err != nil {
			return 0, err
		}
		_, err = f.WriteString("one\nzwei\nthree\n")
		if err := errors.Join(err, f.Sync(), f.Close(), os.Rename(name+".tmp", name)); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}
