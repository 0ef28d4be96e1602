// Redact measures the filter that keeps secrets out of what is shown, on the Go
// distribution's source tree and on the directories that are named:
//
//	go run ./bench/redact [-n rounds] [-show] [dir...]
//
// Printed are the false alarms in source and in tests, which no secret should
// be in but tests have made-up ones, and the speed: medians of the rounds' CPU
// and wall times over the whole text in memory. The anchor is a copy of the
// same bytes (memory) and the figure of gitleaks 8 as a library, 0.3 to 0.5
// MB/s over the same kind of text.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/bench/internal/cost"
	"github.com/sidecar-ls/sidecar-ls/internal/text/redact"
)

var (
	rounds = flag.Int("n", 7, "rounds")
	show   = flag.Bool("show", false, "print the lines with a false alarm")
	most   = flag.Int("mb", 200, "megabytes to read of a directory")
	only   = flag.String("ext", ".go,.ts,.tsx,.js,.c,.h,.py,.rs,.java,.md,.yaml,.json,.sh", "endings of the files to read")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	dirs := flag.Args()
	if len(dirs) == 0 {
		out, err := exec.CommandContext(context.Background(), "go", "env", "GOROOT").Output()
		if err != nil {
			log.Fatal(err)
		}
		dirs = []string{filepath.Join(strings.TrimSpace(string(out)), "src")}
	}
	for _, dir := range dirs {
		measure(dir)
	}
	line("one line of 10 MB", "{\"k\":\""+strings.Repeat("lorem ipsum token=abc; key: 123, https://example.test/x?y=z ", 10<<20/60)+"\"}")
	line("10 MB of beginnings of secrets", strings.Repeat("password=eyJ-eyJ -----BEGIN PRIVATE KEY-----://a:b", 10<<20/50))
}

// tests are files in which made-up secrets are at home.
var tests = regexp.MustCompile(`(?i)(^|/)(tests?|testdata|__tests__|spec|fixtures|examples?|mocks?)(/|$)|_test\.|\.(test|spec)\.`)

func measure(dir string) {
	var source, inTests []string
	size := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || size > *most<<20 {
			return filepath.SkipAll
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() || !slices.Contains(strings.Split(*only, ","), filepath.Ext(path)) {
			return nil
		}
		data, _ := os.ReadFile(path) // what can't be read is left out
		if len(data) > 4<<20 || bytes.IndexByte(data, 0) >= 0 {
			return nil
		}
		size += len(data)
		rel, _ := filepath.Rel(dir, path)
		if tests.MatchString(rel) {
			inTests = append(inTests, string(data))
		} else {
			source = append(source, string(data))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	r := redact.New("a-known-value")
	fmt.Printf("%s\n", filepath.Base(dir))
	for _, part := range []struct {
		name  string
		texts []string
	}{{"source", source}, {"tests", inTests}} {
		bytes, alarms := 0, 0
		for _, t := range part.texts {
			bytes += len(t)
			clean := r.Text(t)
			alarms += strings.Count(clean, redact.Marker) - strings.Count(t, redact.Marker)
			if *show && clean != t {
				differences(t, clean)
			}
		}
		fmt.Printf("  %-8s %7.1f MB  %4d alarms  %.2f per MB\n", part.name, float64(bytes)/1e6, alarms, float64(alarms)*1e6/float64(max(bytes, 1)))
	}
	timed(r, source)
}

// timed prints how long the texts take.
func timed(r *redact.Redactor, texts []string) {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	var wall, cpu []float64
	for range *rounds + 1 { // the first is dropped
		start, used := time.Now(), cost.Processor()
		for _, t := range texts {
			r.Text(t)
		}
		wall, cpu = append(wall, time.Since(start).Seconds()), append(cpu, (cost.Processor()-used).Seconds())
	}
	fmt.Printf("  speed    %7.1f MB/s of CPU, %.1f MB/s of wall, %.2f s\n", float64(size)/1e6/cost.Middle(cpu[1:]), float64(size)/1e6/cost.Middle(wall[1:]), cost.Middle(wall[1:]))
}

func line(name, text string) {
	fmt.Println(name)
	timed(redact.New(), []string{text})
}

// differences prints the lines of a text that have a false alarm.
func differences(before, after string) {
	kept := map[string]bool{}
	for l := range strings.Lines(after) {
		kept[l] = true
	}
	for l := range strings.Lines(before) {
		if !kept[l] {
			fmt.Printf("    %.160q\n", l)
		}
	}
}
