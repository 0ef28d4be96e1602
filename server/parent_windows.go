package server

import (
	"context"
	"errors"

	"golang.org/x/sys/windows"
)

// watchParent calls gone once the process pid has ended. One that is not alive
// when it is first looked for must not be watched.
func watchParent(ctx context.Context, pid int, gone func()) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // there is none of that number any more
		gone()
		return
	case err != nil: // the end of the input is what counts
		return
	}
	defer func() { _ = windows.CloseHandle(process) }()
	cancelled, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return
	}
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = windows.SetEvent(cancelled)
		close(told)
	})
	defer func() {
		if !stop() {
			<-told
		}
		_ = windows.CloseHandle(cancelled)
	}()
	if event, err := windows.WaitForMultipleObjects([]windows.Handle{process, cancelled}, false, windows.INFINITE); err == nil && event == windows.WAIT_OBJECT_0 {
		gone()
	}
}

// alive reports whether a process runs that can be waited for.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(process) }()
	event, err := windows.WaitForSingleObject(process, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}
