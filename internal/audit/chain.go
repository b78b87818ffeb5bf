package audit

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
)

// A chainKey seals one record. The next record's key is a hash of it, and each key is
// deleted after use. So today's key cannot seal a record of yesterday.
type chainKey [sha256.Size]byte

// A seal is the first half of an HMAC-SHA256, truncated as in RFC 4868.
type seal [sha256.Size / 2]byte

// Each value that is derived from a key has its own label, so that none can replace
// another.
const (
	ratchetWord = "aai journal 1: the key of the next record"
	markWord    = "aai journal 1: the key that marks hidden values"
	signWord    = "aai journal 1: the key that signs anchors"
)

func (k chainKey) derive(word string) chainKey {
	var buffer [96]byte
	return sha256.Sum256(append(append(buffer[:0], word...), k[:]...))
}

// next returns the key of the next record.
func (k chainKey) next() chainKey { return k.derive(ratchetWord) }

// ahead returns the key n records later.
func (k chainKey) ahead(n uint64) chainKey {
	for range n {
		k = k.next()
	}
	return k
}

func (k chainKey) seal(signed []byte) (s seal) {
	h := hmac.New(sha256.New, k[:])
	_, _ = h.Write(signed) // a hash never fails
	var sum [sha256.Size]byte
	copy(s[:], h.Sum(sum[:0]))
	return s
}

func (s seal) String() string { return hex.EncodeToString(s[:]) }

// A link is the chain's view of a record, which is one line of the file:
//
//	{"seq":7,"prev":"<seal of 6>", … ,"mac":"<seal>"}
//
// The seal covers every byte before `,"mac":`, so no canonical form is needed.
type link struct {
	seq        uint64 // counts from 1, across files
	prev, seal seal
	signed     []byte
}

const (
	seqField  = `{"seq":`
	prevField = `,"prev":"`
	macField  = `,"mac":"`
	lineEnd   = `"}`
	hexSeal   = 2 * len(seal{})
)

// appendLink appends the line of a record, including the newline. The body is the inside
// of a JSON object.
func appendLink(to []byte, seq uint64, prev seal, k chainKey, body []byte) ([]byte, seal) {
	begin := len(to)
	to = append(to, seqField...)
	to = strconv.AppendUint(to, seq, 10)
	to = append(to, prevField...)
	to = hex.AppendEncode(to, prev[:])
	to = append(to, `",`...)
	to = append(to, body...)
	s := k.seal(to[begin:])
	to = append(to, macField...)
	to = hex.AppendEncode(to, s[:])
	return append(to, lineEnd+"\n"...), s
}

// parseLink parses a line without the newline. It returns false for any line that is not
// in exactly the form that appendLink writes.
func parseLink(line []byte) (r link, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(seqField))
	if !ok {
		return r, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(prevField))
	if !ok || len(digits) == 0 || len(digits) > 19 || digits[0] == '0' {
		return r, false
	}
	seq, err := strconv.ParseUint(string(digits), 10, 63)
	if err != nil || len(rest) < hexSeal || !parseSeal(&r.prev, rest[:hexSeal]) {
		return r, false
	}
	tail := len(line) - len(macField) - hexSeal - len(lineEnd)
	if tail < 0 || string(line[tail:tail+len(macField)]) != macField || string(line[len(line)-len(lineEnd):]) != lineEnd ||
		!parseSeal(&r.seal, line[tail+len(macField):len(line)-len(lineEnd)]) {
		return r, false
	}
	r.seq, r.signed = seq, line[:tail]
	return r, true
}

func parseSeal(s *seal, text []byte) bool {
	n, err := hex.Decode(s[:], text)
	// Only one spelling is valid, so that no byte can change unnoticed.
	return err == nil && n == len(s) && string(text) == s.String()
}

// sealedBy reports whether the record was sealed with the key.
func (r link) sealedBy(k chainKey) bool {
	s := k.seal(r.signed)
	return hmac.Equal(s[:], r.seal[:])
}

// event decodes a record about the journal itself. For the entry of a call it returns an
// event without a Kind.
func (l link) event() event {
	if !bytes.Contains(l.signed, []byte(`"kind":"`+repairedKind)) && !bytes.Contains(l.signed, []byte(`"kind":"`+prunedKind)) {
		return event{}
	}
	var e event
	if l.decode(&e) != nil || e.Kind != repairedKind && e.Kind != prunedKind {
		return event{}
	}
	return e
}

// decode decodes the record's JSON.
func (l link) decode(to any) error { return json.Unmarshal(append(bytes.Clone(l.signed), '}'), to) }

// splitLines yields each line of r with its newline, which the last one may lack. A line that is too
// long comes in parts. A text is valid until the next one.
func splitLines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewReaderSize(r, maxLine)
		for {
			text, err := lines.ReadSlice('\n')
			ended := errors.Is(err, io.EOF)
			if err != nil && !ended && !errors.Is(err, bufio.ErrBufferFull) {
				yield(nil, fmt.Errorf("read the journal: %w", err))
				return
			}
			if len(text) > 0 && !yield(text, nil) || ended {
				return
			}
		}
	}
}

// parseText is parseLink for a line with or without its newline.
func parseText(text []byte) (link, bool) { return parseLink(bytes.TrimSuffix(text, []byte("\n"))) }

// first returns the number of the record that a file began with, if l is its first remaining
// record. A repair record counts the records lost before it.
func (l link) first() uint64 {
	if e := l.event(); e.Kind == repairedKind && e.Lost < l.seq {
		return l.seq - e.Lost
	}
	return l.seq
}
