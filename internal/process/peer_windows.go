package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
)

// PeerIdentity returns the identity of the program that created the pipe in, which survives updates. It is
// empty if uncertain: for a shell, an interpreter, and a program that starts others for any user. A launcher
// between the two passes the pipe on, and does not count.
func PeerIdentity(in *os.File) string {
	pid := pipeServer(in)
	if pid == 0 || pid == uint32(os.Getpid()) { //nolint:gosec // process ids have 32 bits
		return ""
	}
	peer, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(peer) //nolint:errcheck // it was only read
	if !startedBefore(peer, windows.CurrentProcess()) {
		return "" // the id was reused
	}
	path := executableOf(peer)
	name := ProgramName(strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe"))
	if path == "" || IsInterpreter(name) || isLoader(name) || startsOthers(name) {
		return ""
	}
	return quotePath(newPathFolder().fold(filepath.ToSlash(path)))
}

// startsOthers reports whether a program runs others by command, or for any user.
func startsOthers(name string) bool {
	return slices.Contains(launcherNames(), name) || slices.Contains([]string{
		"cmd", "powershell", "pwsh", "wscript", "cscript", "mshta", "rundll32", "conhost", "openconsole", "windowsterminal", "wt",
		"explorer", "services", "svchost", "taskhostw", "winlogon", "userinit", "wsl", "start", "winedevice", "wineserver",
	}, name)
}

// pipeServer returns the id of the process that created a pipe; 0 if the file is none.
func pipeServer(in *os.File) (pid uint32) {
	if windows.GetNamedPipeServerProcessId(windows.Handle(in.Fd()), &pid) != nil {
		return 0
	}
	return pid
}

// executableOf returns the path of the process's program, or "".
func executableOf(process windows.Handle) string {
	name := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(name))
	if windows.QueryFullProcessImageName(process, 0, &name[0], &size) != nil {
		return ""
	}
	return windows.UTF16ToString(name[:size])
}

// startedBefore reports whether a process has started no later than another one.
func startedBefore(one, other windows.Handle) bool {
	var begun, end, kernel, user, otherBegun windows.Filetime
	if windows.GetProcessTimes(one, &begun, &end, &kernel, &user) != nil ||
		windows.GetProcessTimes(other, &otherBegun, &end, &kernel, &user) != nil {
		return false
	}
	return begun.Nanoseconds() <= otherBegun.Nanoseconds()
}

// HostChecker returns a function that reports whether a process hosts this one, as the program that created
// the pipe in. Parents are unknown on this system.
func HostChecker(in *os.File) func(pid int) bool {
	host := uint32(0)
	if in != nil {
		host = pipeServer(in)
	}
	return func(pid int) bool { return host != 0 && pid == int(host) }
}
