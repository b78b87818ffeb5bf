package sanitize

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/lexicon"
)

// IsSecretName reports whether a property with the name probably holds a secret: a password, a
// token, an API key, a cookie, a PIN and the like. It looks for short words at the ends of words
// only: "footprint" is no "otp", "passengers" no "pass" and "shipping" no "pin". In doubt it
// returns true: "max_tokens" is secret unless its value is a number; see [IsCountName].
func IsSecretName(name string) bool {
	letters := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name))
	if lexicon.HasSecretPart(letters) {
		return true
	}
	all := partsOf(name)
	if len(all) > 0 && all[len(all)-1] == "auth" { // "auth_type" holds no secret
		return true
	}
	for i, word := range all {
		if lexicon.IsSecretWord(word) {
			return true
		}
		word = strings.TrimRight(word, "0123456789")
		if lexicon.IsSecretWord(word) || strings.HasSuffix(word, "pass") || strings.HasPrefix(word, "otp") || strings.HasSuffix(word, "otp") {
			return true
		}
		if word == "pin" && isNumber(all[i+1:]) {
			return true
		}
	}
	return false
}

// isNumber reports whether the words after "pin" fit a personal identification number. In other
// names "pin" is a verb.
func isNumber(after []string) bool {
	return len(after) == 0 || slices.Contains([]string{"code", "number", "value", "entry", "confirmation", "confirm", "again", "new", "old", "hash", "block"}, after[0])
}

// IsCountName reports whether a number with the name counts tokens, such as "max_tokens", and is
// no secret. A preceding word that marks a secret excludes it, as in "otp_tokens".
func IsCountName(name string) bool {
	split := partsOf(name)
	last := len(split) - 1
	return last >= 0 && split[last] == "tokens" && !IsSecretName(strings.Join(split[:last], " "))
}

// IsCountValue reports whether the value of a property with the name is a count and no secret: a
// number or a boolean, or a numeric string if the name has a further word, such as "max".
func IsCountValue(name string, value any) bool {
	if !IsCountName(name) {
		return false
	}
	switch v := value.(type) {
	case bool, int, int64, float64, json.Number:
		return true
	case string:
		_, err := strconv.ParseInt(v, 10, 32)
		return err == nil && len(partsOf(name)) > 1
	}
	return false
}

// partsOf splits "userOTP_code" into "user", "otp" and "code".
func partsOf(name string) []string {
	var b strings.Builder
	previous := ' '
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsLower(previous) && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
		previous = r
	}
	return strings.Fields(b.String())
}
