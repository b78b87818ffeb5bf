package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// size measures the program's size on disk, and its memory when it has listed its tools and is
// idle.
func (w *world) size(b *testing.B) {
	program, floor := fileSize(b, w.gateway), fileSize(b, w.bare)
	w.table.judge("stripped binary", megabytes(program), "bare SDK "+megabytes(floor), megabytes(program-floor)+" more",
		"≤ 38 MB", program <= 38e6)
	bare := w.resident(b, w.bare, 0, 1)
	memory := w.resident(b, w.gateway, 10, listed(10))
	w.table.judge("idle memory (VmRSS), 10 descriptors", megabytes(memory), "bare SDK "+megabytes(bare), megabytes(memory-bare)+" more",
		"≤ 26 MB", memory <= 26e6)
	for _, n := range []int{100, 1000} {
		many := w.resident(b, w.gateway, n, listed(n))
		figure, compared := fmt.Sprintf("idle memory (VmRSS), %d descriptors", n), megabytes(many-memory)+" more"
		w.table.judge(figure, megabytes(many), "10 descriptors "+megabytes(memory), compared, "≤ 38 MB", many <= 38e6)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(program), "bytes")
	b.ReportMetric(float64(memory), "B-resident")
}

func fileSize(b *testing.B, name string) int64 {
	b.Helper()
	info, err := os.Stat(name)
	assert.NilError(b, err)
	return info.Size()
}

// resident returns the median memory of five processes, each after its tool list, when it has used no
// processor time for a second.
func (w *world) resident(b *testing.B, program string, descriptors, tools int) int64 {
	b.Helper()
	h := newHome(b, descriptors)
	var sizes samples // of bytes
	for range roundLimit(b, 5) {
		s := startServer(b, h.env(w.bus.Address), program)
		s.handshake(b, tools)
		for used := time.Duration(-1); used != processorTime(b, s.pid()); time.Sleep(time.Second) {
			used = processorTime(b, s.pid())
		}
		sizes.add(time.Duration(vmRSS(b, s.pid())))
		s.end(b)
	}
	return int64(sizes.median())
}

// vmRSS returns the resident set of a process in bytes; see proc_pid_status(5).
func vmRSS(b *testing.B, pid int) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	assert.NilError(b, err)
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kilobytes int64
	_, err = fmt.Sscanf(rest, "%d kB", &kilobytes)
	assert.NilError(b, err)
	return kilobytes << 10
}

// processorTime returns the processor time of a process, user and system; see proc_pid_stat(5). A
// tick is 10 ms on every Linux that Go runs on.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	assert.NilError(b, err)
	const tick = 10 * time.Millisecond
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may contain blanks
	fields := strings.Fields(rest)
	assert.Assert(b, len(fields) >= 13, "/proc/%d/stat: %s", pid, stat)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	assert.NilError(b, errors.Join(err1, err2))
	return time.Duration(user+system) * tick
}
