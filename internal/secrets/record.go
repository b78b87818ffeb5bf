package secrets

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	magic       = "AAISEAL1"
	keySize     = chacha20poly1305.KeySize // of the master key, in bytes
	keyIDSize   = 16
	headSize    = len(magic) + keyIDSize + 2
	sealingSize = chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead
)

// Limits of a record, in bytes: MaxIDLength for its ID, MaxRecordSize for its content.
const (
	MaxIDLength   = 512
	MaxRecordSize = 1 << 20
)

// maxSealed is the maximum size of a record's file.
const maxSealed = headSize + sealingSize + MaxIDLength + sealingSize + MaxRecordSize

// The faults of a record's file.
var (
	errNotSealed = errors.New("it is no sealed record, or it was cut")
	errTampered  = errors.New("it was changed, damaged, or is another record")
)

// A sealer holds the values derived from a master key.
type sealer struct {
	id     [keyIDSize]byte // identifies the key and reveals nothing about it
	aead   cipher.AEAD
	naming []byte // the key for hashing record IDs into file names
}

func newSealer(master []byte) (*sealer, error) {
	if len(master) != keySize {
		return nil, fmt.Errorf("the master key has %d bytes; expected %d", len(master), keySize)
	}
	k := new(sealer)
	var records []byte
	for _, d := range []struct {
		purpose string
		size    int
		put     func([]byte)
	}{
		{"aai-gateway key id v1", keyIDSize, func(b []byte) { copy(k.id[:], b) }},
		{"aai-gateway records v1", keySize, func(b []byte) { records = b }},
		{"aai-gateway names v1", sha256.Size, func(b []byte) { k.naming = b }},
	} {
		b, err := hkdf.Key(sha256.New, master, nil, d.purpose, d.size)
		if err != nil {
			return nil, err
		}
		d.put(b)
	}
	var err error
	k.aead, err = chacha20poly1305.NewX(records)
	return k, err
}

// name returns the ID of the master key for people and for key.json.
func (k *sealer) name() string { return hex.EncodeToString(k.id[:]) }

// fileOf returns the name of the record's file, without its extension.
func (k *sealer) fileOf(id string) string {
	h := hmac.New(sha256.New, k.naming)
	h.Write([]byte(id))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// seal returns the content of a record's file.
func (k *sealer) seal(id string, content []byte) []byte {
	b := make([]byte, 0, headSize+2*sealingSize+len(id)+len(content))
	b = append(b, magic...)
	b = append(b, k.id[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(sealingSize+len(id)))
	b = k.box(b, []byte(id), slices.Clone(b))
	return k.box(b, content, slices.Concat(b, []byte(id)))
}

// box appends the sealed text to b. The associated data may not share b's memory.
func (k *sealer) box(b, text, associated []byte) []byte {
	nonce := make([]byte, chacha20poly1305.NonceSizeX)
	_, _ = rand.Read(nonce) // never fails
	return k.aead.Seal(append(b, nonce...), nonce, text, associated)
}

// A sealed holds the parts of a record's file.
type sealed struct {
	head, name, content []byte // name and content are boxes
}

// split returns the parts. It returns a *wrongKeyError for a record of another key.
func (k *sealer) split(b []byte) (sealed, error) {
	if len(b) < headSize || string(b[:len(magic)]) != magic {
		return sealed{}, errNotSealed
	}
	n := int(binary.BigEndian.Uint16(b[headSize-2:]))
	if n < sealingSize+1 || n > sealingSize+MaxIDLength || len(b) < headSize+n+sealingSize {
		return sealed{}, errNotSealed
	}
	if id := b[len(magic) : len(magic)+keyIDSize]; string(id) != string(k.id[:]) {
		return sealed{}, &wrongKeyError{hex.EncodeToString(id)}
	}
	return sealed{b[:headSize], b[headSize : headSize+n], b[headSize+n:]}, nil
}

// A wrongKeyError names the key of a record that another key sealed.
type wrongKeyError struct{ id string }

func (e *wrongKeyError) Error() string {
	return "it is sealed with another master key, " + shortID(e.id)
}

// open returns the content of the record of that ID. The content is not nil.
func (k *sealer) open(id string, b []byte) ([]byte, error) {
	parts, err := k.split(b)
	if err != nil {
		return nil, err
	}
	content, err := k.unbox(parts.content, slices.Concat(parts.head, parts.name, []byte(id)))
	if err != nil {
		return nil, err
	}
	if content == nil {
		content = []byte{}
	}
	return content, nil
}

// openID returns the ID of the record in the file, if the whole file is valid.
func (k *sealer) openID(b []byte) (string, error) {
	parts, err := k.split(b)
	if err != nil {
		return "", err
	}
	id, err := k.unbox(parts.name, parts.head)
	if err == nil {
		_, err = k.open(string(id), b)
	}
	if err != nil {
		return "", err
	}
	return string(id), nil
}

func (k *sealer) unbox(box, associated []byte) ([]byte, error) {
	nonce, text := box[:chacha20poly1305.NonceSizeX], box[chacha20poly1305.NonceSizeX:]
	plain, err := k.aead.Open(nil, nonce, text, associated)
	if err != nil {
		return nil, errTampered
	}
	return plain, nil
}

// shortID returns the part of a key's ID that is shown to people.
func shortID(id string) string { return id[:min(len(id), 8)] }
