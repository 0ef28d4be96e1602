package system

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GPU is a graphics processor. Sizes are bytes.
type GPU struct {
	Name        string  `json:"name" jsonschema:"of the card"`
	MemoryTotal uint64  `json:"memoryTotal" jsonschema:"bytes"`
	MemoryUsed  uint64  `json:"memoryUsed" jsonschema:"bytes"`
	Percent     float64 `json:"percent" jsonschema:"how busy it is"`
}

// gpuTime bounds a program that looks for GPUs.
const gpuTime = 5 * time.Second

// Programs finds what runs outside of the sandbox, as this does: *lookup.Finder.
type Programs interface {
	Find(name string, besides ...string) (string, error)
	Environ() []string
}

// findGPUs asks the programs of the vendors, if they are there.
func findGPUs(ctx context.Context, programs Programs) []GPU {
	for _, p := range []struct {
		program string
		args    []string
		read    func([]byte) []GPU
	}{
		{"nvidia-smi", []string{"--query-gpu=name,memory.total,memory.used,utilization.gpu", "--format=csv,noheader,nounits"}, nvidia},
		{"rocm-smi", []string{"--showproductname", "--showmeminfo", "vram", "--showuse", "--json"}, rocm},
	} {
		path, err := programs.Find(p.program)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, gpuTime)
		cmd := exec.CommandContext(ctx, path, p.args...)
		cmd.Env, cmd.Dir = programs.Environ(), filepath.Dir(path)
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		cancel()
		if found := p.read(out); err == nil && len(found) > 0 {
			return found
		}
	}
	return []GPU{}
}

// nvidia reads a line for each GPU: name, memory and used memory in MiB, load
// in percent, as nvidia-smi --help-query-gpu has it.
func nvidia(out []byte) []GPU {
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		return nil
	}
	var found []GPU
	for _, r := range rows {
		if len(r) == 4 {
			found = append(found, GPU{strings.TrimSpace(r[0]), uint64(decimal(r[1])) << 20, uint64(decimal(r[2])) << 20, decimal(r[3])})
		}
	}
	return found
}

// rocm reads the JSON of rocm-smi: an object for each card, its values texts.
func rocm(out []byte) []GPU {
	var cards map[string]map[string]string
	if json.Unmarshal(out, &cards) != nil {
		return nil
	}
	var found []GPU
	for _, name := range slices.Sorted(maps.Keys(cards)) {
		c := cards[name]
		if !strings.HasPrefix(name, "card") {
			continue
		}
		g := GPU{Name: name, MemoryTotal: uint64(decimal(c["VRAM Total Memory (B)"])), MemoryUsed: uint64(decimal(c["VRAM Total Used Memory (B)"])), Percent: decimal(c["GPU use (%)"])}
		for _, key := range []string{"Card Series", "Card series", "Card Model", "Card model"} {
			if c[key] != "" {
				g.Name = c[key]
				break
			}
		}
		found = append(found, g)
	}
	return found
}

// decimal is the number that a program wrote, or 0 where it wrote none.
func decimal(s string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
