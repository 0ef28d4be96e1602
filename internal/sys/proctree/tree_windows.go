package proctree

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// system is the job of a tree. What is in it can't leave it.
type system struct{ job windows.Handle }

// started is a job without limits around those of all trees: it tells which
// processes this one has brought about.
var started = sync.OnceValues(func() (windows.Handle, error) { return windows.CreateJobObject(nil, nil) })

// Descends reports whether a process belongs, or once belonged, to a tree of this
// process.
func Descends(pid int) (bool, error) {
	all, err := started()
	if err != nil {
		return false, err
	}
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION, false, uint32(pid))
	if err != nil {
		return false, err
	}
	defer func() { _ = windows.CloseHandle(p) }()
	var is int32
	if ok, _, err := isProcessInJob().Call(uintptr(p), uintptr(all), uintptr(unsafe.Pointer(&is))); ok == 0 {
		return false, fmt.Errorf("IsProcessInJob: %w", err)
	}
	return is != 0, nil
}

// isProcessInJob is not in x/sys/windows.
func isProcessInJob() *windows.LazyProc {
	return windows.NewLazySystemDLL("kernel32.dll").NewProc("IsProcessInJob")
}

// start starts the command suspended, so that it starts nothing before it is in the job.
func (s *system) start(cmd *exec.Cmd, l Limits) (err error) {
	all, err := started()
	if err != nil {
		return fmt.Errorf("CreateJobObject: %w", err)
	}
	if s.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return fmt.Errorf("CreateJobObject: %w", err)
	}
	defer func() {
		if err != nil {
			_ = windows.CloseHandle(s.job)
		}
	}()
	if err = s.limit(limitsOf(l)); err != nil {
		return err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// A console of its own that nobody sees: else each command of an editor without
	// one would open a window.
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW
	if err = cmd.Start(); err != nil {
		return err
	}
	held := cmd.Process.WithHandle(func(h uintptr) {
		for _, job := range []windows.Handle{all, s.job} {
			if err == nil {
				err = windows.AssignProcessToJobObject(job, windows.Handle(h))
			}
		}
	})
	if err = errors.Join(held, err); err == nil {
		err = resume(uint32(cmd.Process.Pid))
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("%s could not be put into a job object: %w", cmd.Path, err)
	}
	return nil
}

func limitsOf(l Limits) (info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) {
	basic := &info.BasicLimitInformation
	basic.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if l.Processes > 0 {
		basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		basic.ActiveProcessLimit = uint32(min(l.Processes, 1<<31))
	}
	if l.Memory > 0 {
		basic.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		info.JobMemoryLimit = uintptr(l.Memory)
	}
	return info
}

func (s *system) limit(info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) error {
	_, err := windows.SetInformationJobObject(s.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return fmt.Errorf("SetInformationJobObject: %w", err)
	}
	return nil
}

// resume lets a process go on. The handle of its thread is not to be had from os,
// so the thread is looked for.
func resume(pid uint32) error {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(all) }()
	t := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	found := false
	for err = windows.Thread32First(all, &t); err == nil; err = windows.Thread32Next(all, &t) {
		if t.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, t.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return err
		}
		found = true
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return err
	}
	if !found {
		return errors.New("its thread is not there")
	}
	return nil
}

// kill ends the job, and the command, which a context may end before it is in there.
func (s *system) kill(cmd *exec.Cmd) {
	_ = windows.TerminateJobObject(s.job, 1)
	_ = cmd.Process.Kill()
}

// terminate can't be asked: there are no signals.
func (*system) terminate(*exec.Cmd) bool { return false }

func (s *system) release(leave bool) {
	if leave {
		_ = s.limit(windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{})
	}
	_ = windows.CloseHandle(s.job)
}
