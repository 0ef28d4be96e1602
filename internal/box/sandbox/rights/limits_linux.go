package rights

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// SetLimits sets resource limits of this process, which commands inherit. One
// that can't be set is one that is set lower already. Processes are counted
// for each user, so their limit makes sense in a user namespace alone.
func SetLimits(l spec.Limits, userns bool) {
	set := func(what int, most int64) {
		if most < 0 {
			return
		}
		want := syscall.Rlimit{Cur: uint64(most), Max: uint64(most)}
		var have syscall.Rlimit
		if syscall.Getrlimit(what, &have) == nil {
			want.Max = min(want.Max, have.Max)
			want.Cur = min(want.Cur, want.Max)
		}
		_ = syscall.Setrlimit(what, &want)
	}
	set(syscall.RLIMIT_CORE, 0)
	set(syscall.RLIMIT_FSIZE, l.FileSize)
	set(syscall.RLIMIT_NOFILE, l.Files)
	if userns {
		set(unix.RLIMIT_NPROC, l.Processes)
	}
}

// Expendable is the score of commands: when memory runs out, the kernel is to
// end them before the server.
const Expendable = 500

const oomScoreFile = "/proc/self/oom_score_adj"

// OOMScore is how willing the kernel is to end this process when memory runs out.
func OOMScore() int {
	data, _ := os.ReadFile(oomScoreFile)
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// SetOOMScore sets it, also for what this process starts.
func SetOOMScore(n int) {
	_ = os.WriteFile(oomScoreFile, []byte(strconv.Itoa(n)), 0)
}
