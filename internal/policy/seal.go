package policy

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"time"
)

// sealLifetime is the time in which a question may be answered: people need time to read.
const sealLifetime = 5 * time.Minute

// The reasons for rejecting an answer.
var (
	errSealForged  = errors.New("its seal is not from this gateway")
	errSealExpired = errors.New("its question was asked too long ago")
	errSealUsed    = errors.New("it was used before")
	errChannel     = errors.New("its question may not be asked through this channel")
)

// A sealer binds answers to questions. A seal is a nonce, an expiry and a MAC over both
// and over the request; the key never leaves the process. A seal is valid for one answer.
type sealer struct {
	key [32]byte

	mu   sync.Mutex
	used map[nonce]time.Time // the seal's expiry
}

type nonce [16]byte

const sealSize = len(nonce{}) + 8 + sha256.Size

func newSealer() *sealer {
	s := &sealer{used: make(map[nonce]time.Time)}
	_, _ = rand.Read(s.key[:]) // crypto/rand never fails; it ends the process instead
	return s
}

// seal returns a new seal for the request's binding.
func (s *sealer) seal(asked [sha256.Size]byte, now time.Time) string {
	b := make([]byte, 0, sealSize)
	var n nonce
	_, _ = rand.Read(n[:])
	b = append(b, n[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(sealLifetime).UnixNano()))
	return base64.RawURLEncoding.EncodeToString(s.mac(b, asked))
}

// open consumes the seal, or returns the reason for rejecting it. Of the seals of a
// question about several calls it consumes the one of this call.
func (s *sealer) open(seal string, asked [sha256.Size]byte, now time.Time) error {
	failure := errSealForged
	for i, one := range strings.SplitN(seal, sealMark, maxMergedCalls+1) {
		err := s.openOne(one, asked, now)
		if err == nil || i == maxMergedCalls {
			return err
		}
		if !errors.Is(err, errSealForged) {
			failure = err
		}
	}
	return failure
}

func (s *sealer) openOne(seal string, asked [sha256.Size]byte, now time.Time) error {
	b, err := base64.RawURLEncoding.DecodeString(seal)
	if err != nil || len(b) != sealSize {
		return errSealForged
	}
	head := b[:len(b)-sha256.Size]
	if !hmac.Equal(b, s.mac(append([]byte(nil), head...), asked)) {
		return errSealForged
	}
	expires := time.Unix(0, int64(binary.BigEndian.Uint64(head[len(nonce{}):])))
	if now.After(expires) {
		return errSealExpired
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := nonce(head[:len(nonce{})])
	if _, ok := s.used[n]; ok {
		return errSealUsed
	}
	for old, until := range s.used {
		if now.After(until) {
			delete(s.used, old)
		}
	}
	s.used[n] = expires
	return nil
}

// mac appends the MAC of head and asked to head.
func (s *sealer) mac(head []byte, asked [sha256.Size]byte) []byte {
	m := hmac.New(sha256.New, s.key[:])
	m.Write(head)
	m.Write(asked[:])
	return m.Sum(head)
}
