package sanitize

import (
	"strings"
	"unicode"
)

// maxPartSecret is the length of a secret, in letters and digits, up to which parts of it are found.
const maxPartSecret = 128

// HasPart reports whether the text contains a part of a secret, whatever its case and whatever stands between its letters
// and digits. A part has least letters and digits, and percent of those of the secret. A shorter secret counts as a whole.
func (s *SecretSet) HasPart(text string, least, percent int) bool {
	plain := lettersOf(text)
	if len(plain) < least {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for secret := range s.forms {
		whole := lettersOf(secret)
		size := max(least, (len(whole)*percent+99)/100)
		if len(whole) > maxPartSecret || len(whole) < size || size == 0 {
			continue
		}
		for i := range len(whole) - size + 1 {
			if strings.Contains(plain, whole[i:i+size]) {
				return true
			}
		}
	}
	return false
}

// lettersOf returns the letters and digits of the text in lower case.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
