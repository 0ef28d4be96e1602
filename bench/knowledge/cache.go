package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki/history"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
)

// A search for weights asks the same segments thousands of times, so they are
// made once and kept in a directory. Whoever changes what a segment is made of
// empties it.

// job is one query with what it is asked of.
type job struct {
	*state
	record  int
	variant string
	text    string
	seg     *segment.Segment
	pasts   *pasts
}

// past is what is known of the commits.
func (j *job) past() *history.History { return j.pasts.known(j.dir, j.records[j.record].Commit) }

// jobs returns every query of the states, their segments from the cache.
func jobs(ctx context.Context, states []*state, cache string) ([]job, error) {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, err
	}
	segs, pasts := make([]*segment.Segment, len(states)), new(pasts)
	errs := make([]error, runtime.GOMAXPROCS(0))
	next := make(chan int)
	var wg sync.WaitGroup
	for k := range errs {
		wg.Go(func() {
			shelf := shelf{}
			defer shelf.close()
			for i := range next {
				if errs[k] == nil {
					segs[i], errs[k] = cached(ctx, shelf, states[i], cache)
				}
				if errs[k] == nil {
					errs[k] = pasts.read(ctx, states[i].dir)
				}
			}
		})
	}
	for i := range states {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	var out []job
	for i, s := range states {
		for k, r := range s.records {
			for _, variant := range []string{"subject", "full", "hard"} {
				if text, ok := r.Queries[variant]; ok {
					out = append(out, job{s, k, variant, text, segs[i], pasts})
				}
			}
		}
	}
	return out, nil
}

// cached returns the segment of a state, which it makes unless it is there.
func cached(ctx context.Context, shelf shelf, s *state, cache string) (*segment.Segment, error) {
	sum := sha256.Sum256([]byte(s.key))
	name := filepath.Join(cache, hex.EncodeToString(sum[:8])+".seg")
	if _, err := os.Stat(name); err != nil {
		repo, err := shelf.open(ctx, s.dir)
		if err != nil {
			return nil, err
		}
		texts, err := load(ctx, repo, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.key, err)
		}
		if err := os.WriteFile(name+".part", indexed(texts).Encode(nil), 0o666); err != nil {
			return nil, err
		}
		if err := os.Rename(name+".part", name); err != nil {
			return nil, err
		}
	}
	return mapped(name)
}

// mapped returns the segment in a file, whose bytes stay there.
func mapped(name string) (*segment.Segment, error) {
	data, err := contents(name)
	if err != nil {
		return nil, err
	}
	seg, _, err := segment.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return seg, nil
}
