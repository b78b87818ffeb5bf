// Package diskspace measures the free space of disks, so that stores stop growing before a disk is
// full.
package diskspace

import (
	"os"

	"github.com/gybob/aai-gateway"
)

// Reserve is the free space, in bytes, below which a store must not grow. The journal ignores it,
// because calls that run must be recorded.
const Reserve = 64 << 20

const megabyte = 1 << 20

// Check returns an error if the disk of the folder, which must exist, has less free space than
// Reserve. The result is nil if the free space is unknown.
func Check(folder string) error {
	free, known := Free(folder)
	if !known || free >= Reserve {
		return nil
	}
	return FullError(folder, free, Reserve)
}

// allocateByWriting occupies the disk with zeros; Truncate alone would leave a hole.
func allocateByWriting(f *os.File, size int64) error {
	_, err := f.WriteAt(make([]byte, size), 0)
	return err
}

// FullError returns the error for a disk whose free bytes are less than the needed bytes.
func FullError(folder string, free, needed int64) *aai.Error {
	e := aai.Errorf(aai.RecordFailed, "the disk of %s is nearly full: %.1f MB are free, %d MB are needed", folder,
		float64(free)/megabyte, needed/megabyte)
	e.Delivery, e.Hint = aai.NotDelivered, FullHint
	return e
}

// FullHint is the next step of a caller after a full disk.
const FullHint = "Free some space on that disk, then repeat the call; aai-gateway doctor shows what can be deleted."
