package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// HideEnvironment overwrites the values of variables for which secret returns true, as other
// processes of the account see them, such as started servers. The variables of this process stay
// unchanged. Processes that may read its memory still see them.
func HideEnvironment(secret func(name string) bool) error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const start, end = 50 - 3, 51 - 3 // field numbers of proc(5), without the first two fields
	if len(fields) <= end {
		return errors.New("the system does not say where the environment is")
	}
	from, err := strconv.ParseInt(string(fields[start]), 10, 64)
	if err != nil {
		return err
	}
	to, err := strconv.ParseInt(string(fields[end]), 10, 64)
	if err != nil || to <= from || to-from > 8<<20 {
		return errors.New("the system does not say where the environment is")
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer mem.Close() //nolint:errcheck // it is written at once
	all := make([]byte, to-from)
	if _, err := mem.ReadAt(all, from); err != nil {
		return err
	}
	for at := 0; at < len(all); {
		size := bytes.IndexByte(all[at:], 0)
		if size < 0 {
			size = len(all) - at
		}
		name, value, _ := bytes.Cut(all[at:at+size], []byte("="))
		if len(value) > 0 && secret(string(name)) {
			if _, err := mem.WriteAt(bytes.Repeat([]byte("*"), len(value)), from+int64(at+len(name)+1)); err != nil {
				return err
			}
		}
		at += size + 1
	}
	return nil
}
