package sanitize

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// secretParts are in names of secrets, whatever stands around them: letters and digits
// alone, in lower case.
func secretParts() []string {
	return []string{
		"passw", "passphrase", "passcode", "passkey", "secret", "token", "apikey", "accesskey", "privatekey", "privkey", "signingkey", "encryptionkey", "sshkey", "sessionkey",
		"authorization", "credential", "cookie", "cvv", "bearer", "mnemonic", "seedphrase", "seedwords", "recoverycode", "recoverykey", "recoveryphrase", "recoverywords", "backupcode",
		"creditcard", "cardnumber", "socialsecurity", "kennwort", "motdepasse", "contraseña", "contrasena", "senha", "пароль", "密码", "密碼", "口令", "パスワード", "暗証", "비밀번호",
	}
}

// secretWords are words of names of secrets: as parts of others they mean nothing.
func secretWords() []string {
	return []string{"pwd", "jwt", "iban", "cvc", "csc", "ssn", "psk", "puk", "2fa", "mfa", "totp", "hotp", "wif", "xprv"}
}

// IsSecretName reports whether a property called so is likely to hold a secret:
// a password, a token, an API key, a cookie, a PIN and the like. It hears words, so that
// "footprint" is not an "otp", "passengers" are no "pass" and "shipping" is no "pin", but
// errs on the side of secrecy ("max_tokens" is one, unless it is a number; see
// [IsCountName]).
func IsSecretName(name string) bool {
	letters := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name))
	for _, part := range secretParts() {
		if strings.Contains(letters, part) {
			return true
		}
	}
	all := partsOf(name)
	for i, word := range all {
		if slices.Contains(secretWords(), word) {
			return true
		}
		word = strings.TrimRight(word, "0123456789")
		if slices.Contains(secretWords(), word) || strings.HasSuffix(word, "pass") || strings.HasPrefix(word, "otp") || strings.HasSuffix(word, "otp") {
			return true
		}
		if word == "pin" && isNumber(all[i+1:]) {
			return true
		}
	}
	return false
}

// isNumber reports whether the words after "pin" leave it the number that people keep to
// themselves: to pin something is another thing.
func isNumber(after []string) bool {
	return len(after) == 0 || slices.Contains([]string{"code", "number", "value", "entry", "confirmation", "confirm", "again", "new", "old", "hash", "block"}, after[0])
}

// IsCountName reports whether a number called so counts tokens, such as "max_tokens",
// and is no secret. A word before that makes it one, as in "otp_tokens".
func IsCountName(name string) bool {
	split := partsOf(name)
	last := len(split) - 1
	return last >= 0 && split[last] == "tokens" && !IsSecretName(strings.Join(split[:last], " "))
}

// IsCountValue reports whether the value of a property called so is a count and no secret: a
// number or a truth, or a number in writing where the name says of what it is a maximum,
// a budget or the like.
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
