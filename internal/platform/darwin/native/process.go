//go:build darwin || axdouble

package native

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// The offsets and sizes are those of proc_info.h.
const (
	basicInfo, basicInfoSize, parentOffset, startedOffset = 3, 136, 16, 120
	taskInfo, taskInfoSize, runningOffset                 = 4, 96, 88
	maxPath                                               = 4096
)

// Executable returns the path of a process's program; "" if the process has ended or the system does not tell.
func (a *API) Executable(pid int) string {
	buffer := make([]byte, maxPath)
	n := a.ProcPIDPath(int32(pid), &buffer[0], uint32(len(buffer)))
	if n <= 0 || int(n) > len(buffer) {
		return ""
	}
	return string(buffer[:n])
}

// Started returns the start time of a process as a text, and the process that started it. The text is "" if the process has ended.
func (a *API) Started(pid int) (started string, parent int) {
	buffer := make([]byte, basicInfoSize)
	if a.ProcPIDInfo(int32(pid), basicInfo, 0, &buffer[0], basicInfoSize) != basicInfoSize {
		return "", 0
	}
	seconds, micros := binary.LittleEndian.Uint64(buffer[startedOffset:]), binary.LittleEndian.Uint64(buffer[startedOffset+8:])
	return strconv.FormatUint(seconds, 10) + "." + strconv.FormatUint(micros, 10), int(binary.LittleEndian.Uint32(buffer[parentOffset:]))
}

// RunningThreads returns the number of threads of a process that run or are ready to; known is false if the system does not tell.
func (a *API) RunningThreads(pid int) (n int, known bool) {
	buffer := make([]byte, taskInfoSize)
	if a.ProcPIDInfo(int32(pid), taskInfo, 0, &buffer[0], taskInfoSize) != taskInfoSize {
		return 0, false
	}
	return int(binary.LittleEndian.Uint32(buffer[runningOffset:])), true
}

// CodeHash returns the hash of a process's signed code, in hexadecimal; "" for a program without a signature.
func (a *API) CodeHash(pid int) string {
	const codeHash, size = 5, 20 // CS_OPS_CDHASH
	if a.Csops == nil {
		return ""
	}
	buffer := make([]byte, size)
	if a.Csops(int32(pid), codeHash, &buffer[0], size) != 0 {
		return ""
	}
	return hex.EncodeToString(buffer)
}

// Arguments returns the command line of a process; nil if the system does not tell.
func (a *API) Arguments(pid int) []string {
	const kernel, arguments, longest = 1, 49, 1 << 20 // CTL_KERN, KERN_PROCARGS2, ARG_MAX
	name := []int32{kernel, arguments, int32(pid)}
	buffer := make([]byte, longest)
	size := uintptr(len(buffer))
	if a.Sysctl(&name[0], uint32(len(name)), &buffer[0], &size, 0, 0) != 0 || size < 4 || size > longest {
		return nil
	}
	return parseArguments(buffer[:size])
}

// parseArguments parses the number of arguments, the path of the program, zeros, and the arguments.
func parseArguments(buffer []byte) []string {
	count := int(binary.LittleEndian.Uint32(buffer))
	_, rest, _ := bytes.Cut(buffer[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	var args []string
	for range count {
		arg, after, found := bytes.Cut(rest, []byte{0})
		if !found {
			return nil
		}
		args, rest = append(args, string(arg)), after
	}
	return args
}
