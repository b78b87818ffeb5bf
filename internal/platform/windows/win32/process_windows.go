package win32

import (
	"path/filepath"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Process is a running process, as far as it may be read.
type Process struct {
	Executable  string
	CommandLine []string // nil if it may not be read
	Started     string   // the time of its start, as a number
	Narrow      bool     // it has 32 bits
}

// ReadProcess reads the facts about a process; zeros for those that may not be read. Executable and Started are "" if it has ended.
func ReadProcess(pid uint32, withCommandLine bool) (p Process) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return p
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // it was only read
	if ended, _ := windows.WaitForSingleObject(handle, 0); ended == windows.WAIT_OBJECT_0 {
		return p
	}
	var path [windows.MAX_LONG_PATH]uint16
	size := uint32(len(path))
	if windows.QueryFullProcessImageName(handle, 0, &path[0], &size) == nil {
		p.Executable = windows.UTF16ToString(path[:size])
	}
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(handle, &created, &exited, &kernel, &user) == nil {
		p.Started = strconv.FormatInt(created.Nanoseconds(), 10)
	}
	_ = windows.IsWow64Process(handle, &p.Narrow)
	if withCommandLine {
		p.CommandLine = commandLine(pid)
	}
	return p
}

// commandLine reads the arguments of a process from its own block of parameters.
func commandLine(pid uint32) []string {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, pid)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // it was only read
	var basic windows.PROCESS_BASIC_INFORMATION
	if windows.NtQueryInformationProcess(handle, windows.ProcessBasicInformation, unsafe.Pointer(&basic), uint32(unsafe.Sizeof(basic)), nil) != nil {
		return nil
	}
	read := func(from uintptr, to unsafe.Pointer, size uintptr) bool {
		return windows.ReadProcessMemory(handle, from, (*byte)(to), size, nil) == nil
	}
	var peb windows.PEB
	var parameters windows.RTL_USER_PROCESS_PARAMETERS
	var address uintptr
	if !read(uintptr(unsafe.Pointer(basic.PebBaseAddress))+unsafe.Offsetof(peb.ProcessParameters), unsafe.Pointer(&address), unsafe.Sizeof(address)) ||
		!read(address, unsafe.Pointer(&parameters), unsafe.Offsetof(parameters.Environment)) {
		return nil
	}
	line := make([]uint16, parameters.CommandLine.Length/2+1)
	if !read(uintptr(unsafe.Pointer(parameters.CommandLine.Buffer)), unsafe.Pointer(&line[0]), uintptr(parameters.CommandLine.Length)) {
		return nil
	}
	arguments, err := windows.DecomposeCommandLine(windows.UTF16ToString(line))
	if err != nil {
		return nil
	}
	return arguments
}

// ProductName returns the description that the file of a program gives, such as "Notepad", or "".
func ProductName(path string) string {
	var ignored windows.Handle
	size, err := windows.GetFileVersionInfoSize(path, &ignored)
	if err != nil || size == 0 {
		return ""
	}
	info := make([]byte, size)
	at := unsafe.Pointer(&info[0])
	if windows.GetFileVersionInfo(path, 0, size, at) != nil {
		return ""
	}
	var translation *[2]uint16
	var length uint32
	if windows.VerQueryValue(at, `\VarFileInfo\Translation`, unsafe.Pointer(&translation), &length) != nil || length < 4 {
		return ""
	}
	hex := func(n uint16) string { return (strconv.FormatInt(0x10000|int64(n), 16))[1:] }
	var text *uint16
	name := `\StringFileInfo\` + hex(translation[0]) + hex(translation[1]) + `\FileDescription`
	if windows.VerQueryValue(at, name, unsafe.Pointer(&text), &length) != nil || length == 0 {
		return ""
	}
	return windows.UTF16ToString(unsafe.Slice(text, length))
}

// MayChange reports whether this process may change a file, or replace it in its folder. It changes nothing.
func MayChange(path string) bool {
	may := func(path string, access uint32) bool {
		name, err := windows.UTF16PtrFromString(path)
		if err != nil {
			return true
		}
		const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
		handle, err := windows.CreateFile(name, access, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
		if err != nil {
			return err != windows.ERROR_ACCESS_DENIED //nolint:errorlint // a running program is in use, which is checked after the rights
		}
		_ = windows.CloseHandle(handle)
		return true
	}
	const deleteChild = 0x40 // FILE_DELETE_CHILD
	return may(path, windows.FILE_WRITE_DATA) || may(path, windows.DELETE) || may(filepath.Dir(path), deleteChild)
}

// A ProcessLoad is the use of processors by a process.
type ProcessLoad struct {
	PID, Parent uint32
	Busy        time.Duration // the time that it has had a processor
	Runs        bool          // a thread runs or waits for a processor
}

// ProcessLoads lists all processes.
func ProcessLoads() []ProcessLoad {
	buffer := make([]byte, 1<<18)
	var size uint32
	for windows.NtQuerySystemInformation(windows.SystemProcessInformation, unsafe.Pointer(&buffer[0]), uint32(len(buffer)), &size) != nil {
		if len(buffer) >= 1<<24 {
			return nil
		}
		buffer = make([]byte, 2*len(buffer))
	}
	type thread struct { // SYSTEM_THREAD_INFORMATION
		_           [3]int64
		_           uint32
		_           [3]uintptr
		_, _        int32
		_           uint32
		state, wait uint32
	}
	const waits, terminated = 5, 4
	var loads []ProcessLoad
	for at := uintptr(0); ; {
		p := (*windows.SYSTEM_PROCESS_INFORMATION)(unsafe.Pointer(&buffer[at])) //nolint:gosec // the system filled it in
		load := ProcessLoad{PID: uint32(p.UniqueProcessID), Parent: uint32(p.InheritedFromUniqueProcessID), Busy: 100 * time.Duration(p.UserTime+p.KernelTime)}
		for i := range uintptr(p.NumberOfThreads) {
			t := (*thread)(unsafe.Pointer(&buffer[at+unsafe.Sizeof(*p)+i*unsafe.Sizeof(thread{})])) //nolint:gosec // the system filled it in
			load.Runs = load.Runs || t.state != waits && t.state != terminated
		}
		if loads = append(loads, load); p.NextEntryOffset == 0 {
			return loads
		}
		at += uintptr(p.NextEntryOffset)
	}
}
