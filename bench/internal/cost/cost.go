// Package cost measures what things take, for the benchmarks.
package cost

import (
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// Cost is what something took, by the clock and of processors.
type Cost struct{ Wall, CPU time.Duration }

// Millis is a duration in milliseconds.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Text is wall/CPU in milliseconds with so many decimals.
func (c Cost) Text(decimals int) string {
	return fmt.Sprintf("%.*f/%.*f", decimals, Millis(c.Wall), decimals, Millis(c.CPU))
}

// Here measures something in this process, with all that it does meanwhile.
func Here(f func() error) (Cost, error) {
	cpu, start := Processor(), time.Now()
	err := f()
	return Cost{time.Since(start), Processor() - cpu}, err
}

// Run runs a command, and measures it with the processes that it waited for.
func Run(cmd *exec.Cmd) (c Cost, err error) {
	start := time.Now()
	err = cmd.Run()
	c.Wall = time.Since(start)
	if cmd.ProcessState != nil {
		c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return c, err
}

// Median is the middle of what of says of each; of an even number the upper
// one. The list may not be empty.
func Median[T any, N cmp.Ordered](list []T, of func(T) N) N {
	values := make([]N, len(list))
	for i, v := range list {
		values[i] = of(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// Middle is the median of numbers.
func Middle[N cmp.Ordered](list []N) N { return Median(list, func(n N) N { return n }) }

// Typical has the medians of both.
func Typical(costs []Cost) Cost {
	return Cost{Median(costs, func(c Cost) time.Duration { return c.Wall }), Median(costs, func(c Cost) time.Duration { return c.CPU })}
}

// Ratio is a:b by wall/CPU: the medians of what each round has, for as many
// rounds as a has.
func Ratio(a, b []Cost) string {
	var wall, cpu []float64
	for i := range a {
		wall, cpu = append(wall, Millis(a[i].Wall)/Millis(b[i].Wall)), append(cpu, Millis(a[i].CPU)/Millis(b[i].CPU))
	}
	return fmt.Sprintf("%.2f/%.2f", Middle(wall), Middle(cpu))
}
