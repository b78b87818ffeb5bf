package aai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// A veil takes secrets out of texts. It costs a time and a memory that grow with the
// secrets and the text, and no faster, whatever is in them: few and short secrets are
// looked for in every way of writing, and taken out; a text that shares a piece with
// many or long ones is withheld whole. Nothing is made before it is needed.
type veil struct {
	few     []string
	forms   []string // of few, once they are needed
	many    []string
	withAll bool // something is in many
}

// What is taken out exactly: so many secrets, of so many bytes together.
const (
	fewSecrets = 32
	fewBytes   = 512
)

// withheld stands in the place of a text that repeats a part of a long secret.
const withheld = "[withheld: it repeats a part of a long secret]"

func newVeil(secrets []string) *veil {
	total := 0
	for _, secret := range secrets {
		total += len(secret)
	}
	if len(secrets) <= fewSecrets && total <= fewBytes {
		return &veil{few: secrets}
	}
	return &veil{many: secrets, withAll: true}
}

// over returns the text without the secrets.
func (v *veil) over(text string) string {
	switch {
	case v.withAll:
		if sharesPiece(text, v.many) {
			return withheld
		}
		return text
	case !mayRepeat(text, v.few):
		return text
	case v.forms == nil:
		v.forms = Writings(v.few)
	}
	return withoutAll(text, v.forms)
}

// mayRepeat reports whether the text may hold one of the secrets in some writing:
// but for base64 and hexadecimal, all of them leave letters and digits that follow
// one another as they are.
func mayRepeat(text string, secrets []string) bool {
	if strings.Contains(text, cutMark) {
		return len(secrets) > 0
	}
	for _, secret := range secrets {
		run := longestRun(secret)
		if len(run) < shortSecret || strings.Contains(text, run) {
			return true
		}
		for _, form := range encodings(secret) {
			if strings.Contains(text, form) {
				return true
			}
		}
	}
	return false
}

// encodings are the writings of a text in which none of it can be read.
func encodings(secret string) []string {
	b := []byte(secret)
	low := hex.EncodeToString(b)
	return []string{base64.RawStdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b), low, strings.ToUpper(low)}
}

// longestRun is the longest part of a text of ASCII letters and digits alone.
func longestRun(s string) string {
	best, begin := "", 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isPlain(s[i]) {
			continue
		}
		if i-begin > len(best) {
			best = s[begin:i]
		}
		begin = i + 1
	}
	return best
}

func isPlain(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// piece is how many bytes of a long secret give it away.
const piece = 12

// sharesPiece reports whether the text holds a piece of one of the secrets, or the
// whole of a shorter one, in one of the usual writings.
func sharesPiece(text string, secrets []string) bool {
	known := piecesOf(text)
	for _, secret := range secrets {
		if len(secret) < piece {
			if len(secret) >= shortSecret && strings.Contains(text, secret) {
				return true
			}
			continue
		}
		quoted, _ := json.Marshal(secret) // a text can be encoded
		for _, form := range append(encodings(secret), secret, string(quoted), url.QueryEscape(secret)) {
			if known.share(form) {
				return true
			}
		}
	}
	return false
}

// pieces are those of a text, with a rough table in front that says for most others
// that they are none.
type pieces struct {
	rough [1 << 10]uint64
	exact map[string]struct{}
}

func piecesOf(text string) *pieces {
	p := &pieces{exact: make(map[string]struct{})}
	for i := range len(text) - piece + 1 {
		at := spot(text[i:])
		p.rough[at>>6] |= 1 << (at & 63)
		p.exact[text[i:i+piece]] = struct{}{}
	}
	return p
}

func (p *pieces) share(text string) bool {
	for i := range len(text) - piece + 1 {
		if at := spot(text[i:]); p.rough[at>>6]&(1<<(at&63)) == 0 {
			continue
		}
		if _, known := p.exact[text[i:i+piece]]; known {
			return true
		}
	}
	return false
}

// spot is a hash of 16 bits of the first bytes of a text.
func spot(text string) uint64 {
	const odd = 0x9e3779b97f4a7c15
	return binary.LittleEndian.Uint64([]byte(text[:8])) * odd >> 48
}
