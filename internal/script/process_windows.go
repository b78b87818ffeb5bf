package script

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"aai/internal/script/child"
)

// root is the folder in which a child is.
const root = `C:\`

// nonBlocking is not needed where FIFOs are not files.
const nonBlocking = 0

// bind lets the child have no window.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
}

// hold puts the child into a job object: it ends with this process, starts none, and has no
// more memory than it may. It runs nothing before it gets a job by its pipe.
func hold(p *os.Process) (letGo func(), err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	letGo = func() { _ = windows.CloseHandle(job) }
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS |
		windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	limits.BasicLimitInformation.ActiveProcessLimit = 1
	limits.ProcessMemoryLimit = child.MaxMemory
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		letGo()
		return nil, err
	}
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid)) //nolint:gosec // it is one of Windows's
	if err != nil {
		letGo()
		return nil, err
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // it was only lent
	if err = windows.AssignProcessToJobObject(job, handle); err != nil {
		letGo()
		return nil, err
	}
	return letGo, nil
}

// resident is not known here: the job object limits it.
func resident(int) int64 { return 0 }
