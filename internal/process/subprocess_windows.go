package process

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// setAttributes gives the process no window.
func setAttributes(cmd *exec.Cmd, _ Limits) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

// tieToParent puts the process and its children into a job object that ends with this process.
// The process should do nothing before it has read from its input.
func tieToParent(p *os.Process, l Limits) (letGo func(), err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	letGo = func() { _ = windows.CloseHandle(job) }
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if l.NoChildren {
		limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
		limits.BasicLimitInformation.ActiveProcessLimit = 1
	}
	if l.FreeChildren {
		limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	}
	if l.Memory > 0 {
		limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		limits.ProcessMemoryLimit = l.Memory
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assignToJob(job, p)
	}
	if err != nil {
		letGo()
		return nil, err
	}
	return letGo, nil
}

func assignToJob(job windows.Handle, p *os.Process) error {
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false,
		uint32(p.Pid)) //nolint:gosec // it is one of Windows's
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // it was only lent
	return windows.AssignProcessToJobObject(job, handle)
}

// signalGroup ends the process; its children end with the job.
func signalGroup(p *os.Process, _ Limits, now bool) {
	if now {
		_ = p.Kill()
	}
}
