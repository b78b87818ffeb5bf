package mcp

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// bind lets the server have no window.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

// hold puts the server, and what it starts, into a job object that ends with this process.
func hold(p *os.Process) (letGo func(), err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	letGo = func() { _ = windows.CloseHandle(job) }
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, p)
	}
	if err != nil {
		letGo()
		return nil, err
	}
	return letGo, nil
}

func assign(job windows.Handle, p *os.Process) error {
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid)) //nolint:gosec // it is one of Windows's
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // it was only lent
	return windows.AssignProcessToJobObject(job, handle)
}

// end ends the server; what it has started ends with the job.
func end(p *os.Process, now bool) {
	if now {
		_ = p.Kill()
	}
}
