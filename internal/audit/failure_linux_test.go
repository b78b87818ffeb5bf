package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// TestReadOnlyFolder uses a folder that even root cannot write to.
func TestReadOnlyFolder(t *testing.T) {
	for _, path := range []string{"/proc/audit.jsonl", "/proc/aai/audit.jsonl"} {
		assert.Check(t, New(path).Record(t.Context(), received("c1")) != nil, "%s: recorded", path)
	}
}

// TestFullFileSystem fills a real disk of 3 MB, in a namespace. Without permission for
// namespaces, TestFullDisk tests the same with a limit.
func TestFullFileSystem(t *testing.T) { inNamespace(t, "full file system") }

// TestReserve fills a real disk of 80 MB, in a namespace.
func TestReserve(t *testing.T) { inNamespace(t, "reserve") }

// inNamespace runs the child in a namespace where it can mount a disk.
func inNamespace(t *testing.T, child string) {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	assert.NilError(t, err)
	for _, extra := range []uintptr{0, syscall.CLONE_NEWUSER} {
		c := exec.CommandContext(t.Context(), self)
		c.Dir = folder
		c.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+child)
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | extra}
		if extra != 0 {
			c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		}
		var out bytes.Buffer
		c.Stderr = &out
		switch err := c.Run(); {
		case err == nil:
			return
		case errors.Is(err, syscall.EPERM), strings.Contains(out.String(), noNamespace):
			t.Logf("%v\n%s", err, out.String())
		default:
			t.Fatalf("%v\n%s", err, out.String())
		}
	}
}

const noNamespace = "no file system of its own"

// mountDisk mounts an empty disk at the working folder, in the namespace of this process.
func mountDisk(size string) (here string, err error) {
	if here, err = os.Getwd(); err != nil {
		return "", err
	}
	err = errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("none", here, "tmpfs", 0, size), os.Chdir(here))
	if err != nil {
		return "", fmt.Errorf("%s: %w", noNamespace, err)
	}
	return here, nil
}

// fillFileSystem records until the disk is full, frees space, and continues.
func fillFileSystem() error {
	here, err := mountDisk("size=3m")
	if err != nil {
		return err
	}
	if err := fullFromTheStart(here); err != nil {
		return err
	}
	path := filepath.Join(here, "audit.jsonl")
	j := New(path)
	e := reading("c")
	e.App = strings.Repeat("x", 5000)
	kept := 0
	for ; j.Record(nil, e) == nil; kept++ { //nolint:staticcheck // Record has no use for a context
		if kept == 100 {
			if err := os.WriteFile("ballast", make([]byte, 1<<20), 0o600); err != nil {
				return err
			}
		}
	}
	for range 50 {
		if err := j.Record(nil, e); !errors.Is(err, syscall.ENOSPC) { //nolint:staticcheck // as above
			return fmt.Errorf("on a disk that is full: %w", err)
		}
	}
	if err := os.Remove("ballast"); err != nil {
		return err
	}
	if err := errors.Join(j.Record(nil, mutation("after")[0]), j.Close()); err != nil { //nolint:staticcheck // as above
		return err
	}
	j = New(path)
	v, err := j.Verify(context.Background())
	if err = errors.Join(err, j.Close()); err != nil || v.Verdict != answer.Intact || v.Records != uint64(kept)+1 || len(v.Repairs) > 0 {
		return fmt.Errorf("%d were recorded: %+v, %w", kept+1, v, err)
	}
	return readOnly(here, path, v.Records)
}

// fullFromTheStart checks that two gateways on a full disk both fail, and that neither
// waits for the other.
func fullFromTheStart(disk string) error {
	ballast, err := os.Create("everything")
	if err != nil {
		return err
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	path := filepath.Join(disk, "first", "audit.jsonl")
	one, other := New(path), New(path)
	other.stateFile.lockTimeout = 0 // a held lock is an error at once
	for _, j := range []*Journal{one, other, one, other} {
		if err := j.Record(nil, received("c1")); !errors.Is(err, syscall.ENOSPC) { //nolint:staticcheck // Record has no use for a context
			return fmt.Errorf("on a disk that was full before: %w", err)
		}
	}
	return errors.Join(one.Close(), other.Close(), ballast.Close(), os.RemoveAll(filepath.Dir(path)), os.Remove("everything"))
}

// readOnly remounts the disk read-only and checks that all records are readable.
func readOnly(disk, path string, records uint64) error {
	if err := syscall.Mount("none", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	j := New(path)
	if err := j.Ready(context.Background()); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("a disk that can only be read is ready: %w", err)
	}
	v, err := j.Verify(context.Background())
	if err != nil || v.Verdict != answer.Intact || v.Records != records {
		return fmt.Errorf("read only: %+v, %w", v, err)
	}
	past, err := j.History(context.Background(), Filter{Limit: 3})
	if err != nil || len(past) != 3 {
		return fmt.Errorf("read only: %d calls, %w", len(past), err)
	}
	return j.Close()
}

// reserveOnFullFileSystem fills a disk of 80 MB. Then no call begins, but calls end, and more of
// those that ran. With space, calls begin again and the reserve is filled.
func reserveOnFullFileSystem() error {
	here, err := mountDisk("size=80m")
	if err != nil {
		return err
	}
	j := New(filepath.Join(here, "audit.jsonl"))
	write := func(e *aai.Entry) error { return j.Record(context.Background(), e) }
	begins, ends := mutation("c")[0], *mutation("c")[1]
	ends.App, ends.Ran = strings.Repeat("x", 5000), true
	if err := write(begins); err != nil || j.reserveSize() != reserveBytes {
		return fmt.Errorf("a reserve of %d bytes: %w", j.reserveSize(), err)
	}
	ballast, err := os.Create("everything")
	if err != nil {
		return err
	}
	for _, size := range []int{1 << 20, 4096} {
		for err = nil; err == nil; {
			_, err = ballast.Write(make([]byte, size))
		}
	}
	for err = nil; err == nil; {
		err = write(begins)
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk of "+here+" is nearly full: 0.0 MB are free, 4 MB are needed") {
		return fmt.Errorf("no room for an act: %w", err)
	}
	refused := ends
	refused.Ran, refused.Code = false, ""
	counts := [2]int{}
	for i, e := range []*aai.Entry{&refused, &ends} {
		for ; write(e) == nil; counts[i]++ {
			if err := write(begins); !errors.Is(err, syscall.ENOSPC) && j.reserveSize() > 0 && counts[i]%50 == 49 {
				return fmt.Errorf("an act used the reserve: %w", err)
			}
		}
	}
	if counts[0] < 300 || counts[1] < 300 || j.reserveSize() != 0 {
		return fmt.Errorf("%d ends of refused calls, %d of others, %d bytes are left", counts[0], counts[1], j.reserveSize())
	}
	if err := errors.Join(ballast.Close(), os.Remove("everything"), write(begins)); err != nil || j.reserveSize() != reserveBytes {
		return fmt.Errorf("with space again, a reserve of %d bytes: %w", j.reserveSize(), err)
	}
	v, err := j.Verify(context.Background())
	if err = errors.Join(err, j.Close()); err != nil || v.Verdict != answer.Intact {
		return fmt.Errorf("%+v, %w", v, err)
	}
	return nil
}
