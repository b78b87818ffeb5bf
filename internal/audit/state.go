package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// A state is the end of the chain: all data for the next record. It is in a small file
// beside the journal that every gateway maps, and locks before it appends. It is
// overwritten in place, within one sector, because that erases the old key, and because
// flushing and renaming a file would take milliseconds.
//
// It is written after the record. If the process ends between the two, the unknown records
// are found by following the chain with the state's key. If the computer crashes, and the
// file has lost records that were not yet on disk, the state is ahead of the file, and the
// next record reports the loss.
type state struct {
	next chainKey // of the record after seq
	seq  uint64   // of the last record
	last seal     // of the last record
	size int64    // of the file with that record

	first     uint64 // record of the file
	writtenAt int64  // when it was written, in Unix nanoseconds

	durable    uint64 // the last record that is known to be on disk
	anchored   uint64 // the last record with a scheduled anchor
	anchoredAt int64  // its time, in Unix nanoseconds

	boot [16]byte // of the computer that wrote the last record; zero if unknown
	mark chainKey // marks hidden values, so that equal ones can be recognised
}

const (
	stateMagic = "aaichn1\n"
	stateSize  = len(stateMagic) + 32 + 8 + 16 + 8 + 8 + 8 + 8 + 8 + 8 + 16 + 32 + sha256.Size
)

// A stateImage is an encoded state.
type stateImage [stateSize]byte

func (st *state) encode() (image stateImage) {
	b := append(image[:0], stateMagic...)
	b = append(b, st.next[:]...)
	b = binary.BigEndian.AppendUint64(b, st.seq)
	b = append(b, st.last[:]...)
	for _, n := range []uint64{uint64(st.size), st.first, uint64(st.writtenAt), st.durable, st.anchored, uint64(st.anchoredAt)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = append(b, st.boot[:]...)
	b = append(b, st.mark[:]...)
	sum := sha256.Sum256(b)
	copy(image[len(b):], sum[:])
	return image
}

// decodeState returns false for an invalid image, such as an empty or torn file.
func decodeState(image *stateImage) (st state, ok bool) {
	body := image[:stateSize-sha256.Size]
	sum := sha256.Sum256(body)
	if !bytes.Equal(sum[:], image[len(body):]) || string(body[:len(stateMagic)]) != stateMagic {
		return state{}, false
	}
	rest := body[len(stateMagic):]
	take := func(n int) []byte {
		field := rest[:n]
		rest = rest[n:]
		return field
	}
	number := func() uint64 { return binary.BigEndian.Uint64(take(8)) }
	copy(st.next[:], take(len(st.next)))
	st.seq = number()
	copy(st.last[:], take(len(st.last)))
	st.size, st.first, st.writtenAt = int64(number()), number(), int64(number())
	st.durable, st.anchored, st.anchoredAt = number(), number(), int64(number())
	copy(st.boot[:], take(len(st.boot)))
	copy(st.mark[:], take(len(st.mark)))
	return st, true
}

// advance advances the state to the next record, with seal s and a line of length bytes.
func (st *state) advance(s seal, length int) {
	st.seq++
	st.last = s
	st.next = st.next.next()
	st.size += int64(length)
}
