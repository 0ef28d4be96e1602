package system

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

func TestSystemMonitor(t *testing.T) {
	disk, err := workspace.OpenDisk([]workspace.Folder{{Dir: t.TempDir()}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	looked := 0
	tool := systemMonitor(func(context.Context) []GPU {
		looked++
		return []GPU{{"Card X", 8 << 30, 1 << 30, 40}}
	})
	for args, want := range map[string][]string{
		`{}`:                    {"cores", "Memory: ", "available", "Disk of the workspace: ", "GPU: Card X, 8.0 GiB, 1.0 GiB used, 40% busy"},
		`{"include_gpu":false}`: {"cores"},
	} {
		b, err := tool.Bind(json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := b.Run(t.Context(), &tools.Call{Files: disk})
		tooltest.Fits(t, tool, r, err)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%s: %q is missing in\n%s", args, w, r.Text)
			}
		}
		m := r.Structured.(Machine)
		if m.Cores < 1 || m.MemoryTotal < 1<<20 || m.MemoryFree > m.MemoryTotal || m.DiskTotal == 0 || m.OS == "" {
			t.Errorf("%+v", m)
		}
		if strings.Contains(args, "false") && strings.Contains(r.Text, "GPU") {
			t.Error(r.Text)
		}
	}
	if looked != 1 {
		t.Errorf("looked for GPUs %d times", looked)
	}
}

// What the vendors' programs print, as they document it, and what is not that.
func TestGPUs(t *testing.T) {
	for name, c := range map[string]struct {
		got, want []GPU
	}{
		"nvidia-smi":       {nvidia([]byte("NVIDIA A100-SXM4-40GB, 40960, 1024, 17\nTesla T4, 15360, 0, [N/A]\n")), []GPU{{"NVIDIA A100-SXM4-40GB", 40960 << 20, 1 << 30, 17}, {"Tesla T4", 15360 << 20, 0, 0}}},
		"rocm-smi":         {rocm([]byte(`{"card0":{"VRAM Total Memory (B)":"17163091968","VRAM Total Used Memory (B)":"1000","GPU use (%)":"3","Card Series":"Radeon"},"system":{"x":"y"}}`)), []GPU{{"Radeon", 17163091968, 1000, 3}}},
		"no driver":        {nvidia([]byte("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n")), nil},
		"nothing":          {nvidia(nil), nil},
		"no JSON":          {rocm([]byte("WARNING: No AMD GPUs")), nil},
		"a negative value": {nvidia([]byte("X, -1, 0, 0\n")), []GPU{{Name: "X"}}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}
