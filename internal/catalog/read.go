package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/gybob/aai-gateway"
)

// readRegular reads a regular file of at most 8 MiB. It rejects other files (a folder, a FIFO, a
// device) without blocking, even if one replaces the file in the meantime.
func readRegular(name string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	if err := checkRegular(info); err != nil {
		return nil, info, err
	}
	file, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, info, unreadable(err)
	}
	defer func() { _ = file.Close() }()
	if info, err = file.Stat(); err != nil {
		return nil, nil, unreadable(err)
	}
	if err := checkRegular(info); err != nil {
		return nil, info, err
	}
	source := make([]byte, 0, info.Size()+1)
	source, err = readAll(source, io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, info, unreadable(err)
	}
	if len(source) > maxBytes {
		return nil, info, tooLong(int64(len(source)))
	}
	return source, info, nil
}

// readAll reads to the end into a buffer that is probably large enough.
func readAll(buffer []byte, r io.Reader) ([]byte, error) {
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			return buffer, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func checkRegular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return aai.Errorf(aai.DescriptorInvalid, "is a folder; expected a regular file")
	case !info.Mode().IsRegular():
		return aai.Errorf(aai.DescriptorInvalid, "is no regular file (%s); expected one", info.Mode().Type())
	case info.Size() > maxBytes:
		return tooLong(info.Size())
	}
	return nil
}

func tooLong(size int64) error {
	return aai.Errorf(aai.DescriptorInvalid, "is %d bytes or more; expected at most %d", size, maxBytes)
}

func unreadable(err error) error {
	return &aai.Error{Code: aai.DescriptorInvalid, Message: "cannot be read: " + reason(err), Err: err}
}

// ReadFile reads a descriptor from a regular file of at most 8 MiB. Its error is an *aai.Error
// with code AAI_JSON_INVALID.
func ReadFile(name string) ([]byte, error) {
	source, _, err := readRegular(name)
	return source, err
}
