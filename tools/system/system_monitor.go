package system

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed system_monitor.md
var systemMonitorText string

// sampleTime is how long the load of the processors is watched.
const sampleTime = 200 * time.Millisecond

type systemMonitorIn struct {
	IncludeGPU bool `json:"include_gpu,omitempty" jsonschema:"whether to look for GPUs" default:"true"`
}

// Machine is the structured result of system_monitor. Sizes are bytes; what
// could not be read is left out.
type Machine struct {
	OS          string    `json:"os" jsonschema:"name and version"`
	Arch        string    `json:"arch" jsonschema:"of the processor"`
	CPU         string    `json:"cpu,omitempty" jsonschema:"its name"`
	Cores       int       `json:"cores" jsonschema:"logical ones"`
	CPUPercent  float64   `json:"cpuPercent" jsonschema:"how busy they are"`
	Load        []float64 `json:"load,omitempty" jsonschema:"of 1, 5 and 15 minutes"`
	MemoryTotal uint64    `json:"memoryTotal" jsonschema:"bytes"`
	MemoryUsed  uint64    `json:"memoryUsed" jsonschema:"bytes"`
	MemoryFree  uint64    `json:"memoryFree" jsonschema:"bytes that programs could have"`
	SwapTotal   uint64    `json:"swapTotal" jsonschema:"bytes"`
	SwapUsed    uint64    `json:"swapUsed" jsonschema:"bytes"`
	DiskTotal   uint64    `json:"diskTotal" jsonschema:"bytes, of the disk of the workspace"`
	DiskFree    uint64    `json:"diskFree" jsonschema:"bytes"`
	GPUs        []GPU     `json:"gpus" jsonschema:"as the programs of their vendors say"`
}

func systemMonitor(gpus func(context.Context) []GPU) *tools.Tool {
	d := tools.Def{Name: "system_monitor", Title: "System monitor", Example: `{}`, Description: systemMonitorText, Category: "system", Tags: []string{"memory", "cpu", "gpu", "load", "machine"}, Output: Machine{}}
	return tools.NewRead(d, func(ctx context.Context, c *tools.Call, in systemMonitorIn) (tools.Result, error) {
		m := measure(ctx, c.Files.Abs("."))
		if in.IncludeGPU {
			m.GPUs = gpus(ctx)
		}
		if err := ctx.Err(); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: m.text(in.IncludeGPU), Structured: m}, nil
	})
}

// measure reads what the system says of itself. A part that can't be read stays
// zero.
func measure(ctx context.Context, dir string) Machine {
	m := Machine{GPUs: []GPU{}}
	if info, err := host.InfoWithContext(ctx); err == nil {
		m.OS, m.Arch = strings.TrimSpace(info.Platform+" "+info.PlatformVersion), info.KernelArch
	}
	if list, err := cpu.InfoWithContext(ctx); err == nil && len(list) > 0 {
		m.CPU = list[0].ModelName
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil {
		m.Cores = n
	}
	if busy, err := cpu.PercentWithContext(ctx, sampleTime, false); err == nil && len(busy) > 0 {
		m.CPUPercent = busy[0]
	}
	if l, err := load.AvgWithContext(ctx); err == nil {
		m.Load = []float64{l.Load1, l.Load5, l.Load15}
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		m.MemoryTotal, m.MemoryUsed, m.MemoryFree = v.Total, v.Used, v.Available
	}
	if s, err := mem.SwapMemoryWithContext(ctx); err == nil {
		m.SwapTotal, m.SwapUsed = s.Total, s.Used
	}
	if u, err := disk.UsageWithContext(ctx, dir); err == nil {
		m.DiskTotal, m.DiskFree = u.Total, u.Free
	}
	return m
}

func (m Machine) text(gpu bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "System: %s, %s\nProcessor: %s, %d cores, %.0f%% busy", m.OS, m.Arch, m.CPU, m.Cores, m.CPUPercent)
	if len(m.Load) == 3 && m.Cores > 0 {
		fmt.Fprintf(&b, "; load %.2f, %.2f, %.2f (%.0f%% of the cores)", m.Load[0], m.Load[1], m.Load[2], 100*m.Load[0]/float64(m.Cores))
	}
	fmt.Fprintf(&b, "\nMemory: %s, %s used, %s available", size(m.MemoryTotal), size(m.MemoryUsed), size(m.MemoryFree))
	if m.SwapTotal > 0 {
		fmt.Fprintf(&b, "; swap %s, %s used", size(m.SwapTotal), size(m.SwapUsed))
	}
	fmt.Fprintf(&b, "\nDisk of the workspace: %s, %s free", size(m.DiskTotal), size(m.DiskFree))
	for _, g := range m.GPUs {
		fmt.Fprintf(&b, "\nGPU: %s, %s, %s used, %.0f%% busy", g.Name, size(g.MemoryTotal), size(g.MemoryUsed), g.Percent)
	}
	if gpu && len(m.GPUs) == 0 {
		b.WriteString("\nGPU: none found (nvidia-smi and rocm-smi were looked for)")
	}
	return b.String()
}

// size writes bytes as a person reads them.
func size(n uint64) string {
	const gib = 1 << 30
	if n >= gib {
		return fmt.Sprintf("%.1f GiB", float64(n)/gib)
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}
