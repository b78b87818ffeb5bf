package lexicon

import (
	"slices"
	"strings"
)

// HasSecretPart reports whether a name contains a part that marks a secret in any context. The name has only
// letters and digits, in lower case.
func HasSecretPart(name string) bool {
	return slices.ContainsFunc([]string{
		"passw", "wachtwoord", "lösenord", "hasło", "verificationcode", "webhookurl", "connstring", "passphrase", "passcode", "passkey", "secret", "token", "apikey", "accesskey", "privatekey", "privkey", "signingkey", "encryptionkey", "sshkey", "sessionkey",
		"authorization", "credential", "cookie", "connectionstring", "sessionid", "cvv", "bearer", "mnemonic", "seedphrase", "seedwords", "recoverycode", "recoverykey", "recoveryphrase", "recoverywords", "backupcode",
		"creditcard", "cardnumber", "socialsecurity", "kennwort", "motdepasse", "contraseña", "contrasena", "senha", "пароль", "密码", "密碼", "口令", "パスワード", "暗証", "비밀번호",
	}, func(part string) bool { return strings.Contains(name, part) })
}

// IsSecretWord reports whether a whole word of a name, in lower case, marks a secret.
func IsSecretWord(word string) bool {
	return list("|pwd|pw|creds|jwt|iban|cvc|csc|ssn|psk|puk|2fa|mfa|totp|hotp|wif|xprv|dsn|pat|").has(word)
}
