package named

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 names it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A seed makes one-time codes by RFC 6238.
type seed struct {
	key    []byte
	hash   func() hash.Hash
	digits int
	period time.Duration
}

// parseSeed reads a seed in base32, or an otpauth:// address with one.
func parseSeed(text string) (seed, error) {
	s, secret := seed{hash: sha1.New, digits: 6, period: 30 * time.Second}, strings.TrimSpace(text)
	if u, err := url.Parse(secret); err == nil && u.Scheme == "otpauth" {
		if u.Host != "totp" {
			return s, errors.New("expected otpauth://totp/…; other kinds of codes are not supported")
		}
		q := u.Query()
		secret = q.Get("secret")
		if err := s.parseOptions(q); err != nil {
			return s, err
		}
	}
	secret = strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "=", "").Replace(secret))
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil || len(key) < 10 {
		return s, errors.New("expected a seed in base32 of at least 16 characters, or an otpauth:// address")
	}
	s.key = key
	return s, nil
}

// parseOptions reads the parameters of an otpauth:// address.
func (s *seed) parseOptions(q url.Values) error {
	hashes := map[string]func() hash.Hash{"": sha1.New, "SHA1": sha1.New, "SHA256": sha256.New, "SHA512": sha512.New}
	if s.hash = hashes[strings.ToUpper(q.Get("algorithm"))]; s.hash == nil {
		return errors.New("the algorithm of the otpauth:// address is not supported; expected SHA1, SHA256 or SHA512")
	}
	if text := q.Get("digits"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 6 || n > 8 {
			return errors.New("the number of digits in the otpauth:// address is not supported; expected 6 to 8")
		}
		s.digits = n
	}
	if text := q.Get("period"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 10 || n > 300 {
			return errors.New("the period in the otpauth:// address is not supported; expected 10 to 300 seconds")
		}
		s.period = time.Duration(n) * time.Second
	}
	return nil
}

// step returns the number of the period that contains the time.
func (s seed) step(at time.Time) int64 { return at.Unix() / int64(s.period/time.Second) }

// code returns the code of a period.
func (s seed) code(step int64) string {
	mac := hmac.New(s.hash, s.key)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash never fails
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	value := binary.BigEndian.Uint32(sum[at:]) & 0x7fffffff
	power := uint32(1)
	for range s.digits {
		power *= 10
	}
	return fmt.Sprintf("%0*d", s.digits, value%power)
}
